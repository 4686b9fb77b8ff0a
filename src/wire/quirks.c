/* The table of providers, and how a row of it is found. */
#include "wire/quirks.h"

static const struct quirks table[] = {
    {"plain", .host = "", .loose = "llama.cpp"}, /* many of them make a grammar of every schema */
    {"openai", "api.openai.com", .null_content = true, .new_limit = true, .pads = true,
     .cache_key = true},
    {"azure", ".openai.azure.com", .null_content = true, .new_limit = true, .pads = true,
     .strict = "openai-strict-2024"},
    {"deepseek", "api.deepseek.com", .echo = ECHO_CONTENT},
    {"mistral", "api.mistral.ai", .ids_of_9 = true, .no_usage_asked = true, .plain_calls = true},
    {"groq", "api.groq.com", .plain_calls = true},
    {"openrouter", "openrouter.ai", .echo = ECHO_DETAILS},
    {"anthropic", "api.anthropic.com", .null_content = true, .plain_calls = true},
    {"gemini", "generativelanguage.googleapis.com", .loose = "gemini", .strict = "gemini"},
};
#define ROWS (sizeof table / sizeof *table)
static const struct quirks *const others = &table[0];

static struct str host_of(struct str address) {
  size_t at = str_find(address, STR("://"));
  struct str host = at < address.n ? str_part(address, at + 3, address.n) : STR_NONE;
  host = str_part(host, 0, str_find_char(host, '/'));
  return str_part(host, 0, str_find_char(host, ':'));
}

static bool is_row(struct str host, struct str wanted) {
  if (!str_starts(wanted, STR("."))) return str_eq_nocase(host, wanted);
  if (host.n <= wanted.n) return false;
  return str_eq_nocase(str_part(host, host.n - wanted.n, wanted.n), wanted);
}

const struct quirks *quirks_by_name(struct str name) {
  for (size_t i = 0; i < ROWS; i++)
    if (str_is(name, table[i].name)) return &table[i];
  return NULL;
}

const char *quirks_name(size_t i) {
  return i < ROWS ? table[i].name : NULL;
}

const struct quirks *quirks_find(struct str address) {
  const struct quirks *named = quirks_by_name(address);
  struct str host = host_of(address);
  if (named) return named;
  for (size_t i = 1; i < ROWS; i++)
    if (is_row(host, str_of(table[i].host))) return &table[i];
  return others;
}

const char *quirks_dialect(const struct quirks *q, bool strict) {
  const char *own = strict ? q->strict : q->loose;
  return own ? own : strict ? "openai-strict" : "openai";
}

/* -- what a server refused -- */

static bool set(bool *flag, bool value) {
  bool changed = *flag != value;
  *flag = value;
  return changed;
}

static bool set_echo(struct quirks *q, enum echo echo) {
  bool changed = q->echo != echo;
  q->echo = echo;
  return changed;
}

static bool change(struct quirks *q, enum rewrite repair) {
  switch (repair) {
  case REWRITE_NO_USAGE_ASKED: return set(&q->no_usage_asked, true);
  case REWRITE_NO_PADDING: return set(&q->pads, false);
  case REWRITE_NEW_LIMIT: return set(&q->new_limit, true);
  case REWRITE_OLD_LIMIT: return set(&q->new_limit, false);
  case REWRITE_ECHO: return set_echo(q, ECHO_CONTENT);
  case REWRITE_NO_ECHO: return set_echo(q, ECHO_NONE);
  case REWRITE_PLAIN_CALLS: return set(&q->plain_calls, true);
  case REWRITE_IDS_OF_9: return set(&q->ids_of_9, true);
  case REWRITE_NO_INCLUDE: return set(&q->no_include, true);
  case REWRITE_NO_TOOL_CHOICE: return set(&q->no_tool_choice, true);
  case REWRITE_NO_MARKS: return set(&q->no_marks, true);
  case REWRITE_NONE:
  case REWRITE_COMPACT:
  case REWRITE_MODEL:
  case REWRITE_DROP_THINKING:
  case REWRITE_LOOSE_TOOL:
  case REWRITE_COUNT: break;
  }
  return false;
}

bool quirks_repair(struct arena *arena, enum rewrite repair, const struct quirks **quirks) {
  struct quirks changed = **quirks;
  if (!change(&changed, repair)) return true;
  struct quirks *kept = arena_new(arena, struct quirks);
  if (!kept) return false;
  *kept = changed;
  *quirks = kept;
  return true;
}
