/* Asked for every file that a call opens or meets on a walk, on any thread. What
 * a rule denies is not opened; what a rule asks about is, where the call was
 * asked about by that path, or by a folder that it lies in. */
#include "tools/guard.h"

#include "policy/glob.h"
#include "text/text.h"

#define LOOK_BYTES_MAX (1u << 20) /* of one path judged */

static enum rein_verdict judge(const struct guard *g, struct str path) {
  struct arena arena;
  struct decision d;
  arena_init(&arena, LOOK_BYTES_MAX);
  enum rein_code code = policy_decide_path(&arena, &g->policy, &g->subject, path, &d);
  arena_release(&arena);
  return code ? REIN_DENY : d.verdict;
}

static bool lies_in(struct str path, struct str folder) {
  if (str_is(folder, ".") || str_eq(path, folder)) return true;
  return path.n > folder.n && path.p[folder.n] == '/' && str_starts(path, folder);
}

static bool may(void *ctx, struct str path) {
  const struct guard *g = ctx;
  enum rein_verdict verdict = judge(g, path);
  if (verdict != REIN_ASK) return verdict == REIN_ALLOW;
  for (size_t i = 0; i < g->subject.path_count; i++) {
    struct str asked = g->subject.paths[i];
    if (lies_in(path, asked) && judge(g, asked) == REIN_ASK) return true;
  }
  return false;
}

/* ---- copies ------------------------------------------------------------------- */

static bool is_about_paths(const struct policy_rule *rule, struct str tool) {
  bool paths = rule->kind == RULE_PATH || rule->kind == RULE_PATTERN;
  return paths && (str_is(rule->tool, "*") || str_eq(rule->tool, tool));
}

static bool copy_rule(struct arena *arena, const struct policy_rule *from, struct policy_rule *to) {
  *to = (struct policy_rule){.verdict = from->verdict, .flag = from->flag, .kind = from->kind};
  return arena_str(arena, from->tool, &to->tool) && arena_str(arena, from->path, &to->path) &&
         arena_str(arena, from->name, &to->name) && arena_str(arena, from->source, &to->source);
}

static bool copy_rules(struct guard *g, struct arena *arena, const struct policy *policy,
                       struct str tool) {
  struct policy_rule *rules = arena_array(arena, struct policy_rule, policy->count + 1);
  const char **denied = arena_array(arena, const char *, policy->count + 1);
  size_t n = 0;
  if (!rules || !denied) return false;
  g->policy = (struct policy){.fallback = REIN_ALLOW, .rules = rules};
  for (size_t i = 0; i < policy->count; i++) {
    struct policy_rule *to = &rules[g->policy.count];
    if (!is_about_paths(&policy->rules[i], tool)) continue;
    if (!copy_rule(arena, &policy->rules[i], to)) return false;
    g->policy.count++;
    if (to->verdict == REIN_DENY && glob_is_plain(to->path)) denied[n++] = to->path.p;
  }
  g->face.denied = denied;
  return true;
}

enum rein_code guard_make(struct guard *guard, struct arena *arena, const struct policy *policy,
                          const struct rein_tool *row, struct str args, struct str root,
                          struct err *err) {
  struct json *doc = NULL;
  struct str tool = str_of(row->name), kept, kept_root;
  *guard = (struct guard){0};
  if (!policy_has_path_rules(policy, tool)) return REIN_OK;
  if (!arena_str(arena, str_blank(args) ? STR("{}") : args, &kept) ||
      !arena_str(arena, root, &kept_root) || !copy_rules(guard, arena, policy, tool))
    return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  enum rein_code code = json_parse(arena, kept, JSON_UNIQUE, &doc, NULL);
  guard->row = *row;
  guard->row.verdict = REIN_ALLOW; /* what no rule is about was judged already */
  guard->row.commands = NULL;
  if (code != REIN_MEMORY) code = subject_read(arena, &guard->row, doc, kept_root, &guard->subject);
  if (code == REIN_MEMORY) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  guard->subject.writes = false; /* what becomes code was judged on the text, and by the host */
  guard->face.may = may;
  guard->face.ctx = guard;
  return REIN_OK;
}
