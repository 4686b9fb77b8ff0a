/* rein tools: the built-in tools, what they touch and what the policy says. */
#include "cli/by_hand.h"
#include "cli/command.h"
#include "cli/session.h"
#include "cli/tool_list.h"

#define LIST_BYTES_MAX (1u << 20)

static int run(struct cli *cli) {
  struct setup setup = {0};
  struct buf out;
  if (cli->word_count && str_is(cli->words[0], "test")) return by_hand(cli);
  if (cli->word_count) return cli_usage(cli, T_CLI_NO_WORDS, STR("tools"), cli->words[0]);
  int exit = setup_policy(cli, &setup);
  if (!exit) exit = setup_rows(cli, &setup);
  if (exit) return exit;
  buf_init(&out, LIST_BYTES_MAX);
  if (session_output(cli) == OUTPUT_TEXT)
    tool_list_text(&out, cli->lang, &setup, true);
  else {
    struct json_out w = json_out(&out);
    tool_list_json(&w, &setup);
    buf_c(&out, '\n');
  }
  exit = cli_print(cli, &out);
  buf_release(&out);
  return exit;
}

const struct command command_tools = {
    .name = "tools",
    .summary = T_CLI_CMD_TOOLS,
    .usage = "[test TOOL [JSON]] [options]",
    .takes = TAKES(TOOLS) | TAKES(POLICY) | TAKES(CONFIG) | TAKES(OUTPUT) | TAKES(SANDBOX) |
             TAKES(EXEC_NETWORK) | TAKES(ROOT) | TAKES(PACK),
    .configured = true,
    .run = run,
};
