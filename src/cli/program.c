/* Start-up: which command, in which language, with which config. Commands are
 * in cmd_NAME.c; what they have in common is cli.h. */
#include "cli/program.h"

#include "cli/command.h"
#include "cli/config.h"
#include "cli/env.h"
#include "cli/help.h"
#include "cli/packs.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

/* A closed stdin, stdout or stderr must not become the number of a file that is
 * opened later. stdout's stand-in refuses writes, so that a lost answer shows. */
static void fill_closed(void) {
  static const int flags[] = {O_RDONLY, O_RDONLY, O_WRONLY};
  for (int fd = 0; fd < 3; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", flags[fd]) < 0) return;
}

static enum rein_lang lang_of(struct str word, enum rein_lang otherwise) {
  if (str_is(word, "ko")) return REIN_KOREAN;
  return str_is(word, "en") ? REIN_ENGLISH : otherwise;
}

/* The language has to be known before the first complaint. */
static enum rein_lang early_lang(int argc, char *const *argv, char *const *envp) {
  enum rein_lang lang = env_lang(envp);
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    struct str arg = str_of(argv[i]);
    if (str_starts(arg, STR("--lang=")))
      lang = lang_of(str_part(arg, 7, SIZE_MAX), lang);
    else if (str_is(arg, "--lang") && i + 1 < argc)
      lang = lang_of(str_of(argv[i + 1]), lang);
  }
  return lang;
}

/* 0, or the exit code: a name that is promised but not built. */
static int choose(struct cli *cli) {
  struct options *o = &cli->options;
  const struct command *named = o->word_count && !o->escaped ? command_by_name(o->words[0]) : NULL;
  if (!named && o->word_count && !o->escaped && command_is_later(o->words[0]))
    return cli_usage(cli, T_CLI_LATER_COMMAND, o->words[0]);
  cli->command = named ? named : commands[0];
  for (size_t i = named ? 1 : 0; i < o->word_count; i++)
    cli->words[cli->word_count++] = o->words[i];
  return 0;
}

static int check_taken(struct cli *cli) {
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    uint64_t bit = UINT64_C(1) << i;
    if (cli->options.values[i].from != FROM_FLAG) continue;
    if ((cli->command->takes | TAKES_ALWAYS) & bit) continue;
    return cli_usage(cli, T_CLI_NOT_TAKEN, str_of(cli->command->name), str_of(option_rows[i].name));
  }
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const struct value *v = &cli->options.values[i];
    if (!v->adds || (cli->command->adds & UINT64_C(1) << i)) continue;
    return cli_usage(cli, T_CLI_ADDS_NOTHING, str_of(option_rows[i].name), v->text);
  }
  return 0;
}

static int print_version(struct cli *cli) {
  screen_answer(&cli->screen, STR("rein " REIN_VERSION "\n"));
  return cli_exit(cli, 0);
}

static int run_command(struct cli *cli) {
  int exit = choose(cli);
  if (exit) return exit;
  if (cli_value(cli, OPTION_ID_HELP)->from == FROM_FLAG) return help_print(cli, cli->command);
  if (cli_value(cli, OPTION_ID_VERSION)->from == FROM_FLAG) return print_version(cli);
  exit = check_taken(cli);
  if (!exit && cli->command->configured) exit = config_load(cli);
  if (exit) return exit;
  cli->lang = lang_of(cli_value(cli, OPTION_ID_LANG)->text, cli->lang);
  return cli->command->run(cli);
}

int program(int argc, char *const *argv, char *const *envp) {
  struct cli cli = {.envp = envp};
  struct err err = {0};
  int exit;
  fill_closed();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); /* a write past the limit fails, and is told like any other */
  arena_init(&cli.arena, CLI_ARENA_MAX);
  screen_open(&cli.screen, envp, &cli.secrets);
  cli.lang = early_lang(argc, argv, envp);
  if (options_parse(&cli.options, argc, argv, &err))
    exit = cli_fail(&cli, &err);
  else
    exit = run_command(&cli);
  packs_release(&cli);
  arena_release(&cli.arena);
  return exit;
}
