/* What makes models go wrong, though every provider takes it: names and words, not
 * schemas. Each is a warning, never an error. */
#include "cli/lint.h"

#define DESCRIPTION_BYTES 1024 /* the old cap of OpenAI (fact sheet "strict-schema" §6) */

struct smell {
  const struct lint_set *set;
  lint_warn warn;
  void *ctx;
};

static bool among(const char *const *words, struct str s) {
  for (; *words; words++)
    if (str_eq_nocase(s, str_of(*words))) return true;
  return false;
}

static bool any_in(const char *const *words, struct str s) {
  for (; *words; words++)
    if (str_has(s, str_of(*words))) return true;
  return false;
}

static void name_and_words(const struct smell *s, size_t i) {
  static const char *const vague[] = {"run",  "do",   "execute", "process", "handle", "call",
                                      "get",  "set",  "data",    "helper",  "test",   "tool",
                                      "main", "func", "action",  "query",   "util",   NULL};
  struct str name = s->set->tools[i].name, words = s->set->descriptions[i];
  struct num_text have, most;
  if (str_blank(words)) s->warn(s->ctx, i, STR_NONE, T_CLI_LINT_NO_WORDS, name, STR_NONE);
  if (name.n && (name.n < 3 || among(vague, name)))
    s->warn(s->ctx, i, STR_NONE, T_CLI_LINT_VAGUE, name, STR_NONE);
  if (words.n > DESCRIPTION_BYTES)
    s->warn(s->ctx, i, STR_NONE, T_CLI_LINT_LONG_WORDS, str_num(&have, (int64_t)words.n),
            str_num(&most, DESCRIPTION_BYTES));
}

/* A search that finds nothing: the model should know what that looks like. */
static void empty_results(const struct smell *s, size_t i) {
  static const char *const heads[] = {"list", "search", "find", "query", "lookup", NULL};
  static const char *const said[] = {"empty", "no ",  "none", "nothing", "not found",
                                     "없",    "null", "[]",   NULL};
  struct str name = s->set->tools[i].name, words = s->set->descriptions[i];
  for (const char *const *h = heads; *h; h++)
    if (str_starts(name, str_of(*h)) && words.n && !any_in(said, words)) {
      s->warn(s->ctx, i, STR_NONE, T_CLI_LINT_EMPTY, name, STR_NONE);
      return;
    }
}

static bool is_handle(struct str key) {
  static const char *const ends[] = {"_id", "Id", "ID", "_ids", "_token", "_key", "_ref", NULL};
  for (const char *const *e = ends; *e; e++)
    if (str_ends(key, str_of(*e))) return true;
  return str_is(key, "id") || str_is(key, "uuid") || str_is(key, "token");
}

static void parameters(const struct smell *s, size_t i) {
  const struct json *all = json_get(s->set->tools[i].doc, "properties");
  for (const struct json *p = json_is(all, JSON_OBJECT) ? all->first : NULL; p; p = p->next) {
    struct str words = json_text(json_get(p, "description"));
    struct buf pointer;
    buf_init(&pointer, 4096);
    buf_lit(&pointer, "/properties");
    json_step_put(&pointer, p->key);
    bool bare = str_blank(words) && !json_get(p, "enum") && !json_get(p, "$ref");
    if (bare && is_handle(p->key))
      s->warn(s->ctx, i, buf_str(&pointer), T_CLI_LINT_SOURCE, p->key, STR_NONE);
    else if (bare)
      s->warn(s->ctx, i, buf_str(&pointer), T_CLI_LINT_NO_PARAMETER_WORDS, p->key, STR_NONE);
    buf_release(&pointer);
  }
}

static size_t next_letter(struct str s, size_t i) {
  while (i < s.n && (s.p[i] == '_' || s.p[i] == '-' || s.p[i] == '.'))
    i++;
  return i;
}

/* read_file, readFile and read-file are one name to a model. */
static bool names_alike(struct str a, struct str b) {
  size_t i = next_letter(a, 0), k = next_letter(b, 0);
  while (i < a.n && k < b.n && str_eq_nocase(str_part(a, i, 1), str_part(b, k, 1))) {
    i = next_letter(a, i + 1);
    k = next_letter(b, k + 1);
  }
  return i == a.n && k == b.n;
}

static void twins(const struct smell *s, size_t i) {
  const struct lint_set *set = s->set;
  for (size_t k = 0; k < i; k++) {
    struct str a = set->tools[i].name, b = set->tools[k].name;
    bool words = set->descriptions[i].n && str_eq(set->descriptions[i], set->descriptions[k]);
    if (!a.n || !b.n) continue; /* that is told of by itself */
    if (!str_eq(a, b) && !names_alike(a, b) && !words) continue;
    s->warn(s->ctx, i, STR_NONE, T_CLI_LINT_ALIKE, a, b);
    return;
  }
}

void lint_smell(const struct lint_set *set, lint_warn warn, void *ctx) {
  struct smell s = {set, warn, ctx};
  struct num_text room;
  for (size_t i = 0; i < set->count; i++) {
    name_and_words(&s, i);
    parameters(&s, i);
    empty_results(&s, i);
    twins(&s, i);
  }
  if (set->count > LINT_MANY)
    warn(ctx, 0, STR_NONE, T_CLI_LINT_MANY, str_num(&room, (int64_t)set->count), STR_NONE);
}
