/* What a single value of an option may look like, whether it stands on the
 * command line or in the config. */
#include "cli/options.h"

#include "core/price.h"
#include "text/text.h"

static bool is_digits(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return false;
  return s.n > 0;
}

static enum rein_code out_of_range(const struct option_row *row, struct str shown, struct str text,
                                   struct err *err) {
  struct num_text least, most;
  return ERR(err, REIN_INPUT, T_CLI_RANGE, shown, text, str_num(&least, row->least),
             str_num(&most, row->most));
}

static enum rein_code read_number(const struct option_row *row, struct str shown, struct str text,
                                  int64_t *num, struct err *err) {
  bool can_be_off = row->kind == OPTION_LIMIT;
  if (can_be_off && str_is(text, "off")) {
    *num = REIN_OFF;
    return REIN_OK;
  }
  if (!is_digits(text))
    return ERR(err, REIN_INPUT, can_be_off ? T_CLI_BAD_LIMIT : T_CLI_BAD_NUMBER, shown, text);
  int64_t n;
  if (!str_to_num(text, &n) || n < row->least || n > row->most)
    return out_of_range(row, shown, text, err);
  *num = n;
  return REIN_OK;
}

/* Milliseconds of a unit at the start of s, and its length; 0 none. */
static int64_t unit_ms(struct str s, size_t *len) {
  static const struct {
    const char *name;
    int64_t ms;
  } units[] = {{"ms", 1}, {"h", 3600000}, {"m", 60000}, {"s", 1000}};
  for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
    *len = strlen(units[i].name);
    if (str_starts(s, str_of(units[i].name))) return units[i].ms;
  }
  return 0;
}

/* 1h30m, 90s, 500ms: each unit once, the larger before the smaller. */
static bool span_ms(struct str s, int64_t *ms) {
  int64_t total = 0, last = INT64_MAX;
  if (str_is(s, "0")) {
    *ms = 0;
    return true;
  }
  while (s.n) {
    size_t digits = 0, len;
    while (digits < s.n && s.p[digits] >= '0' && s.p[digits] <= '9')
      digits++;
    int64_t n, unit = unit_ms(str_part(s, digits, SIZE_MAX), &len);
    if (!digits || !unit || unit >= last || !str_to_num(str_part(s, 0, digits), &n)) return false;
    if (n > COUNT_MAX / unit) return false;
    total += n * unit;
    last = unit;
    s = str_part(s, digits + len, SIZE_MAX);
  }
  *ms = total;
  return last != INT64_MAX;
}

static enum rein_code read_span(const struct option_row *row, struct str shown, struct str text,
                                int64_t *num, struct err *err) {
  int64_t ms;
  if (str_is(text, "off")) {
    *num = REIN_OFF;
    return REIN_OK;
  }
  if (!span_ms(text, &ms)) return ERR(err, REIN_INPUT, T_CLI_BAD_SPAN, shown, text);
  if (ms > row->most) return ERR(err, REIN_INPUT, T_CLI_BAD_SPAN, shown, text);
  if (ms < row->least) return ERR(err, REIN_INPUT, T_CLI_SPAN_ZERO, shown);
  *num = ms;
  return REIN_OK;
}

/* 2, 0.5, 2.50: digits, and at most six behind a point. */
static enum rein_code read_money(const struct option_row *row, struct str shown, struct str text,
                                 int64_t *num, struct err *err) {
  struct str whole = text, rest = STR("0");
  int64_t uusd;
  if (str_is(text, "off")) {
    *num = REIN_OFF;
    return REIN_OK;
  }
  (void)str_split(text, '.', &whole, &rest);
  bool plain = is_digits(whole) && is_digits(rest);
  if (!plain || !price_read(text, &uusd) || uusd < row->least || uusd > row->most)
    return ERR(err, REIN_INPUT, T_CLI_BAD_MONEY, shown, text);
  *num = uusd;
  return REIN_OK;
}

static enum rein_code read_word(const struct option_row *row, struct str shown, struct str text,
                                struct err *err) {
  struct str word;
  for (size_t i = 0; option_word(row->arg, i, &word); i++)
    if (str_eq(word, text)) return REIN_OK;
  return ERR(err, REIN_INPUT, T_CLI_BAD_WORD, shown, text, str_of(row->arg));
}

/* +8 for a run that goes on: whether it may stand there is the command's word. */
static bool adds_to(const struct option_row *row, struct str text) {
  bool limit = row->kind == OPTION_LIMIT || row->kind == OPTION_SPAN || row->kind == OPTION_MONEY;
  return limit && text.n > 1 && text.p[0] == '+' && text.p[1] >= '0' && text.p[1] <= '9';
}

enum rein_code value_read(const struct option_row *row, struct str shown, struct str text,
                          struct value *value, struct err *err) {
  enum rein_code code = REIN_OK;
  struct str number = adds_to(row, text) ? str_part(text, 1, SIZE_MAX) : text;
  if (row->arg && str_blank(text))
    return ERR(err, REIN_INPUT, T_CLI_BLANK_VALUE, shown, str_of(row->arg));
  switch (row->kind) {
  case OPTION_FLAG:
  case OPTION_LATER:
  case OPTION_TEXT:
  case OPTION_LIST:
  case OPTION_MODELS:
  case OPTION_RULE: break;
  case OPTION_WORD: code = read_word(row, shown, text, err); break;
  case OPTION_NUMBER:
  case OPTION_LIMIT: code = read_number(row, shown, number, &value->num, err); break;
  case OPTION_MONEY: code = read_money(row, shown, number, &value->num, err); break;
  case OPTION_SPAN: code = read_span(row, shown, number, &value->num, err); break;
  }
  if (code) return code;
  value->text = text;
  value->adds = number.n < text.n;
  return REIN_OK;
}
