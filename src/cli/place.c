/* Finds the database of runs. Opening it is the store's business; whoever names
 * a store of another kind hears that it is not built. */
#include "cli/place.h"

#include "cli/env.h"

static int choose(struct cli *cli, struct str *path) {
  const struct value *flag = cli_value(cli, OPTION_ID_STORE);
  if (flag->from == FROM_DEFAULT) {
    if (env_state_path(&cli->arena, cli->envp, path)) return 0;
    bool there =
        env_get(cli->envp, "HOME").n || str_starts(env_get(cli->envp, "XDG_STATE_HOME"), STR("/"));
    return there ? cli_no_memory(cli) : cli_usage(cli, T_CLI_NO_STATE);
  }
  if (str_has(flag->text, STR("://"))) return cli_usage(cli, T_CLI_STORE_URL, flag->text);
  return arena_str(&cli->arena, flag->text, path) ? 0 : cli_no_memory(cli);
}

int place_open(struct cli *cli, struct loop *loop, struct store **store) {
  struct err err = {0};
  struct str path;
  *store = NULL;
  if (cli_value(cli, OPTION_ID_NO_STORE)->num) {
    if (cli_value(cli, OPTION_ID_STORE)->from != FROM_FLAG) return 0;
    return cli_usage(cli, T_CLI_STORE_BOTH);
  }
  int exit = choose(cli, &path);
  if (exit) return exit;
  enum rein_code code = store_open(path.p, loop, store, &err);
  if (code == REIN_OK) return 0;
  exit = cli_fail(cli, &err);
  return code == REIN_SYSTEM ? rein_outcome_exit(REIN_OUTCOME_STORE_FAILED) : exit;
}
