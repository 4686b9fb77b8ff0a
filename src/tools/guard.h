/* The policy's second look: rules for paths against where a path really leads,
 * for one call. A copy of what it needs, so that it outlives the run.
 *
 *   guard_make(&guard, &arena, policy, row, args, root, &err);
 *   files.guard = guard.face.may ? &guard.face : NULL;
 */
#pragma once

#include "host/files.h"
#include "policy/policy.h"

struct guard {
  struct files_guard face; /* `may` NULL: no rule is about paths */
  struct policy policy;    /* its rules for paths alone */
  struct rein_tool row;
  struct subject subject;
};

/* The arena must outlive the guard. Errors: REIN_MEMORY. */
enum rein_code guard_make(struct guard *guard, struct arena *arena, const struct policy *policy,
                          const struct rein_tool *row, struct str args, struct str root,
                          struct err *err) REIN_CHECKED;
