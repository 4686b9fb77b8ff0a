/* From options and environment to a sandbox: level, and names of the environment that
 * commands get. rein's own places, which they must not see, are own_places.c's. */
#include "cli/sandboxed.h"

#include "cli/env.h"

#define NAMES_MAX 64 /* of exec_env */

struct lists {
  const char *env[NAMES_MAX + 16];
  size_t env_n;
};

static bool runs_git(const struct rein_tool *row) {
  return !strcmp(row->name, "git_diff") || declared_kind(row) == PACK_GIT;
}

static bool runs_commands(const struct rein_tool *row) {
  return !strcmp(row->name, "exec") || runs_git(row) || declared_kind(row) == PACK_COMMAND;
}

/* ---- environment ------------------------------------------------------------------- */

static bool pass(struct cli *cli, struct lists *l, struct str name) {
  struct str name_z, text;
  struct buf b;
  if (!arena_str(&cli->arena, name, &name_z)) return false;
  struct str value = env_get(cli->envp, name_z.p);
  if (!value.n) return true;
  buf_init(&b, 1 << 20);
  buf_put(&b, name);
  buf_c(&b, '=');
  buf_put(&b, value);
  bool ok = !b.fail && arena_str(&cli->arena, buf_str(&b), &text);
  buf_release(&b);
  if (ok) l->env[l->env_n++] = text.p;
  return ok;
}

static int pass_all(struct cli *cli, struct lists *l) {
  static const char *const always[] = {"HOME",        "USER",     "LOGNAME", "LANG",    "LC_ALL",
                                       "LC_MESSAGES", "LC_CTYPE", "TZ",      "LANGUAGE"};
  struct str rest = cli_value(cli, OPTION_ID_EXEC_ENV)->text, name;
  for (size_t i = 0; i < sizeof always / sizeof *always; i++)
    if (!pass(cli, l, str_of(always[i]))) return cli_no_memory(cli);
  for (size_t n = 0; str_next(&rest, ',', &name) && n < NAMES_MAX; n++) {
    name = str_trim(name);
    if (!sandbox_env_ok(name)) return cli_usage(cli, T_CLI_EXEC_ENV_BAD, name);
    if (!pass(cli, l, name)) return cli_no_memory(cli);
  }
  return 0;
}

/* ---- the sandbox ------------------------------------------------------------------------ */

static void tell(struct cli *cli, const struct setup *setup) {
  enum sandbox_level level = sandbox_level(setup->sandbox);
  struct err err = {0};
  struct buf why;
  if (level != SANDBOX_FULL) cli_say(cli, T_CLI_SANDBOX_LOWER, str_of(sandbox_word(level)));
  if (sandbox_check(setup->sandbox, &err) == REIN_OK) return;
  buf_init(&why, 8192);
  err_put(&why, cli->lang, &err);
  cli_say(cli, T_CLI_WARNING, buf_str(&why));
  buf_release(&why);
}

/* git has no network in any case. */
static void note_network(struct setup *setup) {
  for (size_t i = 0; i < setup->agent.row_count; i++)
    if (runs_commands(&setup->rows[i]) && !runs_git(&setup->rows[i]))
      setup->rows[i].touches |= REIN_OUTSIDE;
}

int setup_sandbox(struct cli *cli, struct setup *setup) {
  struct str word = cli_value(cli, OPTION_ID_SANDBOX)->text, home;
  const struct value *memory = cli_value(cli, OPTION_ID_EXEC_MEMORY);
  struct sandbox_options o = {.network = cli_value(cli, OPTION_ID_EXEC_NETWORK)->num != 0,
                              .data_mb = memory->from ? memory->num : 0};
  struct lists l = {.env_n = 0};
  struct err err = {0};
  bool wanted = false;
  for (size_t i = 0; i < setup->agent.row_count; i++)
    wanted |= runs_commands(&setup->rows[i]);
  if (!wanted) return 0;
  if (word.n) (void)sandbox_read_word(word, &o.level);
  int exit = pass_all(cli, &l);
  if (exit) return exit;
  if (!arena_str(&cli->arena, env_get(cli->envp, "HOME"), &home)) return cli_no_memory(cli);
  o.env = l.env;
  o.hidden = setup->own.hidden;
  o.protected = setup->own.kept;
  o.home = home.p;
  if (sandbox_new(&o, &setup->sandbox, &err)) return cli_fail(cli, &err);
  if (sandbox_network(setup->sandbox)) note_network(setup);
  setup->agent.sandbox = str_of(sandbox_word(o.level));
  tell(cli, setup);
  return 0;
}
