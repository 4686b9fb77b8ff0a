/* rein pack: check a pack, list those that come with rein, or print one to learn from. */
#include "cli/command.h"
#include "cli/packs.h"

#define OUT_BYTES_MAX (8u << 20)

static const char *const kinds[] = {"http", "command", "git"};

static void put_pack(struct buf *out, const struct pack *pack) {
  buf_put(out, pack->name);
  if (pack->about.n) buf_lit(out, ": ");
  buf_put(out, pack->about);
  buf_c(out, '\n');
  for (size_t i = 0; i < pack->tool_count; i++)
    buf_fmt(out, "  %-28s %s\n", pack->tools[i].name.p, kinds[pack->tools[i].kind]);
  for (size_t i = 0; i < pack->secret_count; i++)
    buf_fmt(out, "  %s: %s\n", pack->secrets[i].name.p, pack->secrets[i].about.p);
}

static int print(struct cli *cli, struct buf *out) {
  int exit = cli_print(cli, out);
  buf_release(out);
  return exit;
}

static int check(struct cli *cli) {
  struct buf out;
  struct num_text room;
  int exit = 0;
  if (cli->word_count < 2) return cli_usage(cli, T_CLI_PACK_USAGE);
  buf_init(&out, OUT_BYTES_MAX);
  for (size_t i = 1; !exit && i < cli->word_count; i++) {
    struct pack *pack;
    exit = packs_read(cli, cli->words[i], &pack);
    if (exit) break;
    put_pack(&out, pack);
    cli_say(cli, T_CLI_PACK_GOOD, cli->words[i], str_num(&room, (int64_t)pack->tool_count));
  }
  if (!exit) return print(cli, &out);
  buf_release(&out);
  return exit;
}

static int list(struct cli *cli) {
  struct buf out;
  int exit = 0;
  buf_init(&out, OUT_BYTES_MAX);
  for (size_t i = 0; !exit && pack_shipped_name(i); i++) {
    struct pack *pack;
    exit = packs_read(cli, str_of(pack_shipped_name(i)), &pack);
    if (!exit) put_pack(&out, pack);
  }
  if (!exit) return print(cli, &out);
  buf_release(&out);
  return exit;
}

static int show(struct cli *cli) {
  struct buf out;
  struct str text;
  if (cli->word_count != 2) return cli_usage(cli, T_CLI_PACK_USAGE);
  bool form = str_is(cli->words[1], "schema");
  if (form) text = pack_shape();
  if (!form && !pack_shipped(cli->words[1], &text)) return packs_unknown(cli, cli->words[1]);
  buf_init(&out, OUT_BYTES_MAX);
  buf_put(&out, text);
  return print(cli, &out);
}

static int run(struct cli *cli) {
  struct str verb = cli->word_count ? cli->words[0] : STR("list");
  if (str_is(verb, "list")) return list(cli);
  if (str_is(verb, "check")) return check(cli);
  if (str_is(verb, "show")) return show(cli);
  return cli_usage(cli, T_CLI_PACK_USAGE);
}

const struct command command_pack = {
    .name = "pack",
    .summary = T_CLI_CMD_PACK,
    .usage = "list | check NAME|FILE… | show NAME|schema",
    .run = run,
};
