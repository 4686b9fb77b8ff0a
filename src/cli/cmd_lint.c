/* rein lint: what becomes of tools on their way to each provider, before any
 * request; over the built-in ones, or files of plain JSON. */
#include "cli/command.h"
#include "cli/lint.h"
#include "cli/session.h"
#include "schema/schema.h"

#define FILE_BYTES_MAX (64u << 20)
#define OUT_BYTES_MAX (256u << 20)

struct lint {
  struct cli *cli;
  const struct lint_set *set;
  struct buf text;   /* lines */
  struct buf object; /* "findings" and "warnings" as elements */
  struct buf warned;
  struct json_out findings, warnings;
  struct tool_schema *usable; /* of the set; doc NULL: bad[i] says why */
  struct str *bad, *places;   /* places[i]: "[1]", where the tool has no name */
  size_t tools;
  bool json, refused, no_memory;
};

/* ---- what is said ---------------------------------------------------------- */

/* One without a name is called by its place. */
static struct str name_of(const struct lint *l, size_t tool) {
  struct str name = l->set->tools[tool].name;
  return name.n ? name : l->places[tool];
}

static void put_place(struct lint *l, struct json_out *w, size_t tool, struct str pointer) {
  json_key(w, "file");
  if (l->set->file.n)
    json_put_text(w, l->set->file);
  else
    json_put_null(w);
  json_key(w, "tool");
  json_put_text(w, l->set->tools[tool].name);
  json_key(w, "pointer");
  json_put_text(w, pointer);
}

static void put_why(struct lint *l, struct json_out *w, enum text_id id, struct str one,
                    struct str two) {
  struct buf why;
  buf_init(&why, 1u << 20);
  TEXT_PUT(&why, l->cli->lang, id, one, two);
  json_key(w, "why");
  json_put_text(w, buf_str(&why));
  if (why.fail) l->no_memory = true;
  buf_release(&why);
}

static void put_finding(struct lint *l, const struct finding *f) {
  struct json_out *w = &l->findings;
  json_open(w, '{');
  put_place(l, w, f->tool, f->pointer);
  json_key(w, "keyword");
  json_put_text(w, f->keyword);
  json_key(w, "provider");
  json_put_text(w, str_of(f->dialect->name));
  json_key(w, "effect");
  json_put_text(w, str_of(effect_word(f->effect)));
  put_why(l, w, f->why, f->values[0], f->values[1]);
  json_key(w, "source");
  json_put_text(w, str_of(dialect_source(f->dialect, f->keyword)));
  json_close(w, '}');
}

static void put_file(struct lint *l) {
  if (!l->set->file.n) return;
  buf_put(&l->text, l->set->file);
  buf_lit(&l->text, ": ");
}

static void put_line(struct lint *l, const struct finding *f) {
  put_file(l);
  finding_put(&l->text, l->cli->lang, name_of(l, f->tool), f);
  buf_c(&l->text, '\n');
}

static void warn(void *ctx, size_t tool, struct str pointer, enum text_id why, struct str one,
                 struct str two) {
  struct lint *l = ctx;
  json_open(&l->warnings, '{');
  put_place(l, &l->warnings, tool, pointer);
  put_why(l, &l->warnings, why, one, two);
  json_close(&l->warnings, '}');
  put_file(l);
  buf_put(&l->text, name_of(l, tool));
  if (pointer.n) buf_c(&l->text, ' ');
  buf_put(&l->text, pointer);
  buf_lit(&l->text, ": ");
  TEXT_PUT(&l->text, l->cli->lang, why, one, two);
  buf_c(&l->text, '\n');
}

/* ---- one dialect ------------------------------------------------------------- */

/* Why rein cannot hold a schema: then nobody is sent it. False: no memory. */
static bool find_bad(struct lint *l, size_t i) {
  const struct schema_options options = {.hold_formats = true, .lang = l->cli->lang};
  struct schema *schema = NULL;
  struct err why = {0};
  struct buf words;
  enum rein_code code = schema_new(l->set->tools[i].doc, &options, &schema, &why);
  schema_free(schema);
  if (code == REIN_OK) return true;
  buf_init(&words, 1u << 16);
  err_put(&words, l->cli->lang, &why);
  bool kept = arena_str(&l->cli->arena, buf_str(&words), &l->bad[i]);
  buf_release(&words);
  l->usable[i].doc = NULL; /* what becomes of it otherwise is of no interest */
  return kept && code != REIN_MEMORY;
}

static bool find_place(struct lint *l, size_t i) {
  struct buf b;
  if (l->set->tools[i].name.n) return true;
  buf_init(&b, 32);
  buf_fmt(&b, "[%zu]", i);
  bool kept = arena_str(&l->cli->arena, buf_str(&b), &l->places[i]);
  buf_release(&b);
  return kept;
}

static bool find_usable(struct lint *l) {
  size_t n = l->set->count;
  l->usable = arena_array(&l->cli->arena, struct tool_schema, n + 1);
  l->bad = arena_array(&l->cli->arena, struct str, n + 1);
  l->places = arena_array(&l->cli->arena, struct str, n + 1);
  if (!l->usable || !l->bad || !l->places) return false;
  for (size_t i = 0; i < n; i++) {
    l->usable[i] = l->set->tools[i];
    if (!find_bad(l, i) || !find_place(l, i)) return false;
  }
  return true;
}

static bool add_bad(struct lint *l, const struct dialect *d, struct findings *found) {
  for (size_t i = 0; i < l->set->count; i++) {
    const struct finding f = {.tool = i,
                              .keyword = STR("schema"),
                              .dialect = d,
                              .effect = EFFECT_REFUSED,
                              .why = T_CORE_TOOL_BAD_SCHEMA,
                              .values = {l->bad[i]}};
    if (l->bad[i].n && !finding_add(&l->cli->arena, found, &f)) return false;
  }
  return true;
}

/* The same may be found on several ways, through references. */
static bool is_said(const struct finding *first, const struct finding *f) {
  while (first->tool != f->tool)
    first = first->next;
  for (; first != f; first = first->next)
    if (first->tool == f->tool && first->why == f->why && first->effect == f->effect &&
        first->dialect == f->dialect && str_eq(first->pointer, f->pointer) &&
        str_eq(first->keyword, f->keyword))
      return true;
  return false;
}

/* One line a tool that goes out: how, and how much of it was changed. */
static void put_summary(struct lint *l, const struct dialect *d, const struct tool_sent *sent,
                        const struct findings *found) {
  for (size_t i = 0; i < l->set->count; i++) {
    size_t counts[EFFECT_REFUSED + 1] = {0};
    struct num_text rooms[2];
    for (const struct finding *f = found->first; f; f = f->next)
      if (f->tool == i && !is_said(found->first, f)) counts[f->effect]++;
    enum text_id how = sent[i].strict ? T_CLI_LINT_STRICT : T_CLI_LINT_LOOSE;
    if (sent[i].refused) continue; /* its finding says all */
    put_file(l);
    TEXT_PUT(&l->text, l->cli->lang, T_CLI_LINT_SUMMARY, name_of(l, i), str_of(d->name),
             str_of(text_raw(how, l->cli->lang)), str_num(&rooms[0], (int64_t)counts[EFFECT_MOVED]),
             str_num(&rooms[1], (int64_t)counts[EFFECT_REWRITTEN]));
    buf_c(&l->text, '\n');
  }
}

/* True when every tool can go to this provider. */
static bool lint_dialect(struct lint *l, const struct dialect *d, bool whole) {
  struct findings found = {0};
  bool fine = true;
  struct derive_spec spec = {
      .dialect = d, .model_lang = l->cli->lang, .tools = l->usable, .count = l->set->count};
  struct tool_sent *sent = arena_array(&l->cli->arena, struct tool_sent, spec.count + 1);
  if (!sent || !add_bad(l, d, &found) || derive_tools(&l->cli->arena, &spec, sent, &found)) {
    l->no_memory = true;
    return true;
  }
  put_summary(l, d, sent, &found);
  for (const struct finding *f = found.first; f; f = f->next) {
    /* What would become of a tool that is not sent helps nobody. */
    if (sent[f->tool].refused && f->effect != EFFECT_REFUSED) continue;
    if (is_said(found.first, f)) continue;
    put_finding(l, f);
    if (whole || f->effect >= EFFECT_LOOSE) put_line(l, f);
    fine = fine && f->effect != EFFECT_REFUSED;
  }
  return fine;
}

static void lint_set(struct lint *l) {
  struct str name = cli_value(l->cli, OPTION_ID_WIRE)->text;
  const struct dialect *only = name.n ? dialect_by_name(name) : NULL;
  bool anywhere = false;
  if (!find_usable(l)) {
    l->no_memory = true;
    return;
  }
  if (only) anywhere = lint_dialect(l, only, true);
  for (size_t i = 0; i < DIALECT_COUNT && !only; i++)
    anywhere = lint_dialect(l, &dialects[i], false) || anywhere;
  lint_smell(l->set, warn, l);
  l->tools += l->set->count;
  l->refused = l->refused || !anywhere;
}

/* ---- what is looked at -------------------------------------------------------- */

static int lint_builtin(struct lint *l) {
  struct setup setup = {0};
  struct lint_set set = {0};
  struct err err = {0};
  int exit = setup_rows(l->cli, &setup);
  if (exit) return exit;
  size_t n = setup.agent.row_count;
  set.tools = arena_array(&l->cli->arena, struct tool_schema, n + 1);
  set.descriptions = arena_array(&l->cli->arena, struct str, n + 1);
  if (!set.tools || !set.descriptions) return cli_no_memory(l->cli);
  for (; set.count < n; set.count++) {
    struct json *doc;
    struct str schema = str_of(setup.rows[set.count].schema);
    if (json_parse(&l->cli->arena, schema, JSON_UNIQUE, &doc, &err)) return cli_fail(l->cli, &err);
    set.tools[set.count] = (struct tool_schema){str_of(setup.rows[set.count].name), schema, doc};
    set.descriptions[set.count] = str_of(setup.rows[set.count].description);
  }
  l->set = &set;
  lint_set(l);
  return 0;
}

static int lint_file(struct lint *l, struct str path) {
  struct lint_set set = {.file = path};
  struct str text;
  struct json *doc;
  struct err err = {0};
  if (cli_read_file(l->cli, path, FILE_BYTES_MAX, &text, &err)) return cli_fail(l->cli, &err);
  enum rein_code code = json_parse(&l->cli->arena, text, JSON_COMMENTS | JSON_UNIQUE, &doc, &err);
  if (code == REIN_OK) code = lint_read(&l->cli->arena, doc, &set, &err);
  if (code != REIN_OK) {
    cli_say_at(l->cli, path, &err);
    return code == REIN_MEMORY ? 1 : 2;
  }
  l->set = &set;
  lint_set(l);
  return 0;
}

static int finish(struct lint *l) {
  struct buf out;
  buf_init(&out, OUT_BYTES_MAX);
  if (l->json) {
    struct json_out w = json_out(&out);
    json_open(&w, '{');
    json_key(&w, "tools");
    json_put_num(&w, (int64_t)l->tools);
    json_key(&w, "refused");
    json_put_bool(&w, l->refused);
    json_key(&w, "findings");
    json_put_raw(&w, buf_str(&l->object));
    json_key(&w, "warnings");
    json_put_raw(&w, buf_str(&l->warned));
    json_close(&w, '}');
    buf_c(&out, '\n');
  } else {
    buf_put(&out, buf_str(&l->text));
  }
  bool failed = l->no_memory || l->text.fail || l->object.fail || l->warned.fail;
  int exit = failed ? cli_no_memory(l->cli) : cli_print(l->cli, &out);
  buf_release(&out);
  return !exit && l->refused ? rein_outcome_exit(REIN_OUTCOME_BAD_TOOL) : exit;
}

static int run(struct cli *cli) {
  struct lint l = {.cli = cli, .json = session_output(cli) != OUTPUT_TEXT};
  int exit = 0;
  buf_init(&l.text, OUT_BYTES_MAX);
  buf_init(&l.object, OUT_BYTES_MAX);
  buf_init(&l.warned, OUT_BYTES_MAX);
  l.findings = json_out(&l.object);
  l.warnings = json_out(&l.warned);
  json_open(&l.findings, '[');
  json_open(&l.warnings, '[');
  if (cli->word_count == 0) exit = lint_builtin(&l);
  for (size_t i = 0; i < cli->word_count && !exit; i++)
    exit = lint_file(&l, cli->words[i]);
  json_close(&l.findings, ']');
  json_close(&l.warnings, ']');
  if (!exit) exit = finish(&l);
  buf_release(&l.text);
  buf_release(&l.object);
  buf_release(&l.warned);
  return exit;
}

const struct command command_lint = {
    .name = "lint",
    .summary = T_CLI_CMD_LINT,
    .usage = "[--wire W] [FILE...]",
    .takes = TAKES(WIRE) | TAKES(TOOLS) | TAKES(CONFIG) | TAKES(OUTPUT) | TAKES(PACK),
    .configured = true,
    .run = run,
};
