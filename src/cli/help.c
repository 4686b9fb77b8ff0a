/* --help: usage, commands, options, in the person's language. */
#include "cli/help.h"

#include "base/utf8.h"

#define HELP_BYTES_MAX 65536
#define NAMES_COLUMNS 30 /* "      --output text|json|stream-json" stands on a line of its own */

bool help_shows(const struct command *command, enum option_id id) {
  const struct option_row *row = &option_rows[id];
  bool hidden = id == OPTION_ID_MAN || id == OPTION_ID_SCHEMA || id == OPTION_ID_COMPLETION;
  if (!row->name || row->kind == OPTION_LATER || hidden) return false;
  return (command->takes | TAKES_ALWAYS) & (UINT64_C(1) << id);
}

static void put_blanks(struct buf *out, size_t n) {
  while (n--)
    buf_c(out, ' ');
}

/* Two columns; the left one gets a line alone when it is too long. */
static void put_row(struct buf *out, struct str left, struct str right) {
  size_t width = utf8_width(left);
  buf_put(out, left);
  if (width + 2 > NAMES_COLUMNS) {
    buf_c(out, '\n');
    width = 0;
  }
  put_blanks(out, NAMES_COLUMNS - width);
  buf_put(out, right);
  buf_c(out, '\n');
}

static void put_option(struct buf *out, enum rein_lang lang, const struct option_row *row) {
  struct buf left;
  buf_init(&left, 256);
  if (row->letter)
    buf_fmt(&left, "  -%c, ", row->letter);
  else
    buf_lit(&left, "      ");
  buf_fmt(&left, "--%s", row->name);
  if (row->arg) buf_fmt(&left, " %s", row->arg);
  put_row(out, buf_str(&left), str_of(text_raw((enum text_id)row->summary, lang)));
  buf_release(&left);
}

static void put_commands(struct buf *out, enum rein_lang lang) {
  buf_c(out, '\n');
  TEXT_PUT(out, lang, T_CLI_HELP_COMMANDS);
  buf_c(out, '\n');
  for (size_t i = 0; commands[i]; i++) {
    struct buf left;
    buf_init(&left, 256);
    buf_fmt(&left, "  %s", commands[i]->name);
    put_row(out, buf_str(&left), str_of(text_raw((enum text_id)commands[i]->summary, lang)));
    buf_release(&left);
  }
}

int help_print(struct cli *cli, const struct command *command) {
  bool first = command == commands[0];
  struct buf out;
  buf_init(&out, HELP_BYTES_MAX);
  TEXT_PUT(&out, cli->lang, first ? T_CLI_HELP_TITLE : (enum text_id)command->summary);
  buf_lit(&out, "\n\n");
  TEXT_PUT(&out, cli->lang, T_CLI_HELP_USAGE);
  buf_fmt(&out, "\n  rein %s%s%s %s\n", first ? "[" : "", command->name, first ? "]" : "",
          command->usage);
  if (first) {
    buf_lit(&out, "  ... | rein [run] [options] [\"task\"] [-]\n");
    put_commands(&out, cli->lang);
  }
  buf_c(&out, '\n');
  TEXT_PUT(&out, cli->lang, T_CLI_HELP_OPTIONS);
  buf_c(&out, '\n');
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (help_shows(command, (enum option_id)i)) put_option(&out, cli->lang, &option_rows[i]);
  if (first) {
    buf_c(&out, '\n');
    TEXT_PUT(&out, cli->lang, T_CLI_HELP_FOOT);
    buf_c(&out, '\n');
  }
  int exit = cli_print(cli, &out);
  buf_release(&out);
  return exit;
}
