/* The option table: parsing, --help, the man page, completions, the config's
 * keys and its schema are all read from these rows.
 *
 *   struct options o = {0};
 *   options_parse(&o, argc, argv, &err);
 *   const struct value *v = &o.values[OPTION_MAX_TURNS];   // v->from tells who set it
 *
 * It knows spelling, not meaning: setup.c makes a run of the values.
 */
#pragma once

#include "base/arena.h"
#include "base/err.h"

#include <rein.h>

enum option_kind {
  OPTION_FLAG,   /* no value; in config true or false */
  OPTION_TEXT,   /* any text that is not blank */
  OPTION_LIST,   /* names, comma separated; in config an array of them */
  OPTION_WORD,   /* one of the words that `arg` lists */
  OPTION_NUMBER, /* a whole number */
  OPTION_LIMIT,  /* a whole number, or off */
  OPTION_SPAN,   /* a time such as 90s or 1h30m, or off; kept in milliseconds */
  OPTION_MONEY,  /* dollars, or off; kept in micro-dollars */
  OPTION_MODELS, /* an object, in config alone */
  OPTION_RULE,   /* RULE=VERDICT, given as often as needed; in config an object */
  OPTION_LATER,  /* meant to come, and not built: refused by name */
};

#define COUNT_MAX INT64_C(1000000000000) /* sums of any few of them stay far below overflow */

/* id, name, letter, argument, kind, config key, least, most.
 * Each has a summary T_CLI_OPT_<id> (OPTION_LATER rows share one). */
#define OPTIONS(X)                                                                                 \
  X(MODEL, "model", 'm', "P/M", TEXT, "model", 0, 0)                                               \
  X(BASE_URL, "base-url", 0, "URL", TEXT, "base_url", 0, 0)                                        \
  X(QUIRKS, "quirks", 0, "plain|openai|azure|deepseek|mistral|groq|openrouter|anthropic|gemini",   \
    WORD, "quirks", 0, 0)                                                                          \
  X(WIRE, "wire", 0,                                                                               \
    "openai-strict-2024|openai-strict|openai|anthropic-strict|anthropic|llama.cpp|gemini", WORD,   \
    "wire", 0, 0)                                                                                  \
  X(SYSTEM, "system", 0, "TEXT|@FILE", TEXT, "system", 0, 0)                                       \
  X(ROOT, "root", 'C', "DIR", TEXT, "root", 0, 0)                                                  \
  X(TOOLS, "tools", 't', "LIST", LIST, "tools", 0, 0)                                              \
  X(PACK, "pack", 0, "NAMES|FILES", LIST, "packs", 0, 0)                                           \
  X(MAX_TURNS, "max-turns", 0, "N|off", LIMIT, "max_turns", 0, COUNT_MAX)                          \
  X(TOKEN_BUDGET, "token-budget", 0, "N|off", LIMIT, "token_budget", 0, COUNT_MAX)                 \
  X(COST_LIMIT, "cost-limit", 0, "USD|off", MONEY, "cost_limit", 0, COUNT_MAX)                     \
  X(TIME_LIMIT, "time-limit", 0, "TIME|off", SPAN, "time_limit", 0, COUNT_MAX)                     \
  X(NO_PROGRESS, "no-progress", 0, "on|2-turns|3-in-a-row|3-in-all|off", WORD, "no_progress", 0,   \
    0)                                                                                             \
  X(COMPACT_AT, "compact-at", 0, "PERCENT|off", LIMIT, "compact_at", 1, 100)                       \
  X(CONTEXT_WINDOW, "context-window", 0, "N", NUMBER, "context_window", 1, COUNT_MAX)              \
  X(WRAP_UP, "wrap-up", 0, NULL, FLAG, "wrap_up", 0, 0)                                            \
  X(OUTPUT_LIMIT, "output-limit", 0, "N", NUMBER, "output_limit", 1, COUNT_MAX)                    \
  X(IDLE_LIMIT, "idle-limit", 0, "TIME|off", SPAN, "idle_limit", 1, COUNT_MAX)                     \
  X(RETRIES, "retries", 0, "N|off", LIMIT, "retries", 0, 100)                                      \
  X(MODELS, NULL, 0, "OBJECT", MODELS, "models", 0, 0)                                             \
  X(SANDBOX, "sandbox", 0, "full|helper|off", WORD, "sandbox", 0, 0)                               \
  X(EXEC_NETWORK, "exec-network", 0, NULL, FLAG, "exec_network", 0, 0)                             \
  X(EXEC_ENV, NULL, 0, "NAMES", LIST, "exec_env", 0, 0)                                            \
  X(EXEC_MEMORY, NULL, 0, "N|off", LIMIT, "exec_memory", 64, 100000000)                            \
  X(POLICY, "policy", 0, "RULE=VERDICT", RULE, "policy", 0, 0)                                     \
  X(CONFIG, "config", 0, "FILE", TEXT, NULL, 0, 0)                                                 \
  X(OUTPUT, "output", 0, "text|json|stream-json", WORD, "output", 0, 0)                            \
  X(LANG, "lang", 0, "ko|en", WORD, "lang", 0, 0)                                                  \
  X(MODEL_LANG, NULL, 0, "ko|en", WORD, "model_lang", 0, 0)                                        \
  X(READ_LIMIT, NULL, 0, "N", NUMBER, "read_limit", 1, 10000000)                                   \
  X(LOG, "log", 0, "FILE", TEXT, "log", 0, 0)                                                      \
  X(STORE, "store", 0, "FILE", TEXT, "store", 0, 0)                                                \
  X(NO_STORE, "no-store", 0, NULL, FLAG, NULL, 0, 0)                                               \
  X(LAST, "last", 0, NULL, FLAG, NULL, 0, 0)                                                       \
  X(QUIET, "quiet", 'q', NULL, FLAG, "quiet", 0, 0)                                                \
  X(DRY_RUN, "dry-run", 0, NULL, FLAG, NULL, 0, 0)                                                 \
  X(PORT, "port", 0, "N", NUMBER, NULL, 0, 65535)                                                  \
  X(HELP, "help", 'h', NULL, FLAG, NULL, 0, 0)                                                     \
  X(VERSION, "version", 'V', NULL, FLAG, NULL, 0, 0)                                               \
  X(MAN, "man", 0, NULL, FLAG, NULL, 0, 0)                                                         \
  X(SCHEMA, "schema", 0, NULL, FLAG, NULL, 0, 0)                                                   \
  X(COMPLETION, "completion", 0, "bash|zsh|fish", WORD, NULL, 0, 0)                                \
  X(EFFORT, "effort", 0, "E", LATER, NULL, 0, 0)                                                   \
  X(STRICT, "strict", 0, NULL, FLAG, "strict", 0, 0)                                               \
  X(SKIP_BAD_TOOLS, "skip-bad-tools", 0, NULL, FLAG, "skip_bad_tools", 0, 0)

enum option_id {
#define X(id, name, letter, arg, kind, key, least, most) OPTION_ID_##id,
  OPTIONS(X)
#undef X
      OPTION_COUNT
};

struct option_row {
  const char *name; /* NULL: only in config */
  char letter;
  const char *arg; /* NULL: takes none */
  enum option_kind kind;
  const char *key; /* in config; NULL: not there */
  int64_t least, most;
  int summary; /* enum text_id */
};
extern const struct option_row option_rows[OPTION_COUNT];

enum value_from { FROM_DEFAULT = 0, FROM_CONFIG, FROM_FLAG };

struct value {
  enum value_from from; /* FROM_DEFAULT: not given */
  struct str text;      /* as written; borrowed */
  bool adds;            /* +N of a limit: to what the run has; see command.h */
  int64_t num;          /* FLAG 0 or 1; NUMBER; LIMIT, SPAN (ms), MONEY, REIN_OFF when off */
};

#define RULES_MAX 256 /* --policy flags on one command line */
#define WORDS_MAX 16  /* words that are no options: more is a task that lost its quotes */

struct options {
  struct value values[OPTION_COUNT];
  struct str rules[RULES_MAX]; /* --policy, in order */
  size_t rule_count;
  struct str words[WORDS_MAX];
  size_t word_count;
  bool escaped; /* words[0] stood behind -- and is no command */
};

/* Reads argv[1..argc). Errors: REIN_INPUT, a sentence that names the option,
 * its value and what would be right. */
enum rein_code options_parse(struct options *options, int argc, char *const *argv, struct err *err)
    REIN_CHECKED;
/* `text` as a value of the row, checked; *value is changed on success alone.
 * `shown` names it in the sentence: --max-turns, or a key of the config. */
enum rein_code value_read(const struct option_row *row, struct str shown, struct str text,
                          struct value *value, struct err *err) REIN_CHECKED;
/* The row of a config key; OPTION_COUNT: none. */
enum option_id option_by_key(struct str key);
/* The i-th word of a list such as "ko|en"; false: no more. */
bool option_word(const char *arg, size_t i, struct str *word);
