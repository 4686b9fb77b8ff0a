/* The composition of a run: the one place that joins options, environment,
 * provider, tools and policy. */
#include "cli/setup.h"

#include "base/utf8.h"
#include "cli/near.h"
#include "cli/project.h"
#include "cli/sandboxed.h"
#include "tools/tools.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define SYSTEM_BYTES_MAX (1u << 20) /* longer prompts are documents: give them on stdin */

/* ---- tools and policy ----------------------------------------------------- */

static bool take_row(struct setup *setup, const struct rein_tool *row) {
  struct agent_config *agent = &setup->agent;
  for (size_t i = 0; i < agent->row_count; i++)
    if (strcmp(setup->rows[i].name, row->name) == 0) return true; /* named twice is named */
  if (agent->row_count == ROWS_MAX) return false;
  setup->rows[agent->row_count++] = *row;
  return true;
}

int setup_unknown_tool(struct cli *cli, struct str name) {
  struct near near = {.wanted = name};
  struct rein_tool rows[ROWS_MAX];
  struct buf all;
  size_t n = packs_rows(cli, rows);
  buf_init(&all, 32768);
  for (size_t i = 0; i < n; i++) {
    near_try(&near, str_of(rows[i].name));
    buf_fmt(&all, "%s%s", i ? ", " : "", rows[i].name);
  }
  int exit = near.best.n ? cli_usage(cli, T_CLI_UNKNOWN_TOOL_NEAR, name, near.best)
                         : cli_usage(cli, T_CLI_UNKNOWN_TOOL, name, buf_str(&all));
  buf_release(&all);
  return exit;
}

/* A name, or the beginning of names and a star. */
static bool names_row(struct str name, const struct rein_tool *row) {
  if (!str_ends(name, STR("*"))) return str_is(name, row->name);
  return str_starts(str_of(row->name), str_part(name, 0, name.n - 1));
}

static int take_named(struct cli *cli, struct setup *setup, struct str name) {
  struct rein_tool rows[ROWS_MAX];
  size_t n = packs_rows(cli, rows), found = 0;
  for (size_t i = 0; i < n; i++) {
    if (!names_row(name, &rows[i])) continue;
    found++;
    if (!take_row(setup, &rows[i])) return cli_no_memory(cli);
  }
  return found ? 0 : setup_unknown_tool(cli, name);
}

int setup_rows(struct cli *cli, struct setup *setup) {
  const struct value *list = cli_value(cli, OPTION_ID_TOOLS);
  struct str rest = list->text, name;
  int exit = packs_load(cli);
  setup->agent.rows = setup->rows;
  if (exit || str_is(str_trim(rest), "none")) return exit;
  if (list->from == FROM_DEFAULT) return take_named(cli, setup, STR("*"));
  while (!exit && str_next(&rest, ',', &name))
    exit = take_named(cli, setup, str_trim(name));
  return exit;
}

/* A rule that can never match is a slip worth a word. */
static void warn_idle_rules(struct cli *cli, const struct policy *policy) {
  struct rein_tool all[ROWS_MAX];
  size_t count = packs_rows(cli, all);
  enum text_id why;
  struct str other;
  for (size_t i = 0; (i = policy_idle_rule(policy, all, count, i, &why, &other)) < policy->count;
       i++)
    cli_say(cli, why, policy->rules[i].source, other);
}

/* A policy that fails its own tests is a config error. */
enum rein_code setup_check_tests(const struct cli *cli, const struct policy *policy,
                                 struct err *err) {
  struct rein_tool all[ROWS_MAX];
  struct policy_tests t;
  size_t n = packs_rows(cli, all);
  enum rein_code code = policy_test(policy, all, n, STR_NONE, NULL, NULL, &t, err);
  if (code || !t.failed) return code;
  return ERR(err, REIN_INPUT, T_POLICY_TEST_FAILED, t.tool, t.call, str_of(verdict_word(t.want)),
             str_of(verdict_word(t.got)), t.rule);
}

/* The config's own tests hold for the config alone: before any flag. */
int setup_policy(struct cli *cli, struct setup *setup) {
  struct err err = {0};
  int exit = packs_load(cli);
  if (exit) return exit;
  enum rein_code code = policy_load(&cli->arena, cli->policy, &setup->policy, &err);
  if (!code) code = setup_check_tests(cli, &setup->policy, &err);
  if (code) {
    if (err.code != REIN_INPUT) return cli_fail(cli, &err);
    cli_say_at(cli, cli->config_path, &err);
    return 2;
  }
  for (size_t i = 0; i < cli->options.rule_count; i++)
    if (policy_add(&cli->arena, &setup->policy, cli->options.rules[i], &err))
      return cli_fail(cli, &err);
  setup->agent.policy = &setup->policy;
  warn_idle_rules(cli, &setup->policy);
  return 0;
}

/* ---- who answers ---------------------------------------------------------- */

/* A resume may begin in another folder. */
static bool whole_script_path(struct cli *cli, struct str path, struct str *name) {
  struct buf b;
  char whole[PATH_MAX];
  struct str path_z;
  if (!arena_str(&cli->arena, path, &path_z)) return false;
  buf_init(&b, PATH_MAX + 16);
  buf_lit(&b, "script:");
  buf_put(&b, realpath(path_z.p, whole) ? str_of(whole) : path);
  bool ok = !b.fail && arena_str(&cli->arena, buf_str(&b), name);
  buf_release(&b);
  return ok;
}

static int open_provider(struct cli *cli, struct setup *setup) {
  struct str name = cli_value(cli, OPTION_ID_MODEL)->text, path = STR_NONE, text = STR_NONE;
  struct err err = {0};
  if (provider_script_path(name, &path) && path.n &&
      cli_read_file(cli, path, SCRIPT_BYTES_MAX, &text, &err))
    return cli_fail(cli, &err);
  if (provider_open(name, text, &setup->provider, &err)) {
    if (path.n)
      cli_say_at(cli, path, &err);
    else
      return cli_fail(cli, &err);
    return err.code == REIN_INPUT ? 2 : 1;
  }
  setup->provider_name = name;
  if (path.n && !whole_script_path(cli, path, &setup->provider_name)) return cli_no_memory(cli);
  setup->agent.wire = setup->provider.wire;
  setup->agent.model = setup->provider.model;
  return 0;
}

/* What is known of the model: the table's word, and the config's before it. */
static int read_facts(struct cli *cli, struct setup *setup) {
  struct err err = {0};
  if (model_facts(setup->agent.model, cli->models, &setup->agent.facts, &err))
    return cli_fail(cli, &err);
  return 0;
}

/* Empty values are NULL there; all of them are terminated: environment or arena. */
struct http_options setup_http(const struct setup *setup) {
  return (struct http_options){.ca_dir = setup->ca_dir.n ? setup->ca_dir.p : NULL,
                               .ca_file = setup->ca_file.n ? setup->ca_file.p : NULL,
                               .proxy = setup->proxy.proxy.n ? setup->proxy.proxy.p : NULL,
                               .no_proxy = setup->proxy.direct.n ? setup->proxy.direct.p : NULL};
}

struct str setup_url(const struct setup *setup) {
  return setup->base_url.n ? setup->base_url : str_of(setup->provider.wire->base_url);
}

/* This machine itself: a server under test, or a model served here, has no key. */
static bool is_loopback(struct str url) {
  static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
  struct str scheme, rest = url, host;
  if (str_split(url, '/', &scheme, &rest)) rest = str_part(rest, 1, SIZE_MAX);
  host = str_part(rest, 0, str_find_char(rest, '/'));
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    struct str name = str_of(names[i]);
    if (!str_starts(host, name)) continue;
    if (host.n == name.n || host.p[name.n] == ':') return true;
  }
  return false;
}

/* Flag, environment, config: in this order. */
static void find_address(struct cli *cli, struct setup *setup) {
  const struct value *flag = cli_value(cli, OPTION_ID_BASE_URL);
  const struct wire *wire = setup->provider.wire;
  struct str named = wire->url_env ? env_get(cli->envp, wire->url_env) : STR_NONE;
  setup->base_url = flag->from == FROM_FLAG || !named.n ? flag->text : named;
  if (wire->key_env) setup->key = str_trim(env_get(cli->envp, wire->key_env));
}

static void note_secrets(struct cli *cli, const struct setup *setup) {
  struct str before, password, rest;
  secrets_add(&cli->secrets, setup->key);
  secrets_add(&cli->secrets, setup->github_token);
  if (str_split_last(setup->proxy.proxy, '@', &before, &rest) &&
      str_split_last(before, ':', &rest, &password))
    secrets_add(&cli->secrets, password);
}

/* Who commits, where git's own variables say so; else the repository's config does. */
static void note_committer(struct cli *cli, struct setup *setup) {
  static const char *const names[] = {"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME",
                                      "GIT_COMMITTER_EMAIL"};
  size_t n = 0;
  for (char *const *pair = cli->envp; pair && *pair; pair++)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      size_t name_n = strlen(names[i]);
      bool fits = strncmp(*pair, names[i], name_n) == 0 && (*pair)[name_n] == '=';
      if (fits && n < GIT_ENV_MAX) setup->git_env[n++] = *pair;
    }
  setup->git_env[n] = NULL;
}

static int check_key(struct cli *cli, const struct setup *setup) {
  const struct wire *wire = setup->provider.wire;
  bool needed = !setup->provider.script && wire->key_env && !is_loopback(setup_url(setup));
  if (!needed || setup->key.n || cli_value(cli, OPTION_ID_DRY_RUN)->num) return 0;
  return cli_usage(cli, T_CLI_NO_KEY, str_of(wire->key_env), str_of(wire->name));
}

/* Of `url` the proxy is chosen; empty: https. */
static int read_outside(struct cli *cli, struct setup *setup, struct str url) {
  setup->github_url = env_get(cli->envp, "GITHUB_API_URL");
  setup->github_token = str_trim(env_get(cli->envp, "GITHUB_TOKEN"));
  setup->ca_dir = env_get(cli->envp, "SSL_CERT_DIR");
  setup->ca_file = env_get(cli->envp, "SSL_CERT_FILE");
  if (!env_proxy_for(&cli->arena, cli->envp, url, &setup->proxy)) return cli_no_memory(cli);
  note_secrets(cli, setup);
  note_committer(cli, setup);
  return 0;
}

static int read_environment(struct cli *cli, struct setup *setup) {
  find_address(cli, setup);
  int exit = read_outside(cli, setup, setup_url(setup));
  return exit ? exit : check_key(cli, setup);
}

int setup_outside(struct cli *cli, struct setup *setup) {
  int exit = read_outside(cli, setup, STR("https://"));
  return exit ? exit : setup_sandbox(cli, setup);
}

/* ---- the rest ------------------------------------------------------------- */

int setup_root(struct cli *cli, struct setup *setup) {
  const struct value *root = cli_value(cli, OPTION_ID_ROOT);
  struct str path;
  struct err err = {0};
  if (!arena_str(&cli->arena, root->from ? root->text : STR("."), &path)) return cli_no_memory(cli);
  if (files_open_root(path.p, &setup->files, &err)) return cli_fail(cli, &err);
  setup->has_files = true;
  if (!own_places(cli, &setup->own)) return cli_no_memory(cli);
  setup->files.own = (struct files_own){setup->own.hidden, setup->own.kept};
  return 0;
}

static int read_system(struct cli *cli, struct setup *setup) {
  struct str text = cli_value(cli, OPTION_ID_SYSTEM)->text;
  struct err err = {0};
  if (str_starts(text, STR("@")) &&
      cli_read_file(cli, str_part(text, 1, SIZE_MAX), SYSTEM_BYTES_MAX, &text, &err))
    return cli_fail(cli, &err);
  if (!utf8_valid(text)) return cli_usage(cli, T_CLI_SYSTEM_UTF8);
  setup->agent.system = text;
  return 0;
}

/* A limit as the machine takes it: 0 there means the default. */
static int64_t limit_of(const struct cli *cli, enum option_id id) {
  const struct value *v = cli_value(cli, id);
  if (v->from == FROM_DEFAULT) return 0;
  return v->num == 0 ? REIN_ZERO : v->num;
}

enum rein_no_progress setup_progress(const struct cli *cli) {
  struct str word = cli_value(cli, OPTION_ID_NO_PROGRESS)->text;
  static const struct {
    const char *word;
    enum rein_no_progress preset;
  } presets[] = {{"off", REIN_PROGRESS_OFF},
                 {"2-turns", REIN_PROGRESS_2_TURNS},
                 {"3-in-a-row", REIN_PROGRESS_3_IN_A_ROW},
                 {"3-in-all", REIN_PROGRESS_3_IN_ALL}};
  for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
    if (str_is(word, presets[i].word)) return presets[i].preset;
  return REIN_PROGRESS_DEFAULT;
}

static void read_limits(const struct cli *cli, enum setup_kind kind, struct setup *setup) {
  struct rein_limits *limits = &setup->agent.limits;
  const struct value *retries = cli_value(cli, OPTION_ID_RETRIES);
  struct str lang = cli_value(cli, OPTION_ID_MODEL_LANG)->text;
  limits->max_turns = kind == SETUP_BARE ? REIN_ZERO : limit_of(cli, OPTION_ID_MAX_TURNS);
  limits->token_budget = limit_of(cli, OPTION_ID_TOKEN_BUDGET);
  limits->cost_uusd = limit_of(cli, OPTION_ID_COST_LIMIT);
  limits->time_ms = limit_of(cli, OPTION_ID_TIME_LIMIT);
  limits->no_progress = setup_progress(cli);
  limits->compact_at = limit_of(cli, OPTION_ID_COMPACT_AT);
  limits->context_window = cli_value(cli, OPTION_ID_CONTEXT_WINDOW)->num;
  limits->wrap_up = cli_value(cli, OPTION_ID_WRAP_UP)->num;
  setup->agent.quirks = cli_value(cli, OPTION_ID_QUIRKS)->text;
  setup->agent.dialect = cli_value(cli, OPTION_ID_WIRE)->text;
  setup->agent.strict = cli_value(cli, OPTION_ID_STRICT)->num;
  setup->agent.skip_bad_tools = cli_value(cli, OPTION_ID_SKIP_BAD_TOOLS)->num;
  setup->agent.output_limit = cli_value(cli, OPTION_ID_OUTPUT_LIMIT)->num;
  if (retries->from) setup->agent.retries = retries->num > 0 ? (int)retries->num : REIN_OFF;
  setup->agent.lang = cli->lang;
  setup->agent.model_lang = str_is(lang, "ko") ? REIN_KOREAN : REIN_ENGLISH;
  setup->idle_ms = cli_value(cli, OPTION_ID_IDLE_LIMIT)->num;
  setup->read_points_max = (size_t)cli_value(cli, OPTION_ID_READ_LIMIT)->num;
}

static int set_up_tools(struct cli *cli, struct setup *setup) {
  int exit = setup_rows(cli, setup);
  bool dry = cli_value(cli, OPTION_ID_DRY_RUN)->num;
  if (!exit && !dry) exit = packs_check_secrets(cli, setup->rows, setup->agent.row_count);
  if (!exit) exit = setup_root(cli, setup);
  if (!exit) exit = project_apply(cli, setup);
  return exit ? exit : setup_sandbox(cli, setup);
}

int setup_make(struct cli *cli, enum setup_kind kind, struct setup *setup) {
  int exit = open_provider(cli, setup);
  if (!exit) exit = read_facts(cli, setup);
  if (!exit) exit = read_environment(cli, setup);
  if (!exit) exit = read_system(cli, setup);
  if (!exit) exit = setup_policy(cli, setup);
  if (!exit && kind == SETUP_TOOLS) exit = set_up_tools(cli, setup);
  read_limits(cli, kind, setup);
  return exit;
}

void setup_release(struct setup *setup) {
  sandbox_free(setup->sandbox);
  if (setup->has_files) files_close_root(&setup->files);
  provider_close(&setup->provider);
}
