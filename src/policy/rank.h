/* Who wins among rules that match: shared by policy.c and judge.c. */
#pragma once

#include "policy/policy.h"

/* Deny beats all; a pattern beats a name, and a name "*"; what the command line
 * says beats the config; ask beats allow. */
bool rule_beats(const struct policy_rule *a, const struct policy_rule *b);
bool rule_names(const struct policy_rule *rule, struct str tool);
/* The rule's decision, or without one that of the row, or the default. */
struct decision rule_decides(const struct policy *policy, const struct policy_rule *best,
                             struct str tool, enum rein_verdict row);
