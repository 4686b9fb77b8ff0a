/* The table of providers, and how a row of it is found. */
#include "wire/quirks.h"

static const struct quirks table[] = {
    {.host = "api.openai.com", .null_content = true, .new_limit = true, .pads = true},
    {.host = ".openai.azure.com", .null_content = true, .new_limit = true, .pads = true},
    {.host = "api.deepseek.com", .echo = ECHO_CONTENT},
    {.host = "api.mistral.ai", .ids_of_9 = true, .no_usage_asked = true, .plain_calls = true},
    {.host = "api.groq.com", .plain_calls = true},
    {.host = "openrouter.ai", .echo = ECHO_DETAILS},
    {.host = "api.anthropic.com", .null_content = true, .plain_calls = true},
};

static const struct quirks others = {.host = ""};

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

const struct quirks *quirks_find(struct str address) {
  struct str host = host_of(address);
  for (size_t i = 0; i < sizeof table / sizeof *table; i++)
    if (is_row(host, str_of(table[i].host))) return &table[i];
  return &others;
}
