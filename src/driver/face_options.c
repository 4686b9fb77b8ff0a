/* Checks what an embedder hands in, member by member, before anything runs: an
 * option is used as it stands or refused by name, never bent. */
#include "driver/face.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "core/tool.h"
#include "text/text.h"
#include "tools/tools.h"
#include "wire/quirks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define RETRIES_MAX 100 /* per request; more only hides that it does not work */

enum rein_lang face_lang(const struct rein_options *options) {
  bool korean = options && options->size >= offsetof(struct rein_options, model_lang) &&
                options->lang == REIN_KOREAN;
  return korean ? REIN_KOREAN : REIN_ENGLISH;
}

enum rein_code face_fail(struct rein_error *error, enum rein_lang lang, const struct err *err) {
  struct buf text;
  if (!error) return err->code;
  buf_init(&text, 64 * 1024);
  err_put(&text, lang, err);
  /* Cut between characters; the tail of a sentence is its least important part. */
  struct str s = buf_str(&text);
  while (s.n >= sizeof error->message)
    s = utf8_head(s, utf8_count(s) - 1);
  error->code = err->code;
  if (s.n > 0) memcpy(error->message, s.p, s.n);
  error->message[s.n] = '\0';
  buf_release(&text);
  return err->code;
}

static enum rein_code no_memory(struct err *err) {
  return ERR(err, REIN_MEMORY, T_DRIVER_NO_MEMORY);
}

/* Members that a caller's older header does not have are zero; those that this
 * library does not know may only be zero. */
static enum rein_code copy_options(const struct rein_options *options, struct rein_options *o,
                                   struct err *err) {
  struct num_text room;
  size_t size = options ? options->size : 0;
  if (size < offsetof(struct rein_options, base_url) || size > 64 * sizeof *o)
    return ERR(err, REIN_INPUT, T_FACE_SIZE, str_num(&room, (int64_t)size));
  for (size_t i = sizeof *o; i < size; i++)
    if (((const char *)options)[i] != 0)
      return ERR(err, REIN_INPUT, T_FACE_NEWER, STR(REIN_VERSION));
  memcpy(o, options, size < sizeof *o ? size : sizeof *o);
  return REIN_OK;
}

static enum rein_code check_range(const char *name, int64_t value, int64_t low, int64_t high,
                                  struct err *err) {
  struct num_text room;
  if (value >= low && value <= high) return REIN_OK;
  return ERR(err, REIN_INPUT, T_FACE_VALUE, str_of(name), str_num(&room, value));
}

static enum rein_code check_numbers(const struct rein_options *o, struct err *err) {
  enum rein_code code = check_range("lang", o->lang, 0, REIN_KOREAN, err);
  if (code == REIN_OK) code = check_range("model_lang", o->model_lang, 0, REIN_KOREAN, err);
  if (code == REIN_OK)
    code = check_range("limits.no_progress", o->limits.no_progress, 0, REIN_PROGRESS_3_IN_ALL, err);
  if (code == REIN_OK) code = check_range("retries", o->retries, REIN_OFF, RETRIES_MAX, err);
  if (code == REIN_OK && o->tool_count > TOOLS_MAX)
    code = check_range("tool_count", (int64_t)o->tool_count, 0, TOOLS_MAX, err);
  if (code == REIN_OK && o->tool_count > 0 && !o->tools)
    code = ERR(err, REIN_INPUT, T_FACE_MISSING, STR("rein_options.tools"));
  return code;
}

struct member {
  const char *name;
  const char **value;
};

/* Copies the caller's texts; an empty one is as good as none. */
static enum rein_code copy_texts(struct face *f, struct err *err) {
  struct rein_options *o = &f->o;
  const struct member members[] = {
      {"model", &o->model},           {"base_url", &o->base_url},
      {"system", &o->system},         {"root", &o->root},
      {"builtin", &o->builtin},       {"policy_json", &o->policy_json},
      {"github_url", &o->github_url}, {"github_token", &o->github_token},
      {"proxy", &o->proxy},           {"no_proxy", &o->no_proxy},
      {"ca_file", &o->ca_file},       {"quirks", &o->quirks},
      {"dialect", &o->dialect},       {"models_json", &o->models_json},
  };
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    struct str text = str_of(*members[i].value), copy;
    *members[i].value = NULL;
    if (text.n == 0) continue;
    if (!utf8_valid(text)) return ERR(err, REIN_INPUT, T_FACE_UTF8, str_of(members[i].name));
    if (!arena_str(&f->arena, text, &copy)) return no_memory(err);
    *members[i].value = copy.p;
  }
  return REIN_OK;
}

static enum rein_code check_quirks(const struct rein_options *o, struct err *err) {
  struct str name = str_of(o->quirks);
  if (name.n == 0 || quirks_by_name(name)) return REIN_OK;
  return ERR(err, REIN_INPUT, T_FACE_VALUE, STR("quirks"), name);
}

static enum rein_code refuse_for_machine(const struct face *f, struct err *err) {
  const struct rein_options *o = &f->o;
  struct str path;
  const char *name = NULL;
  if (o->builtin) name = "rein_options.builtin";
  if (o->root) name = "rein_options.root";
  if (o->approve) name = "rein_options.approve";
  if (o->hear) name = "rein_options.hear";
  if (o->cancel) name = "rein_options.cancel";
  if (str_is(str_of(o->model), "demo")) name = "demo";
  if (provider_script_path(str_of(o->model), &path)) name = "script:FILE";
  return name ? ERR(err, REIN_INPUT, T_FACE_MACHINE_ROWS, str_of(name)) : REIN_OK;
}

/* -- provider -- */

static enum rein_code read_all(int fd, struct buf *text) {
  for (;;) {
    char *room = buf_room(text, 64 * 1024);
    if (!room) return text->fail;
    ssize_t n = read(fd, room, 64 * 1024);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return REIN_SYSTEM;
    if (n == 0) return REIN_OK;
    buf_grown(text, (size_t)n);
  }
}

/* A descriptor of a plain file; below zero: errno says why not. */
static int open_plain(const char *path) {
  struct stat st = {0};
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return fd;
  if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) return fd;
  close(fd);
  errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
  return -1;
}

static enum rein_code read_script(struct face *f, struct str path, struct str *text,
                                  struct err *err) {
  struct num_text room;
  struct buf bytes;
  int fd = open_plain(path.p);
  if (fd < 0) return ERR(err, REIN_INPUT, T_FACE_FILE, path, str_of(strerror(errno)));
  buf_init(&bytes, SCRIPT_BYTES_MAX);
  enum rein_code code = read_all(fd, &bytes);
  if (code == REIN_SYSTEM)
    code = ERR(err, REIN_INPUT, T_FACE_FILE, path, str_of(strerror(errno)));
  else if (code == REIN_LIMIT)
    code = ERR(err, REIN_INPUT, T_FACE_FILE_BIG, path, str_num(&room, SCRIPT_BYTES_MAX));
  else if (code == REIN_MEMORY || !arena_str(&f->arena, buf_str(&bytes), text))
    code = no_memory(err);
  close(fd);
  buf_release(&bytes);
  return code;
}

static enum rein_code open_provider(struct face *f, struct err *err) {
  struct str name = str_of(f->o.model), path, text = STR_NONE;
  enum rein_code code = REIN_OK;
  if (provider_script_path(name, &path) && path.n > 0) code = read_script(f, path, &text, err);
  if (code == REIN_OK) code = provider_open(name, text, &f->provider, err);
  if (code == REIN_OK && !f->provider.script && !f->o.base_url && str_blank(str_of(f->o.api_key)))
    code = ERR(err, REIN_INPUT, T_FACE_KEY_NEEDED);
  return code;
}

/* -- rows -- */

static enum rein_code no_such_builtin(struct str name, struct err *err) {
  struct buf list;
  buf_init(&list, 4096);
  for (size_t i = 0; builtin_tools[i]; i++) {
    if (i > 0) buf_lit(&list, ", ");
    buf_put(&list, str_of(builtin_tools[i]->name));
  }
  enum rein_code code = ERR(err, REIN_INPUT, T_FACE_BUILTIN, name, buf_str(&list));
  buf_release(&list);
  return code;
}

static void add_row(struct face *f, const struct rein_tool *row) {
  f->given[f->row_count] = row;
  f->rows[f->row_count++] = *row;
}

static enum rein_code add_builtins(struct face *f, struct err *err) {
  struct str rest = str_of(f->o.builtin), name, copy;
  while (str_next(&rest, ',', &name)) {
    name = str_trim(name);
    if (!arena_str(&f->arena, name, &copy)) return no_memory(err);
    const struct rein_tool *row = builtin_tool(copy.p);
    if (!row) return no_such_builtin(name, err);
    if (row->touches & (REIN_READS_PRIVATE | REIN_WRITES) && !f->o.root)
      return ERR(err, REIN_INPUT, T_FACE_NEEDS_ROOT, name);
    if (f->row_count == TOOLS_MAX) return check_range("builtin", TOOLS_MAX + 1, 0, TOOLS_MAX, err);
    add_row(f, row);
  }
  return REIN_OK;
}

static int run_elsewhere(struct rein_call *call) {
  (void)call; /* the bare machine's caller runs its tools itself */
  return REIN_BUG;
}

static enum rein_code check_row(const struct rein_tool *row, enum face_use use, struct err *err) {
  enum {
    ALL =
        REIN_TOUCHES_NOTHING | REIN_READS_PRIVATE | REIN_WRITES | REIN_OUTSIDE | REIN_READS_OUTSIDE
  };
  const struct {
    const char *member, *text;
  } needed[] = {{"rein_tool.name", row->name},
                {"rein_tool.description", row->description},
                {"rein_tool.schema", row->schema}};
  for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
    if (!needed[i].text) return ERR(err, REIN_INPUT, T_FACE_MISSING, str_of(needed[i].member));
    if (!utf8_valid(str_of(needed[i].text)))
      return ERR(err, REIN_INPUT, T_FACE_UTF8, str_of(needed[i].member));
  }
  if (use == FACE_RUN && !row->run)
    return ERR(err, REIN_INPUT, T_FACE_NO_FUNCTION, str_of(row->name));
  enum rein_code code = check_range("tools.verdict", row->verdict, 0, REIN_DENY, err);
  if (code == REIN_OK) code = check_range("tools.touches", row->touches, 0, ALL, err);
  return code;
}

/* How many rows the names can make at most. */
static size_t builtin_room(const char *names) {
  size_t room = names ? 1 : 0;
  for (const char *p = names; p && (p = strchr(p, ',')); p++)
    room++;
  return room < TOOLS_MAX ? room : TOOLS_MAX;
}

static enum rein_code add_rows(struct face *f, enum face_use use, struct err *err) {
  size_t room = f->o.tool_count + builtin_room(f->o.builtin);
  f->rows = arena_array(&f->arena, struct rein_tool, room);
  f->given = arena_array(&f->arena, const struct rein_tool *, room);
  if (!f->rows || !f->given) return no_memory(err);
  enum rein_code code = f->o.builtin ? add_builtins(f, err) : REIN_OK;
  for (size_t i = 0; code == REIN_OK && i < f->o.tool_count; i++) {
    code = check_row(&f->o.tools[i], use, err);
    add_row(f, &f->o.tools[i]);
    struct rein_tool *row = &f->rows[f->row_count - 1];
    if (use == FACE_MACHINE && !row->run) row->run = run_elsewhere;
  }
  return code;
}

/* A policy that fails its own tests is not used. */
static enum rein_code check_policy(const struct face *f, struct err *err) {
  struct policy_tests t;
  enum rein_code code =
      policy_test(&f->policy, f->rows, f->row_count, STR_NONE, NULL, NULL, &t, err);
  if (code || !t.failed) return code;
  return ERR(err, REIN_INPUT, T_POLICY_TEST_FAILED, t.tool, t.call, str_of(verdict_word(t.want)),
             str_of(verdict_word(t.got)), t.rule);
}

static enum rein_code load_policy(struct face *f, struct err *err) {
  struct json *doc = NULL;
  enum rein_code code = REIN_OK;
  if (f->o.policy_json)
    code = json_parse(&f->arena, str_of(f->o.policy_json), JSON_COMMENTS | JSON_UNIQUE, &doc, err);
  if (code == REIN_OK) code = policy_load(&f->arena, doc, &f->policy, err);
  return code == REIN_OK ? check_policy(f, err) : code;
}

static enum rein_code know_model(struct face *f, struct err *err) {
  struct json *doc = NULL;
  enum rein_code code = REIN_OK;
  if (f->o.models_json)
    code = json_parse(&f->arena, str_of(f->o.models_json), JSON_COMMENTS | JSON_UNIQUE, &doc, err);
  return code ? code : model_facts(f->provider.model, doc, &f->facts, err);
}

enum rein_code face_open(const struct rein_options *options, enum face_use use, struct face *face,
                         struct err *err) {
  struct face *f = face;
  *f = (struct face){0};
  arena_init(&f->arena, FACE_BYTES_MAX);
  enum rein_code code = copy_options(options, &f->o, err);
  if (code == REIN_OK) code = check_numbers(&f->o, err);
  if (code == REIN_OK) code = copy_texts(f, err);
  if (code == REIN_OK) code = check_quirks(&f->o, err);
  if (code == REIN_OK && use == FACE_MACHINE) code = refuse_for_machine(f, err);
  if (code == REIN_OK) code = open_provider(f, err);
  if (code == REIN_OK) code = know_model(f, err);
  if (code == REIN_OK) code = add_rows(f, use, err);
  if (code == REIN_OK) code = load_policy(f, err);
  if (code == REIN_OK && f->o.root) code = files_open_root(f->o.root, &f->files, err);
  f->config = (struct agent_config){
      .wire = f->provider.wire,
      .model = f->provider.model,
      .system = str_of(f->o.system),
      .rows = f->rows,
      .row_count = f->row_count,
      .policy = &f->policy,
      .limits = f->o.limits,
      .output_limit = f->o.output_limit,
      .retries = f->o.retries,
      .lang = f->o.lang,
      .model_lang = f->o.model_lang,
      .quirks = str_of(f->o.quirks),
      .strict = f->o.strict,
      .skip_bad_tools = f->o.skip_bad_tools,
      .dialect = str_of(f->o.dialect),
      .facts = f->facts,
  };
  return code;
}

void face_close(struct face *face) {
  if (face->files.root) files_close_root(&face->files);
  provider_close(&face->provider);
  arena_release(&face->arena);
  *face = (struct face){0};
}
