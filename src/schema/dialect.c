/* The tables of dialects.def, and the questions they answer. */
#include "schema/dialect.h"

const struct dialect dialects[DIALECT_COUNT] = {
#define DIALECT(id, word, from, ...) [DIALECT_##id] = {.name = word, .source = from, __VA_ARGS__},
#include "schema/dialects.def"
#undef DIALECT
};

static const struct keyword keywords[] = {
#define KEYWORD(word, of, kind, note) {word, OF_##of, KIND_##kind, T_SCHEMA_##note},
#define T_SCHEMA_NO_NOTE T_NONE
#include "schema/dialects.def"
#undef KEYWORD
};

struct rule {
  enum dialect_id dialect;
  enum treat treat;
  const char *keywords; /* words */
  const char *source;
};

static const struct rule rules[] = {
#define RULE(dialect, treat, keywords, source) {DIALECT_##dialect, TREAT_##treat, keywords, source},
#include "schema/dialects.def"
#undef RULE
};

static bool among(const char *words, struct str word) {
  struct str rest = str_of(words), one;
  while (str_next(&rest, ' ', &one))
    if (str_eq(one, word)) return true;
  return false;
}

const struct dialect *dialect_by_name(struct str name) {
  for (size_t i = 0; i < DIALECT_COUNT; i++)
    if (str_is(name, dialects[i].name)) return &dialects[i];
  return NULL;
}

const struct keyword *keyword_by_word(struct str word) {
  for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
    if (str_is(word, keywords[i].word)) return &keywords[i];
  return NULL;
}

static const struct rule *find_rule(const struct dialect *dialect, struct str keyword) {
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
    if (&dialects[rules[i].dialect] == dialect && among(rules[i].keywords, keyword))
      return &rules[i];
  return NULL;
}

const char *dialect_source(const struct dialect *dialect, struct str keyword) {
  const struct rule *rule = find_rule(dialect, keyword);
  return rule ? rule->source : dialect->source;
}

enum treat dialect_treat(const struct dialect *dialect, struct str keyword) {
  const struct rule *rule = find_rule(dialect, keyword);
  if (rule) return rule->treat;
  if (dialect->shape & SHAPE_FREE) return TREAT_KEEP;
  return keyword_by_word(keyword) ? TREAT_MOVE : TREAT_DROP;
}

bool dialect_takes_format(const struct dialect *dialect, struct str format) {
  return !dialect->formats || among(dialect->formats, format);
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

bool dialect_takes_name(const struct dialect *dialect, struct str name) {
  if (name.n == 0 || name.n > dialect->name_max) return false;
  if (dialect->name_letter && !is_letter(name.p[0]) && name.p[0] != '_') return false;
  for (size_t i = 0; i < name.n; i++)
    if (!is_letter(name.p[i]) && !is_digit(name.p[i]) && name.p[i] != '_' && name.p[i] != '-')
      return false;
  return true;
}

bool dialect_takes_key(const struct dialect *dialect, struct str key, bool at_root) {
  if (dialect->key_max == 0 || (dialect->key_root && !at_root)) return true;
  if (key.n == 0 || key.n > dialect->key_max) return false;
  for (size_t i = 0; i < key.n; i++) {
    bool digit = is_digit(key.p[i]) && (i > 0 || dialect->key_digit);
    struct str more = str_of(dialect->key_more);
    if (!is_letter(key.p[i]) && !digit && str_find_char(more, key.p[i]) == more.n) return false;
  }
  return true;
}
