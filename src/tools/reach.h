/* The policy's second look at hosts: rules against the address that a call is
 * really about to reach. A copy of what it needs, so that it outlives the run.
 *
 * An address that is not of the public internet is reached only where a rule
 * spells it: host(127.0.0.1), host(10.1.*), or host(localhost) for a loopback
 * one that was asked for by that name. A rule for another name, or for all, does
 * not say that its name may lead inside.
 */
#pragma once

#include "policy/policy.h"

struct reach {
  struct str tool;
  struct policy_rule *rules; /* about hosts, for this tool */
  size_t count;
};

/* The arena must outlive it. Errors: REIN_MEMORY. */
enum rein_code reach_make(struct reach *reach, struct arena *arena, const struct policy *policy,
                          const struct rein_tool *row, struct err *err) REIN_CHECKED;

enum reach_says {
  REACH_YES,
  REACH_FORBIDDEN, /* a rule denies the address, or asks about it and it was not asked about */
  REACH_INSIDE,    /* not public, and no rule spells it */
};
/* `asked` is the URL's host, `real` the address, the rest what kind it
 * is of. NULL reach: no rules. */
enum reach_says reach_judge(const struct reach *reach, const struct url_host *asked,
                            const struct url_host *real, bool public, bool loopback);
/* What a rule must spell to let the address through. */
struct str reach_lift(const struct url_host *asked, struct str real, bool loopback);
/* Whether a rule that does not deny spells this host. */
bool reach_spells(const struct reach *reach, const struct url_host *host);
