/* git, hardened. Settings are given through the environment (GIT_CONFIG_KEY_n), where
 * a name may hold any byte; -c would split one at its first "=". */
#include "host/git.h"

#include "base/arena.h"
#include "text/text.h"

#define GIT_ARENA_MAX (1u << 20)
#define NAMES_BYTES_MAX 65536 /* of filters' names in a repository's config */
#define PAIRS_MAX 512         /* settings; each filter takes four */
#define ENV_MAX (2 * PAIRS_MAX + 32)

struct git {
  const struct git_spec *spec;
  struct arena arena;
  const char *env[ENV_MAX + 1];
  size_t env_n, pairs;
  bool full; /* no memory, or too many */
};

static void put(struct git *g, struct str name, struct str value) {
  struct buf b;
  struct str text;
  buf_init(&b, 65536);
  buf_put(&b, name);
  buf_c(&b, '=');
  buf_put(&b, value);
  g->full |= b.fail || g->env_n == ENV_MAX || !arena_str(&g->arena, buf_str(&b), &text);
  if (!g->full) g->env[g->env_n++] = text.p;
  buf_release(&b);
}

/* Borrowed: the caller's, for as long as git runs. */
static void keep_env(struct git *g, const char *pair) {
  g->full |= g->env_n == ENV_MAX;
  if (!g->full) g->env[g->env_n++] = pair;
}

static void numbered(struct git *g, const char *what, size_t n, struct str value) {
  struct num_text room;
  struct buf b;
  buf_init(&b, 128);
  buf_put(&b, str_of(what));
  buf_put(&b, str_num(&room, (int64_t)n));
  put(g, buf_str(&b), value);
  buf_release(&b);
}

static void set(struct git *g, struct str key, const char *value) {
  if (g->pairs == PAIRS_MAX) {
    g->full = true;
    return;
  }
  numbered(g, "GIT_CONFIG_KEY_", g->pairs, key);
  numbered(g, "GIT_CONFIG_VALUE_", g->pairs++, str_of(value));
}

static void harden(struct git *g) {
  static const char *const fixed[][2] = {
      {"GIT_CONFIG_NOSYSTEM", "1"},
      {"GIT_CONFIG_SYSTEM", "/dev/null"},
      {"GIT_CONFIG_GLOBAL", "/dev/null"},
      {"GIT_ATTR_NOSYSTEM", "1"},
      {"GIT_OPTIONAL_LOCKS", "0"},
      {"GIT_NO_LAZY_FETCH", "1"},
      {"GIT_ALLOW_PROTOCOL", ""},
      {"GIT_NO_REPLACE_OBJECTS", "1"},
      {"GIT_EDITOR", "false"},
      {"GIT_ASKPASS", "false"},
  };
  static const char *const settings[][2] = {
      {"core.fsmonitor", "false"},
      {"core.hooksPath", "/dev/null"},
      {"core.pager", "cat"},
      {"core.sshCommand", "false"},
      {"core.askPass", "false"},
      {"credential.helper", ""},
      {"gpg.program", "false"},
      {"core.editor", "false"},
      {"protocol.allow", "never"},
      {"core.attributesFile", "/dev/null"},
      {"core.alternateRefsCommand", "false"},
      {"diff.external", ""},
      {"safe.bareRepository", "explicit"},
  };
  struct str dir;
  struct buf b;
  buf_init(&b, 16384);
  buf_put(&b, str_of(g->spec->root));
  buf_lit(&b, "/.git");
  g->full |= b.fail || !arena_str(&g->arena, buf_str(&b), &dir);
  buf_release(&b);
  if (g->full) return;
  put(g, STR("GIT_DIR"), dir); /* not what lies above, nor what core.worktree says */
  put(g, STR("GIT_WORK_TREE"), str_of(g->spec->root));
  for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
    put(g, str_of(fixed[i][0]), str_of(fixed[i][1]));
  for (size_t i = 0; g->spec->env && g->spec->env[i]; i++)
    keep_env(g, g->spec->env[i]);
  for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
    set(g, str_of(settings[i][0]), settings[i][1]);
}

/* With the number of settings last; it stays open for more. */
static enum rein_code start(struct git *g, const char *const *args, bool writes,
                            struct child_out *out, struct child_out *errors, struct child_end *end,
                            struct err *err) {
  const char *argv[64] = {"git", "--no-pager"};
  size_t n = 2, kept = g->env_n;
  for (size_t i = 0; args[i]; i++) {
    if (n == sizeof argv / sizeof *argv - 1) return ERR(err, REIN_LIMIT, T_HOST_GIT_ARGS);
    argv[n++] = args[i];
  }
  struct num_text room;
  put(g, STR("GIT_CONFIG_COUNT"), str_num(&room, (int64_t)g->pairs));
  if (g->full) return ERR(err, REIN_INPUT, T_HOST_GIT_FILTERS);
  g->env[g->env_n] = NULL;
  struct child_spec spec = {.sandbox = g->spec->sandbox,
                            .argv = argv,
                            .env = g->env,
                            .root = g->spec->root,
                            .read_only = !writes,
                            .limit_ms = g->spec->limit_ms,
                            .out = out,
                            .errors = errors,
                            .cancelled = g->spec->cancelled,
                            .ctx = g->spec->ctx};
  enum rein_code code = child_run(&spec, end, err);
  g->env_n = kept;
  return code;
}

/* filter.NAME.clean, .smudge and .process run programs, flags of git do not stop them:
 * each that the config names is set to nothing. */
static enum rein_code switch_off_filters(struct git *g, struct child_end *end, struct err *err) {
  static const char *const list[] = {"config",       "-z",         "--name-only",
                                     "--get-regexp", "^filter\\.", NULL};
  struct child_out names, errors;
  child_out_init(&names, NAMES_BYTES_MAX, 0);
  child_out_init(&errors, 4096, 0);
  enum rein_code code = start(g, list, false, &names, &errors, end, err);
  struct str rest = buf_str(&names.head), name, key, last;
  if (!code && names.cut) code = ERR(err, REIN_INPUT, T_HOST_GIT_FILTERS);
  while (!code && str_next(&rest, '\0', &name)) {
    if (!str_split_last(name, '.', &key, &last)) continue;
    set(g, name, str_eq_nocase(last, STR("required")) ? "false" : "");
  }
  child_out_release(&names);
  child_out_release(&errors);
  return code;
}

enum rein_code git_run(const struct git_spec *spec, struct child_end *end, struct err *err) {
  struct git g = {.spec = spec};
  arena_init(&g.arena, GIT_ARENA_MAX);
  harden(&g);
  enum rein_code code = switch_off_filters(&g, end, err);
  if (!code && end->how == CHILD_EXITED)
    code = start(&g, spec->args, spec->writes, spec->out, spec->errors, end, err);
  arena_release(&g.arena);
  return code;
}
