/* The tools as the provider is told of them: in its dialect, strict where that is
 * asked for and can be, fixed for the run. One that cannot be sent ends the run
 * before its first request, or is left out where that is asked for; one that the
 * provider refuses all the same is sent once more in a plainer form.
 */
#include "core/state.h"

#include "schema/derive.h"
#include "schema/schema.h"

#define TOOLS_JSON_MAX (16u << 20) /* far above any provider's request limit */
#define WHY_MAX 4096
#define PLAINEST DIALECT_LLAMA_CPP /* says the least that every provider takes */

static enum rein_code no_memory(struct err *err) {
  return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
}

static enum rein_code find_dialect(struct agent *a, const struct dialect **dialect,
                                   struct err *err) {
  const struct agent_config *c = &a->config;
  const char *own = c->wire->dialect ? c->wire->dialect(a->talk.quirks, c->strict) : "openai";
  struct str name = c->dialect.n ? c->dialect : str_of(own);
  *dialect = dialect_by_name(name);
  return *dialect ? REIN_OK : ERR(err, REIN_INPUT, T_CORE_BAD_DIALECT, name);
}

/* Why a tool is not sent, once in words: they stand in the journal too. */
static enum rein_code leave_out(struct agent *a, struct tool *t, const struct finding *f,
                                struct err *err) {
  struct buf why;
  buf_init(&why, WHY_MAX);
  TEXT_PUT(&why, a->config.lang, f->why, f->values[0], f->values[1]);
  bool kept = arena_str(&a->fixed, buf_str(&why), &t->left_out);
  kept = kept && why.fail != REIN_MEMORY;
  buf_release(&why);
  return kept ? REIN_OK : no_memory(err);
}

static const struct finding *refusal_of(const struct findings *found, size_t tool) {
  const struct finding *f = found->first;
  while (f && (f->tool != tool || f->effect != EFFECT_REFUSED))
    f = f->next;
  return f;
}

/* Tools that may go, as the derivation wants them; places[i] is where they stand. */
static size_t gather(struct agent *a, struct tool_schema *all, size_t *places) {
  size_t n = 0;
  for (size_t i = 0; i < a->tool_count; i++) {
    const struct tool *t = &a->tools[i];
    if (!t->offered || t->left_out.n) continue;
    places[n] = i;
    all[n++] = (struct tool_schema){t->name, t->schema, t->schema_doc};
  }
  return n;
}

static bool keep_finding(struct agent *a, const struct finding *from, size_t tool) {
  struct finding f = *from;
  f.tool = tool;
  return arena_str(&a->fixed, from->pointer, &f.pointer) &&
         arena_str(&a->fixed, from->keyword, &f.keyword) &&
         arena_str(&a->fixed, from->values[0], &f.values[0]) &&
         arena_str(&a->fixed, from->values[1], &f.values[1]) &&
         finding_add(&a->fixed, &a->findings, &f);
}

static enum rein_code keep_sent(struct agent *a, struct tool *t, const struct tool_sent *sent,
                                const struct finding *refusal, struct err *err) {
  t->strict = sent->strict;
  t->sent = t->schema;
  if (!str_eq(sent->schema, t->schema) && !arena_str(&a->fixed, sent->schema, &t->sent))
    return no_memory(err);
  return sent->refused ? leave_out(a, t, refusal, err) : REIN_OK;
}

/* What was derived, and of each finding what it says: the rest was on the way there. */
static enum rein_code take_sent(struct agent *a, const struct tool_sent *sent, size_t n,
                                const size_t *places, const struct findings *found,
                                struct err *err) {
  enum rein_code code = REIN_OK;
  for (size_t i = 0; i < n && code == REIN_OK; i++)
    code = keep_sent(a, &a->tools[places[i]], &sent[i], refusal_of(found, i), err);
  const struct finding *f = found->first;
  for (; f && code == REIN_OK; f = f->next)
    if (!keep_finding(a, f, places[f->tool])) code = no_memory(err);
  return code;
}

static enum rein_code derive_in(struct agent *a, struct arena *scratch, struct err *err) {
  size_t most = a->tool_count + 1;
  struct derive_spec spec = {.model_lang = a->config.model_lang, .strict_asked = a->config.strict};
  struct tool_schema *all = arena_array(scratch, struct tool_schema, most);
  struct tool_sent *sent = arena_array(scratch, struct tool_sent, most);
  size_t *places = arena_array(scratch, size_t, most);
  struct findings found = {0};
  if (!all || !sent || !places) return no_memory(err);
  enum rein_code code = find_dialect(a, &spec.dialect, err);
  if (code) return code;
  spec.tools = all;
  spec.count = gather(a, all, places);
  if (derive_tools(scratch, &spec, sent, &found)) return no_memory(err);
  return take_sent(a, sent, spec.count, places, &found, err);
}

static enum rein_code derive_all(struct agent *a, struct err *err) {
  struct arena scratch;
  arena_init(&scratch, a->fixed.max);
  enum rein_code code = derive_in(a, &scratch, err);
  arena_release(&scratch);
  return code;
}

/* What a journal says was sent: another version may derive otherwise. */
static void take_forms(struct agent *a) {
  for (size_t i = 0; i < a->tool_count; i++) {
    const struct tool_form *form = &a->config.forms[i];
    a->tools[i].sent = form->schema.n ? form->schema : a->tools[i].schema;
    a->tools[i].strict = form->strict;
    a->tools[i].left_out = form->left_out;
  }
}

static enum rein_code keep_forms(struct agent *a, struct err *err) {
  struct tool_form *forms = arena_array(&a->fixed, struct tool_form, a->tool_count + 1);
  if (!forms) return no_memory(err);
  for (size_t i = 0; i < a->tool_count; i++) {
    const struct tool *t = &a->tools[i];
    bool same = str_eq(t->sent, t->schema);
    forms[i] = (struct tool_form){same ? STR_NONE : t->sent, t->strict, t->left_out};
  }
  a->config.forms = forms;
  return REIN_OK;
}

static enum rein_code put_list(struct agent *a, struct err *err) {
  struct tool *sent = arena_array(&a->fixed, struct tool, a->tool_count + 1);
  if (!sent) return no_memory(err);
  size_t n = 0;
  for (size_t i = 0; i < a->tool_count; i++)
    if (tool_is_sent(&a->tools[i])) sent[n++] = a->tools[i];
  buf_release(&a->tools_json);
  buf_init(&a->tools_json, TOOLS_JSON_MAX);
  if (n) a->config.wire->put_tools(&a->tools_json, sent, n);
  a->fixed_tokens = tokens_of(a->talk.tokenizer, a->config.system) +
                    tokens_of(a->talk.tokenizer, buf_str(&a->tools_json));
  return a->tools_json.fail ? no_memory(err) : REIN_OK;
}

/* A strict tool was sent closed: members that it does not name are refused here too,
 * whether or not the provider holds what it was asked to. */
static enum rein_code hold_members(struct agent *a, struct tool *t, struct err *err) {
  struct buf text;
  struct str kept;
  struct json *doc;
  schema_free(t->members);
  t->members = NULL;
  if (!t->strict) return REIN_OK;
  enum rein_code code = json_parse(&a->fixed, t->sent, JSON_STRICT, &doc, err);
  if (code) return code;
  buf_init(&text, TOOLS_JSON_MAX);
  derive_members(&text, doc);
  bool fine = !text.fail && arena_str(&a->fixed, buf_str(&text), &kept);
  buf_release(&text);
  if (!fine) return no_memory(err);
  const struct schema_options options = {.lang = a->config.model_lang};
  code = json_parse(&a->fixed, kept, JSON_STRICT, &doc, err);
  return code ? code : schema_new(doc, &options, &t->members, err);
}

enum rein_code offer_tools(struct agent *a, struct err *err) {
  enum rein_code code = REIN_OK;
  if (a->config.forms)
    take_forms(a);
  else
    code = derive_all(a, err);
  for (size_t i = 0; i < a->tool_count && code == REIN_OK; i++) {
    struct tool *t = &a->tools[i];
    if (tool_is_sent(t)) code = hold_members(a, t, err);
    if (!t->left_out.n || !t->offered) continue;
    if (!a->config.skip_bad_tools && !a->bad_tool) a->bad_tool = t;
  }
  if (code == REIN_OK) code = keep_forms(a, err);
  return code ? code : put_list(a, err);
}

enum rein_code offer_renew(struct agent *a, struct err *err) {
  for (size_t i = 0; i < a->tool_count; i++) {
    struct tool *t = &a->tools[i];
    if (t->checker) t->left_out = STR_NONE; /* its schema can be used: that provider's matter */
    t->sent = STR_NONE;
    t->strict = t->loosened = false;
  }
  a->config.forms = NULL;
  a->findings = (struct findings){0};
  a->bad_tool = NULL;
  return offer_tools(a, err);
}

/* ---- refused all the same ------------------------------------------------- */

/* The digits behind `before`, if they stand there. */
static bool number_after(struct str text, const char *before, size_t *n) {
  struct str mark = str_of(before);
  size_t at = str_find(text, mark) + mark.n, digits = 0;
  int64_t value;
  while (at + digits < text.n && text.p[at + digits] >= '0' && text.p[at + digits] <= '9')
    digits++;
  if (at >= text.n || !str_to_num(str_part(text, at, digits), &value)) return false;
  *n = (size_t)value;
  return true;
}

/* Where the name stands in quotes; words.n: nowhere. */
static size_t find_quoted(struct str words, struct str name) {
  for (size_t at = 0; at < words.n;) {
    size_t found = at + str_find(str_part(words, at, words.n), name), end = found + name.n;
    if (end >= words.n || name.n == 0) break;
    bool quoted = found > 0 && words.p[found - 1] == words.p[end];
    if (quoted && strchr("'\"`", words.p[end])) return found;
    at = found + 1;
  }
  return words.n;
}

/* The tool that a refusal blames: by its place ("tools.25.custom", "tools[2].parameters",
 * "tools[0].function_declarations[2]") or by its name in quotes ("function 'NAME'"), the
 * first where several are: what follows are members. NULL: it names none. */
static struct tool *blamed(struct agent *a, struct str words) {
  size_t place = SIZE_MAX, n = 0, first = words.n;
  bool by_place = number_after(words, "function_declarations[", &place) ||
                  number_after(words, "tools.", &place) || number_after(words, "tools[", &place);
  struct tool *named = NULL;
  for (size_t i = 0; i < a->tool_count; i++) {
    struct tool *t = &a->tools[i];
    if (!tool_is_sent(t)) continue;
    if (by_place && n == place) return t;
    n++;
    size_t at = by_place ? words.n : find_quoted(words, t->name);
    if (at < first) named = t;
    if (at < first) first = at;
  }
  return named;
}

bool offer_can_loosen(struct agent *a, const struct fault *f) {
  struct tool *t = f->kind == FAULT_SCHEMA && f->status == 400 ? blamed(a, f->message) : NULL;
  if (!t || t->loosened) return false;
  a->sending.loose = (size_t)(t - a->tools);
  return true;
}

/* Strict: without strict. Else, or where that is the same: in the plainest form. */
enum rein_code offer_loosen(struct agent *a, struct err *err) {
  struct tool *t = &a->tools[a->sending.loose];
  const struct dialect *dialect;
  struct tool_schema in = {t->name, t->schema, t->schema_doc};
  struct tool_sent sent;
  struct findings found = {0};
  enum rein_code code = find_dialect(a, &dialect, err);
  if (code) return code;
  dialect = &dialects[t->strict ? dialect->loose : PLAINEST];
  struct derive_spec spec = {dialect, a->config.model_lang, &in, 1, false};
  if (derive_tools(&a->fixed, &spec, &sent, &found)) return no_memory(err);
  if (!sent.refused) t->sent = sent.schema;
  t->strict = false;
  t->loosened = true;
  code = hold_members(a, t, err);
  return code ? code : put_list(a, err);
}
