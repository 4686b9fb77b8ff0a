/* A call against the rules, part by part; the strictest verdict holds. A rule
 * that allows must fit exactly; one that asks or denies reads as widely as the
 * part may be meant. */
#include "policy/command.h"
#include "policy/path.h"
#include "policy/policy.h"
#include "policy/rank.h"
#include "text/text.h"

#define PART_SHOWN_MAX 400 /* bytes of a command in an explanation */

enum part_kind { PART_PATH, PART_HOST, PART_COMMAND, PART_REDIRECT, PART_OPERAND, PART_ADDRESS };

struct part {
  enum part_kind kind;
  struct str path;
  const struct url_host *host;
  const struct shell_command *command;
  bool unclear; /* of a command: the text around it */
  bool moved;
  bool writes;
};

struct judging {
  struct arena *arena;
  const struct policy *policy;
  const struct subject *subject;
  struct decision *worst;
  bool any; /* a part that needs a verdict was judged */
};

/* ---- does a rule match? ---------------------------------------------------------- */

static bool path_matches(const struct judging *j, const struct policy_rule *rule,
                         const struct part *part) {
  bool wide = rule->verdict != REIN_ALLOW;
  if (rule->kind == RULE_HOST) return false;
  if (part->moved && !wide) return false; /* relative to a folder that is not known */
  return path_fits(rule->path, j->subject->root, part->path, wide);
}

static enum rein_code command_matches(const struct judging *j, const struct policy_rule *rule,
                                      const struct part *part, bool *matches) {
  *matches = false;
  if (rule->kind != RULE_PATTERN || rule->no_command) return REIN_OK;
  if (rule->verdict == REIN_ALLOW) {
    if (part->unclear) return REIN_OK;
    return command_allowed(j->arena, rule->words, rule->word_count, part->command, matches);
  }
  *matches = command_caught(rule->words, rule->word_count, part->command);
  return REIN_OK;
}

static bool restricts_only(const struct part *part) {
  if (part->kind == PART_OPERAND || part->kind == PART_ADDRESS) return true;
  return part->kind == PART_COMMAND && (part->command->guess || part->command->neutral);
}

static enum rein_code matches(const struct judging *j, const struct policy_rule *rule,
                              const struct part *part, bool *yes) {
  bool wide = rule->verdict != REIN_ALLOW;
  *yes = false;
  if (rule->kind == RULE_TAINT || !rule_names(rule, j->subject->tool)) return REIN_OK;
  if (restricts_only(part) && (!wide || rule->kind == RULE_BARE)) return REIN_OK;
  if (rule->kind == RULE_BARE) {
    *yes = true;
    return REIN_OK;
  }
  switch (part->kind) {
  case PART_COMMAND: return command_matches(j, rule, part, yes);
  case PART_HOST:
    *yes = rule->kind != RULE_PATH && host_fits(rule->pattern, part->host, wide);
    break;
  case PART_ADDRESS:
    *yes = rule->kind == RULE_HOST && host_fits(rule->pattern, part->host, wide);
    break;
  case PART_PATH: *yes = path_matches(j, rule, part); break;
  case PART_REDIRECT:
  case PART_OPERAND: *yes = rule->kind == RULE_PATH && path_matches(j, rule, part); break;
  }
  return REIN_OK;
}

/* ---- a part ------------------------------------------------------------------------ */

static bool show_word(struct buf *out, const struct shell_word *word) {
  if (out->n) buf_c(out, ' ');
  for (size_t i = 0; i < word->text.n && out->n < PART_SHOWN_MAX; i++) {
    if (word->text.p[i] == ANY_TEXT)
      buf_lit(out, "…");
    else
      buf_c(out, word->text.p[i]);
  }
  return out->n < PART_SHOWN_MAX;
}

static bool show_command(struct arena *arena, const struct shell_command *c, struct str *shown) {
  struct buf b;
  bool more = true;
  buf_init(&b, 2 * PART_SHOWN_MAX);
  for (size_t i = 0; i < c->assign_count && more; i++)
    more = show_word(&b, &c->assigns[i]);
  for (size_t i = 0; i < c->count && more; i++)
    more = show_word(&b, &c->words[i]);
  if (!more) buf_lit(&b, "…");
  bool ok = !b.fail && arena_str(arena, buf_str(&b), shown);
  buf_release(&b);
  return ok;
}

static bool show_part(struct arena *arena, const struct part *part, struct str *shown) {
  if (part->kind == PART_COMMAND) return show_command(arena, part->command, shown);
  if (part->kind == PART_HOST || part->kind == PART_ADDRESS) {
    *shown = part->host->name.n ? part->host->name : STR("?");
    return true;
  }
  struct shell_word word = {.text = part->path};
  struct buf b;
  buf_init(&b, 2 * PART_SHOWN_MAX);
  if (!show_word(&b, &word)) buf_lit(&b, "…");
  bool ok = !b.fail && arena_str(arena, buf_str(&b), shown);
  buf_release(&b);
  return ok;
}

/* "path(X)": the rule that would name the file. */
static bool lift_path(struct arena *arena, struct str path, struct str *lift) {
  struct buf b;
  buf_init(&b, PATH_TEXT_MAX + 16);
  buf_lit(&b, "path(");
  buf_put(&b, path);
  buf_c(&b, ')');
  bool ok = !b.fail && arena_str(arena, buf_str(&b), lift);
  buf_release(&b);
  return ok;
}

/* Writing what becomes code is never allowed but by a rule that names it. */
static enum rein_code guard(const struct judging *j, const struct part *part,
                            const struct policy_rule *best, struct decision *d) {
  bool path = part->kind == PART_PATH || part->kind == PART_REDIRECT;
  if (!path || !part->writes || d->verdict != REIN_ALLOW) return REIN_OK;
  bool named = best && best->kind != RULE_BARE && path_names_guarded(best->path);
  if (named || !path_guarded(part->path).n) return REIN_OK;
  d->verdict = REIN_ASK;
  d->rule = str_of(text_raw(T_POLICY_GUARDED, REIN_ENGLISH));
  return lift_path(j->arena, part->path, &d->lift) ? REIN_OK : REIN_MEMORY;
}

static bool is_worse(const struct decision *a, const struct decision *b) {
  return b->verdict == REIN_UNDECIDED || a->verdict > b->verdict;
}

static enum rein_code judge(struct judging *j, const struct part *part) {
  const struct policy_rule *best = NULL;
  for (size_t i = 0; j->policy && i < j->policy->count; i++) {
    const struct policy_rule *rule = &j->policy->rules[i];
    bool yes;
    enum rein_code code = matches(j, rule, part, &yes);
    if (code) return code;
    if (yes && rule_beats(rule, best)) best = rule;
  }
  if (!best && restricts_only(part)) return REIN_OK;
  struct decision d = rule_decides(j->policy, best, j->subject->tool, j->subject->row->verdict);
  enum rein_code code = guard(j, part, best, &d);
  if (code) return code;
  j->any = true;
  if (!is_worse(&d, j->worst)) return REIN_OK;
  *j->worst = d;
  return show_part(j->arena, part, &j->worst->part) ? REIN_OK : REIN_MEMORY;
}

/* ---- commands ------------------------------------------------------------------------ */

/* A word as a path, and what stands behind an option's letter or "=". */
static enum rein_code judge_path(struct judging *j, struct str text, const struct part *as) {
  struct part part = *as;
  if (!text.n) return REIN_OK;
  if (!path_clean(j->arena, j->subject->root, text, &part.path)) return REIN_MEMORY;
  enum rein_code code = judge(j, &part);
  if (code || !part.moved || !part.path.n || part.path.p[0] == '/') return code;
  /* After a cd: below some folder. */
  char *made = arena_alloc(j->arena, part.path.n + 2);
  if (!made) return REIN_MEMORY;
  made[0] = ANY_TEXT;
  made[1] = '/';
  memcpy(made + 2, part.path.p, part.path.n);
  part.path = (struct str){made, part.path.n + 2};
  return judge(j, &part);
}

static enum rein_code judge_address(struct judging *j, struct str text) {
  struct url_host host;
  struct part part = {.kind = PART_ADDRESS, .host = &host};
  if (!host_of_url(j->arena, text, &host)) return REIN_MEMORY;
  return judge(j, &part);
}

static enum rein_code judge_word(struct judging *j, struct str text, bool moved) {
  struct part part = {.kind = PART_OPERAND, .moved = moved};
  struct str name, value = STR_NONE;
  enum rein_code code = judge_path(j, text, &part);
  if (!code && text.n > 2 && text.p[0] == '-')
    code = judge_path(j, str_part(text, 2, text.n), &part);
  if (!code && str_split(text, '=', &name, &value)) code = judge_path(j, value, &part);
  if (!code && str_has(text, STR("://"))) code = judge_address(j, text);
  return code;
}

static bool has_rules(const struct judging *j, enum rule_kind kind) {
  for (size_t i = 0; j->policy && i < j->policy->count; i++)
    if (j->policy->rules[i].kind == kind) return true;
  return false;
}

static enum rein_code judge_command(struct judging *j, const struct shell *shell,
                                    const struct shell_command *c, bool words) {
  bool moved = shell->moved || c->moved;
  struct part part = {.kind = PART_COMMAND, .command = c, .unclear = shell->unclear != T_NONE};
  enum rein_code code = REIN_OK;
  if (c->count + c->assign_count) code = judge(j, &part);
  for (size_t i = 0; i < c->count && words && !code; i++)
    code = judge_word(j, c->words[i].text, moved);
  for (size_t i = 0; i < c->redirect_count && !code; i++) {
    struct part file = {.kind = PART_REDIRECT, .moved = moved, .writes = c->redirects[i].writes};
    code = judge_path(j, c->redirects[i].target.text, &file);
  }
  return code;
}

static enum rein_code judge_shell(struct judging *j, const struct shell *shell) {
  bool words = has_rules(j, RULE_PATH) || has_rules(j, RULE_HOST);
  for (const struct shell_command *c = shell->first; c; c = c->next) {
    enum rein_code code = judge_command(j, shell, c, words);
    if (code) return code;
  }
  return REIN_OK;
}

/* ---- the whole call ------------------------------------------------------------------- */

static enum rein_code judge_parts(struct judging *j) {
  const struct subject *s = j->subject;
  enum rein_code code = REIN_OK;
  for (size_t i = 0; i < s->path_count && !code; i++)
    code = judge(j, &(struct part){.kind = PART_PATH, .path = s->paths[i], .writes = s->writes});
  for (size_t i = 0; i < s->host_count && !code; i++)
    code = judge(j, &(struct part){.kind = PART_HOST, .host = &s->hosts[i]});
  for (size_t i = 0; i < s->shell_count && !code; i++)
    code = judge_shell(j, &s->shells[i]);
  return code;
}

enum rein_code policy_decide(struct arena *arena, const struct policy *policy,
                             const struct subject *s, struct decision *decision) {
  struct decision bare = policy_judge(policy, s->tool, s->row->verdict);
  struct judging j = {arena, policy, s, decision, false};
  bool unclear = s->odd, blank = s->shell_count > 0;
  enum text_id why = T_NONE;
  *decision = (struct decision){0};
  enum rein_code code = judge_parts(&j);
  if (code) return code;
  for (size_t i = 0; i < s->shell_count; i++) {
    unclear |= !s->shells[i].plain;
    if (s->shells[i].unclear) why = s->shells[i].unclear;
    blank &= s->shells[i].count == 0;
  }
  /* What has no part that must be covered, or one that cannot be read, is the
   * bare rules' business: a pattern covers parts. */
  bool whole = !j.any || blank || s->odd || why != T_NONE;
  if (whole && is_worse(&bare, decision)) *decision = bare;
  decision->unclear = unclear;
  decision->unclear_why = why;
  return REIN_OK;
}

enum rein_code policy_decide_path(struct arena *arena, const struct policy *policy,
                                  const struct subject *s, struct str path,
                                  struct decision *decision) {
  struct judging j = {arena, policy, s, decision, false};
  struct part part = {.kind = PART_PATH, .writes = s->writes};
  *decision = (struct decision){0};
  if (!path_clean(arena, STR_NONE, path, &part.path)) return REIN_MEMORY;
  return judge(&j, &part);
}
