/* Reads the command line by the option table. What a single value may look like
 * is value.c's; which command takes which option is command.c's. */
#include "cli/options.h"

#include "cli/near.h"
#include "text/text.h"

#define T_CLI_OPT_EFFORT T_CLI_OPT_LATER

const struct option_row option_rows[OPTION_COUNT] = {
#define X(id, name, letter, arg, kind, key, least, most)                                           \
  {name, letter, arg, OPTION_##kind, key, least, most, T_CLI_OPT_##id},
    OPTIONS(X)
#undef X
};

/* Where the reading stands. */
struct cursor {
  struct options *options;
  char *const *argv;
  int argc, at;
};

enum option_id option_by_key(struct str key) {
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (option_rows[i].key && str_is(key, option_rows[i].key)) return (enum option_id)i;
  return OPTION_COUNT;
}

bool option_word(const char *arg, size_t i, struct str *word) {
  struct str rest = str_of(arg);
  for (size_t k = 0; str_next(&rest, '|', word); k++)
    if (k == i) return true;
  return false;
}

static enum option_id by_name(struct str name) {
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (option_rows[i].name && str_is(name, option_rows[i].name)) return (enum option_id)i;
  return OPTION_COUNT;
}

static enum option_id by_letter(char letter) {
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (option_rows[i].letter == letter) return (enum option_id)i;
  return OPTION_COUNT;
}

static enum rein_code unknown(struct str name, struct err *err) {
  struct near near = {.wanted = name};
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (option_rows[i].name) near_try(&near, str_of(option_rows[i].name));
  if (near.best.n) return ERR(err, REIN_INPUT, T_CLI_UNKNOWN_OPTION_NEAR, name, near.best);
  return ERR(err, REIN_INPUT, T_CLI_UNKNOWN_OPTION, name);
}

/* Keeps one value; `shown` is the option as it was written. */
static enum rein_code take(struct options *options, enum option_id id, struct str shown,
                           struct str text, struct err *err) {
  struct value value = {.from = FROM_FLAG, .text = text, .num = 1};
  struct num_text room;
  enum rein_code code = value_read(&option_rows[id], shown, text, &value, err);
  if (code) return code;
  options->values[id] = value;
  if (option_rows[id].kind != OPTION_RULE) return REIN_OK;
  if (options->rule_count == RULES_MAX)
    return ERR(err, REIN_INPUT, T_CLI_TOO_MANY_RULES, str_num(&room, RULES_MAX));
  options->rules[options->rule_count++] = text;
  return REIN_OK;
}

static enum rein_code take_next(struct cursor *c, enum option_id id, struct str shown,
                                struct err *err) {
  if (c->at + 1 >= c->argc)
    return ERR(err, REIN_INPUT, T_CLI_NO_VALUE, shown, str_of(option_rows[id].arg));
  return take(c->options, id, shown, str_of(c->argv[++c->at]), err);
}

/* --name, --name=value, --name value. */
static enum rein_code read_long(struct cursor *c, struct str arg, struct err *err) {
  struct str shown = arg, value = STR_NONE;
  bool joined = str_split(arg, '=', &shown, &value);
  struct str name = str_part(shown, 2, SIZE_MAX);
  enum option_id id = by_name(name);
  if (id == OPTION_COUNT) return unknown(name, err);
  const struct option_row *row = &option_rows[id];
  if (row->kind == OPTION_LATER) return ERR(err, REIN_INPUT, T_CLI_LATER_OPTION, shown);
  if (!row->arg && joined) return ERR(err, REIN_INPUT, T_CLI_TAKES_NONE, shown, value);
  if (!row->arg || joined) return take(c->options, id, shown, value, err);
  return take_next(c, id, shown, err);
}

/* -q, -mVALUE, -m VALUE, -qm VALUE. */
static enum rein_code read_short(struct cursor *c, struct str arg, struct err *err) {
  for (size_t i = 1; i < arg.n; i++) {
    char letters[2] = {'-', arg.p[i]};
    struct str shown = {letters, 2};
    enum option_id id = by_letter(arg.p[i]);
    if (id == OPTION_COUNT) return ERR(err, REIN_INPUT, T_CLI_UNKNOWN_LETTER, arg);
    if (option_rows[id].arg) {
      if (i + 1 == arg.n) return take_next(c, id, shown, err);
      return take(c->options, id, shown, str_part(arg, i + 1, SIZE_MAX), err);
    }
    enum rein_code code = take(c->options, id, shown, STR_NONE, err);
    if (code) return code;
  }
  return REIN_OK;
}

static enum rein_code take_word(struct options *options, struct str word, struct err *err) {
  if (options->word_count == WORDS_MAX) return ERR(err, REIN_INPUT, T_CLI_TASK_UNQUOTED, word);
  options->words[options->word_count++] = word;
  return REIN_OK;
}

enum rein_code options_parse(struct options *options, int argc, char *const *argv,
                             struct err *err) {
  struct cursor c = {.options = options, .argv = argv, .argc = argc};
  bool ended = false;
  for (c.at = 1; c.at < argc; c.at++) {
    struct str arg = str_of(argv[c.at]);
    enum rein_code code;
    if (ended || arg.n < 2 || arg.p[0] != '-') {
      options->escaped |= ended && options->word_count == 0;
      code = take_word(options, arg, err);
    } else if (str_is(arg, "--")) {
      ended = true;
      code = REIN_OK;
    } else if (arg.p[1] == '-') {
      code = read_long(&c, arg, err);
    } else {
      code = read_short(&c, arg, err);
    }
    if (code) return code;
  }
  return REIN_OK;
}
