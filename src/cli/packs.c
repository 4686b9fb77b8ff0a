/* A word without a slash or a dot names a pack that comes with rein; all else is a file. */
#include "cli/packs.h"

#include "cli/env.h"
#include "cli/options.h"
#include "tools/tools.h"

#define NAMES_BYTES_MAX 4096

static bool is_file(struct str name) {
  return str_find_char(name, '/') < name.n || str_find_char(name, '.') < name.n;
}

int packs_unknown(struct cli *cli, struct str name) {
  struct buf all;
  buf_init(&all, NAMES_BYTES_MAX);
  for (size_t i = 0; pack_shipped_name(i); i++)
    buf_fmt(&all, "%s%s", i ? ", " : "", pack_shipped_name(i));
  int exit = cli_usage(cli, T_CLI_PACK_UNKNOWN, name, buf_str(&all));
  buf_release(&all);
  return exit;
}

static int read_text(struct cli *cli, struct str name, struct str *text) {
  struct err err = {0};
  if (!is_file(name)) return pack_shipped(name, text) ? 0 : packs_unknown(cli, name);
  return cli_read_file(cli, name, PACK_BYTES_MAX, text, &err) ? cli_fail(cli, &err) : 0;
}

int packs_read(struct cli *cli, struct str name, struct pack **pack) {
  struct str text;
  struct err err = {0};
  int exit = read_text(cli, name, &text);
  if (exit) return exit;
  if (!pack_load(&cli->arena, text, pack, &err)) return 0;
  cli_say_at(cli, name, &err);
  return err.code == REIN_INPUT || err.code == REIN_LIMIT ? 2 : 1;
}

static int read_environment(struct cli *cli, struct pack *pack) {
  struct err err = {0};
  struct str url = pack->url_env.n ? str_trim(env_get(cli->envp, pack->url_env.p)) : STR_NONE;
  if (url.n && pack_set_url(&cli->arena, pack, url, &err)) return cli_fail(cli, &err);
  for (size_t i = 0; i < pack->secret_count; i++) {
    struct pack_secret *secret = &pack->secrets[i];
    secret->value = str_trim(env_get(cli->envp, secret->name.p));
    secrets_add(&cli->secrets, secret->value);
  }
  return 0;
}

static bool is_named(const struct cli *cli, const struct pack_tool *tool, struct str *by) {
  for (size_t i = 0; builtin_tools[i]; i++)
    if (str_is(tool->name, builtin_tools[i]->name)) {
      *by = STR("rein");
      return true;
    }
  for (size_t i = 0; i < cli->pack_count; i++)
    for (size_t k = 0; k < cli->packs[i]->row_count; k++)
      if (str_is(tool->name, cli->packs[i]->rows[k].name)) {
        *by = cli->packs[i]->pack->name;
        return true;
      }
  return false;
}

static int check_names(struct cli *cli, const struct pack *pack) {
  struct str by;
  for (size_t i = 0; i < pack->tool_count; i++)
    if (is_named(cli, &pack->tools[i], &by))
      return cli_usage(cli, T_CLI_PACK_TWICE, pack->name, pack->tools[i].name, by);
  return 0;
}

static int add(struct cli *cli, struct str name) {
  struct pack *pack;
  struct err err = {0};
  struct num_text room;
  if (cli->pack_count == PACKS_MAX)
    return cli_usage(cli, T_CLI_PACK_MANY, str_num(&room, PACKS_MAX));
  int exit = packs_read(cli, name, &pack);
  if (!exit) exit = read_environment(cli, pack);
  if (!exit) exit = check_names(cli, pack);
  if (exit) return exit;
  struct declared **place = &cli->packs[cli->pack_count];
  if (declared_new(&cli->arena, pack, place, &err)) return cli_fail(cli, &err);
  cli->pack_count++;
  return 0;
}

int packs_load(struct cli *cli) {
  const struct value *list = cli_value(cli, OPTION_ID_PACK);
  struct str rest = list->from ? list->text : STR_NONE, name;
  int exit = 0;
  if (cli->pack_count || str_is(str_trim(rest), "none")) return 0;
  while (!exit && str_next(&rest, ',', &name))
    if (!str_blank(name)) exit = add(cli, str_trim(name));
  return exit;
}

size_t packs_rows(const struct cli *cli, struct rein_tool *rows) {
  size_t n = 0;
  for (; builtin_tools[n] && n < ROWS_MAX; n++)
    rows[n] = *builtin_tools[n];
  for (size_t i = 0; i < cli->pack_count; i++)
    for (size_t k = 0; k < cli->packs[i]->row_count && n < ROWS_MAX; k++)
      rows[n++] = cli->packs[i]->rows[k];
  return n;
}

static bool is_used(const struct declared *pack, const struct rein_tool *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = 0; k < pack->row_count; k++)
      if (rows[i].ctx == pack->rows[k].ctx) return true;
  return false;
}

int packs_check_secrets(struct cli *cli, const struct rein_tool *rows, size_t count) {
  for (size_t i = 0; i < cli->pack_count; i++) {
    const struct pack *pack = cli->packs[i]->pack;
    if (!is_used(cli->packs[i], rows, count)) continue;
    for (size_t k = 0; k < pack->secret_count; k++)
      if (!pack->secrets[k].value.n)
        return cli_usage(cli, T_CLI_PACK_SECRET, pack->name, pack->secrets[k].name,
                         pack->secrets[k].about);
  }
  return 0;
}

void packs_release(struct cli *cli) {
  for (size_t i = 0; i < cli->pack_count; i++)
    declared_free(cli->packs[i]);
  cli->pack_count = 0;
}
