/* The one way in which rein starts git: in the sandbox, without a network, with a root
 * that cannot be written unless the order writes, and nothing that a repository's own
 * config names is run: no hooks, fsmonitor, filters, text conversions, external diffs,
 * pagers, signing programs, helpers for credentials, transports. Config of system and
 * user is not read.
 *
 *   const char *const args[] = {"diff", "--no-ext-diff", NULL};
 *   git_run(&(struct git_spec){.sandbox = s, .root = root, .args = args, .out = &out,
 *                              .errors = &errors, .limit_ms = 30000}, &end, &err);
 */
#pragma once

#include "host/child.h"

struct git_spec {
  struct sandbox *sandbox;
  const char *root;        /* absolute; the repository's folder: .git is looked for here alone */
  const char *const *args; /* behind "git", NULL at the end */
  const char *const *env;  /* who commits: GIT_AUTHOR_NAME=…; NULL none */
  bool writes;             /* the repository may be changed; its hooks still do not run */
  struct child_out *out, *errors;
  int64_t limit_ms;
  bool (*cancelled)(void *ctx);
  void *ctx;
};

/* As child_run. REIN_INPUT also where the repository's config names more filters than
 * can be switched off. */
enum rein_code git_run(const struct git_spec *spec, struct child_end *end, struct err *err)
    REIN_CHECKED;
