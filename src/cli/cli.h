/* What every command of the program gets: language, options, the screen, the
 * environment. program.c builds it; this part only holds it and talks.
 *
 *   return cli_fail(cli, &err);                       // a sentence, and the exit code
 *   cli_say(cli, T_CLI_IGNORED_CONFIG, path);         // "rein: …" on stderr
 */
#pragma once

#include "cli/options.h"
#include "cli/screen.h"
#include "json/json.h"
#include "text/text.h"

#define CLI_ARENA_MAX (64u << 20) /* config, script, stdin and what is made of them */

struct command;

#define PACKS_MAX 16 /* a run with more services than that has more than one job */

struct declared;
struct cli {
  struct arena arena;
  char *const *envp;
  enum rein_lang lang;
  struct secrets secrets;
  struct screen screen;
  struct options options; /* flags, and the config where no flag was given */
  const struct command *command;
  struct str words[WORDS_MAX]; /* behind the command's name */
  size_t word_count;
  const struct json *policy;         /* of the config; NULL none */
  const struct json *models;         /* likewise */
  struct str config_path;            /* the config that was read; empty none */
  struct declared *packs[PACKS_MAX]; /* that --pack and the config name; packs.h */
  size_t pack_count;
};

/* The value of an option: cli_value(cli, OPTION_ID_MODEL)->text. */
static inline const struct value *cli_value(const struct cli *cli, enum option_id id) {
  return &cli->options.values[id];
}

void cli_say_args(struct cli *cli, enum text_id id, const struct str *args, size_t n);
#define cli_say(cli, id, ...)                                                                      \
  cli_say_args((cli), (id), TEXT_ARGS(__VA_ARGS__) + 1,                                            \
               sizeof TEXT_ARGS(__VA_ARGS__) / sizeof(struct str) - 1)
/* Says the error's sentence; the exit code that belongs to it: 2 for what the
 * user gave, else 1. */
int cli_fail(struct cli *cli, const struct err *err);
/* Fails with a sentence of our own, exit 2. */
#define cli_usage(cli, id, ...)                                                                    \
  (cli_say_args((cli), (id), TEXT_ARGS(__VA_ARGS__) + 1,                                           \
                sizeof TEXT_ARGS(__VA_ARGS__) / sizeof(struct str) - 1),                           \
   2)
int cli_no_memory(struct cli *cli); /* says so; 1 */
/* Writes a command's whole output to stdout; 0, or 1 when stdout failed. */
int cli_print(struct cli *cli, const struct buf *text);
/* Says why stdout failed, when it did: 1, else `exit`. */
int cli_exit(struct cli *cli, int exit);
/* A whole file into the arena, terminated; `what` names it in the sentence. */
enum rein_code cli_read_file(struct cli *cli, struct str path, size_t max, struct str *text,
                             struct err *err) REIN_CHECKED;
/* "config.json, line 3, column 7: " and the error's sentence. */
void cli_say_at(struct cli *cli, struct str path, const struct err *err);
