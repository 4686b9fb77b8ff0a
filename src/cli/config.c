/* Reads the config. What keys there are is the option table's business; what a
 * policy may hold is src/policy's. */
#include "cli/config.h"

#include "cli/env.h"
#include "cli/near.h"
#include "core/price.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_BYTES_MAX (1u << 20) /* written by hand; more is another file */

/* A value's place in the file, for the sentence. */
static enum rein_code at(const struct str text, const struct json *node, enum rein_code code,
                         struct err *err) {
  size_t end = (size_t)(node->source.p - text.p);
  err->line = 1;
  err->column = 1;
  for (size_t i = 0; i < end; i++) {
    bool line_end = text.p[i] == '\n';
    bool inside = ((unsigned char)text.p[i] & 0xC0) == 0x80;
    err->line += line_end;
    err->column = line_end ? 1 : err->column + !inside;
  }
  return code;
}

static enum rein_code wrong_type(const struct json *node, enum text_id wanted, struct err *err) {
  return ERR(err, REIN_INPUT, wanted, node->key, node->source);
}

/* An array of names as the flag would write them: a,b. */
static enum rein_code join_names(struct arena *arena, const struct json *node, struct str *text,
                                 struct err *err) {
  struct buf b;
  bool ok = true;
  if (!json_is(node, JSON_ARRAY)) return wrong_type(node, T_CLI_KEY_NAMES, err);
  for (const struct json *name = node->first; name; name = name->next) {
    bool plain = json_is(name, JSON_STRING) && !str_blank(name->text);
    if (!plain || str_find_char(name->text, ',') < name->text.n)
      return wrong_type(node, T_CLI_KEY_NAMES, err);
  }
  buf_init(&b, CONFIG_BYTES_MAX);
  if (!node->first) buf_lit(&b, "none");
  for (const struct json *name = node->first; name; name = name->next) {
    if (name != node->first) buf_c(&b, ',');
    buf_put(&b, name->text);
  }
  ok = !b.fail && arena_str(arena, buf_str(&b), text);
  buf_release(&b);
  return ok ? REIN_OK : ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
}

static enum rein_code money_text(const struct json *node, struct str *text, struct err *err) {
  *text = json_is(node, JSON_NUMBER) ? node->source : json_text(node);
  return text->n ? REIN_OK : wrong_type(node, T_CLI_KEY_MONEY, err);
}

/* The text of the value as a flag would have it. */
static enum rein_code flag_text(struct cli *cli, const struct option_row *row,
                                const struct json *node, struct str *text, struct err *err) {
  int64_t whole;
  switch (row->kind) {
  case OPTION_FLAG:
    if (json_is(node, JSON_TRUE) || json_is(node, JSON_FALSE)) return REIN_OK;
    return wrong_type(node, T_CLI_KEY_BOOL, err);
  case OPTION_LIST: return join_names(&cli->arena, node, text, err);
  case OPTION_NUMBER:
  case OPTION_LIMIT:
    *text = json_is(node, JSON_STRING) && row->kind == OPTION_LIMIT ? node->text : node->source;
    if (json_is(node, JSON_NUMBER) && json_int(node, &whole)) return REIN_OK;
    if (str_is(*text, "off")) return REIN_OK;
    return wrong_type(node, row->kind == OPTION_LIMIT ? T_CLI_KEY_LIMIT : T_CLI_KEY_NUMBER, err);
  case OPTION_RULE: cli->policy = node; return REIN_OK;
  case OPTION_MODELS: cli->models = node; return models_check(node, err);
  case OPTION_MONEY: return money_text(node, text, err);
  case OPTION_TEXT:
  case OPTION_WORD:
  case OPTION_SPAN:
  case OPTION_LATER: break;
  }
  *text = json_text(node);
  return json_is(node, JSON_STRING) ? REIN_OK : wrong_type(node, T_CLI_KEY_TEXT, err);
}

static enum rein_code unknown_key(const struct json *node, struct err *err) {
  struct near near = {.wanted = node->key};
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (option_rows[i].key) near_try(&near, str_of(option_rows[i].key));
  if (near.best.n) return ERR(err, REIN_INPUT, T_CLI_UNKNOWN_KEY_NEAR, node->key, near.best);
  return ERR(err, REIN_INPUT, T_CLI_UNKNOWN_KEY, node->key);
}

static enum rein_code take_key(struct cli *cli, const struct json *node, struct err *err) {
  struct str text = STR_NONE;
  struct value value = {.from = FROM_CONFIG};
  if (str_is(node->key, "$schema")) return REIN_OK; /* editors find the schema by it */
  enum option_id id = option_by_key(node->key);
  if (id == OPTION_COUNT) return unknown_key(node, err);
  const struct option_row *row = &option_rows[id];
  enum rein_code code = flag_text(cli, row, node, &text, err);
  if (code) return code;
  value.num = json_is(node, JSON_TRUE);
  bool read = row->kind == OPTION_FLAG || row->kind == OPTION_RULE || row->kind == OPTION_MODELS;
  if (!read) code = value_read(row, node->key, text, &value, err);
  if (!code && value.adds) code = ERR(err, REIN_INPUT, T_CLI_BAD_LIMIT, node->key, text);
  if (!code && cli->options.values[id].from == FROM_DEFAULT) cli->options.values[id] = value;
  return code;
}

static enum rein_code take_all(struct cli *cli, struct str text, struct err *err) {
  struct json *doc;
  enum rein_code code = json_parse(&cli->arena, text, JSON_COMMENTS | JSON_UNIQUE, &doc, err);
  if (code) return code;
  if (!json_is(doc, JSON_OBJECT)) return ERR(err, REIN_INPUT, T_CLI_CONFIG_NOT_OBJECT);
  for (const struct json *node = doc->first; node; node = node->next) {
    code = take_key(cli, node, err);
    if (code) return at(text, node, code, err);
  }
  return REIN_OK;
}

/* Where the config lies; false: nowhere, and that is fine. */
static bool find(struct cli *cli, struct str *path) {
  const struct value *flag = cli_value(cli, OPTION_ID_CONFIG);
  *path = flag->text;
  if (flag->from != FROM_DEFAULT) return true;
  if (!env_config_path(&cli->arena, cli->envp, path)) return false;
  /* Only what is not there may be passed over: a link to nothing, or a folder
   * that may not be entered, hides rules that somebody wrote. */
  struct stat st;
  return lstat(path->p, &st) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

int config_load(struct cli *cli) {
  struct str path, text;
  struct err err = {0};
  if (!find(cli, &path)) return 0;
  if (cli_read_file(cli, path, CONFIG_BYTES_MAX, &text, &err)) return cli_fail(cli, &err);
  if (take_all(cli, text, &err)) {
    cli_say_at(cli, path, &err);
    return err.code == REIN_MEMORY ? 1 : 2; /* too deep is the file's fault, too */
  }
  cli->config_path = path;
  return 0;
}
