/* The pages that are kept in docs/ and are printed from the tables: man page
 * and the schema of the config. English; completion.c has the shells. */
#include "cli/help.h"

#include "json/write.h"
#include "wire/wires.h"

/* Text for troff: a line that begins with a dot or quote, and backslashes. */
static void put_roff(struct buf *out, struct str s) {
  for (size_t i = 0; i < s.n; i++) {
    if (s.p[i] == '\\')
      buf_lit(out, "\\e");
    else if (s.p[i] == '-')
      buf_lit(out, "\\-");
    else if ((s.p[i] == '.' || s.p[i] == '\'') && i == 0)
      buf_fmt(out, "\\&%c", s.p[i]);
    else
      buf_c(out, s.p[i]);
  }
  buf_c(out, '\n');
}

static void put_sentence(struct buf *out, int id) {
  put_roff(out, str_of(text_raw((enum text_id)id, REIN_ENGLISH)));
}

static void put_term(struct buf *out, const struct option_row *row) {
  struct buf term;
  buf_init(&term, 256);
  if (row->letter) buf_fmt(&term, "-%c, ", row->letter);
  buf_fmt(&term, "--%s", row->name);
  if (row->arg) buf_fmt(&term, " %s", row->arg);
  buf_lit(out, ".TP\n.B ");
  put_roff(out, buf_str(&term));
  put_sentence(out, row->summary);
  buf_release(&term);
}

static void put_exits(struct buf *out) {
  static const struct {
    const char *word;
    int exit;
  } exits[] = {
#define REIN_X(id, word, exit) {word, exit},
      REIN_OUTCOMES(REIN_X)
#undef REIN_X
  };
  buf_lit(out, ".SH EXIT STATUS\n");
  for (size_t i = 0; i < sizeof exits / sizeof exits[0]; i++)
    buf_fmt(out, ".TP\n.B %d\n%s\n", exits[i].exit, exits[i].word);
  buf_lit(out, ".TP\n.B 129, 130, 143\ncancelled by SIGHUP, SIGINT, SIGTERM\n");
}

static void put_variables(struct buf *out) {
  static const char *const names[] = {
      "GITHUB_TOKEN, GITHUB_API_URL", "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY",
      "SSL_CERT_FILE, SSL_CERT_DIR",  "XDG_CONFIG_HOME, XDG_STATE_HOME, HOME",
      "LC_ALL, LC_MESSAGES, LANG",    "NO_COLOR, TERM"};
  buf_lit(out, ".SH ENVIRONMENT\n");
  for (size_t i = 0; wires[i]; i++)
    if (wires[i]->key_env)
      buf_fmt(out, ".TP\n.B %s, %s\nkey and address of %s/MODEL\n", wires[i]->key_env,
              wires[i]->url_env ? wires[i]->url_env : "-", wires[i]->name);
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    buf_fmt(out, ".TP\n.B %s\nas other programs read them\n", names[i]);
}

void page_man(struct buf *out) {
  buf_lit(out, ".\\\" Printed by `rein help --man`; do not edit.\n");
  buf_fmt(out, ".TH REIN 1 \"\" \"rein %s\" \"User commands\"\n", REIN_VERSION);
  buf_lit(out, ".SH NAME\nrein \\- ");
  put_sentence(out, T_CLI_MAN_NAME);
  buf_lit(out, ".SH SYNOPSIS\n");
  for (size_t i = 0; commands[i]; i++) {
    buf_fmt(out, "%s.B rein %s\n", i ? ".br\n" : "", commands[i]->name);
    put_roff(out, str_of(commands[i]->usage));
  }
  buf_lit(out, ".SH DESCRIPTION\n");
  put_sentence(out, T_CLI_HELP_TITLE);
  for (size_t i = 0; commands[i]; i++) {
    buf_fmt(out, ".SH \"rein %s\"\n", commands[i]->name);
    put_sentence(out, commands[i]->summary);
    for (size_t k = 0; k < OPTION_COUNT; k++)
      if (help_shows(commands[i], (enum option_id)k)) put_term(out, &option_rows[k]);
  }
  put_exits(out);
  put_variables(out);
  buf_lit(out, ".SH FILES\n.TP\n.B $XDG_CONFIG_HOME/rein/config.json\n");
  put_sentence(out, T_CLI_MAN_CONFIG);
  buf_lit(out, ".TP\n.B $XDG_STATE_HOME/rein/runs.db\n");
  put_sentence(out, T_CLI_MAN_STATE);
}

/* -- the schema -- */

static void put_words(struct json_out *w, const char *arg) {
  struct str word;
  json_key(w, "enum");
  json_open(w, '[');
  for (size_t i = 0; option_word(arg, i, &word); i++)
    json_put_text(w, word);
  json_close(w, ']');
}

static void put_type(struct json_out *w, const char *type) {
  json_key(w, "type");
  json_put_text(w, str_of(type));
}

static void put_whole(struct json_out *w, const struct option_row *row) {
  put_type(w, "integer");
  json_key(w, "minimum");
  json_put_num(w, row->least);
  json_key(w, "maximum");
  json_put_num(w, row->most);
}

static void put_policy(struct json_out *w) {
  put_type(w, "object");
  json_key(w, "properties");
  json_put_raw(w, STR("{\"default\":{\"enum\":[\"allow\",\"ask\",\"deny\"]},"
                      "\"rules\":{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":["
                      "{\"enum\":[\"allow\",\"ask\",\"deny\"]},"
                      "{\"type\":\"object\",\"properties\":{"
                      "\"verdict\":{\"enum\":[\"allow\",\"ask\",\"deny\"]},"
                      "\"why\":{\"type\":\"string\"}},\"required\":[\"verdict\"],"
                      "\"additionalProperties\":false}]}}}"));
  json_key(w, "additionalProperties");
  json_put_bool(w, false);
}

static void put_limit(struct json_out *w, const struct option_row *row) {
  json_key(w, "anyOf");
  json_open(w, '[');
  json_open(w, '{');
  put_whole(w, row);
  json_close(w, '}');
  json_put_raw(w, STR("{\"const\":\"off\"}"));
  json_close(w, ']');
}

static void put_models(struct json_out *w) {
  static const char *const keys[] = {"input",           "output",          "cache_read",
                                     "cache_write",     "long_input",      "long_output",
                                     "long_cache_read", "long_cache_write"};
  put_type(w, "object");
  json_key(w, "additionalProperties");
  json_open(w, '{');
  put_type(w, "object");
  json_key(w, "properties");
  json_open(w, '{');
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    json_key(w, keys[i]);
    json_put_raw(w, STR("{\"type\":\"number\",\"minimum\":0,\"maximum\":1000000}"));
  }
  json_key(w, "long_above");
  json_put_raw(w, STR("{\"type\":\"integer\",\"minimum\":1}"));
  json_key(w, "window");
  json_put_raw(w, STR("{\"type\":\"integer\",\"minimum\":1}"));
  json_close(w, '}');
  json_key(w, "additionalProperties");
  json_put_bool(w, false);
  json_close(w, '}');
}

static void put_kind(struct json_out *w, const struct option_row *row) {
  switch (row->kind) {
  case OPTION_FLAG: put_type(w, "boolean"); break;
  case OPTION_LIST:
    put_type(w, "array");
    json_key(w, "items");
    json_put_raw(w, STR("{\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9_-]{1,64}$\"}"));
    break;
  case OPTION_WORD: put_words(w, row->arg); break;
  case OPTION_NUMBER: put_whole(w, row); break;
  case OPTION_LIMIT: put_limit(w, row); break;
  case OPTION_SPAN:
    put_type(w, "string");
    json_key(w, "pattern");
    json_put_text(w, STR("^(off|0|(?=[0-9])([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?)$"));
    break;
  case OPTION_MONEY:
    json_key(w, "anyOf");
    json_put_raw(w, STR("[{\"type\":\"number\",\"minimum\":0,\"maximum\":1000000},"
                        "{\"type\":\"string\",\"pattern\":\"^(off|[0-9]+(\\\\.[0-9]+)?)$\"}]"));
    break;
  case OPTION_MODELS: put_models(w); break;
  case OPTION_RULE: put_policy(w); break;
  case OPTION_TEXT:
    put_type(w, "string");
    json_key(w, "pattern");
    json_put_text(w, STR("\\S"));
    break;
  case OPTION_LATER: break;
  }
}

void page_schema(struct buf *out) {
  struct json_out w = json_out(out);
  json_open(&w, '{');
  json_key(&w, "$schema");
  json_put_text(&w, STR("https://json-schema.org/draft/2020-12/schema"));
  json_key(&w, "title");
  json_put_text(&w, STR("config of rein"));
  put_type(&w, "object");
  json_key(&w, "additionalProperties");
  json_put_bool(&w, false);
  json_key(&w, "properties");
  json_open(&w, '{');
  json_key(&w, "$schema");
  json_put_raw(&w, STR("{\"type\":\"string\"}"));
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = &option_rows[i];
    if (!row->key) continue;
    buf_c(out, '\n');
    json_key(&w, row->key);
    json_open(&w, '{');
    json_key(&w, "description");
    json_put_text(&w, str_of(text_raw((enum text_id)row->summary, REIN_ENGLISH)));
    put_kind(&w, row);
    json_close(&w, '}');
  }
  json_close(&w, '}');
  json_close(&w, '}');
  buf_c(out, '\n');
}
