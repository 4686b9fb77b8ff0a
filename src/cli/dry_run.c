/* Asks the machine itself for its first request, so that what is shown is what
 * would go out, byte for byte; the key is never read for it. */
#include "cli/dry_run.h"

#include "base/utf8.h"
#include "cli/session.h"
#include "cli/tool_list.h"
#include "core/limits.h"
#include "driver/address.h"
#include "driver/driver.h"

#define SHOWN_BYTES_MAX (256u << 20)

/* What there is to show, in either form. */
struct shown {
  struct cli *cli;
  const struct setup *setup;
  struct rein_limits limits; /* as they would hold */
  struct address address;
  struct str body; /* of the machine, until it is freed */
  struct str why;
};

/* Drives a machine up to its first request. */
static enum rein_code first_request(struct agent *agent, struct str task, struct str *body,
                                    struct err *err) {
  struct action action;
  enum rein_code code = agent_feed(agent, &(struct event){.kind = EVENT_SAY, .text = task}, err);
  while (!code && agent_next(agent, &action)) {
    if (action.kind == ACTION_SEND) *body = action.body;
    if (action.kind == ACTION_SEND || action.kind == ACTION_DONE) return REIN_OK;
    if (action.kind != ACTION_RESERVE) continue;
    struct event granted = {.kind = EVENT_GRANTED, .id = action.id, .tokens = action.tokens};
    code = agent_feed(agent, &granted, err);
  }
  return code;
}

static void put_limit(struct json_out *w, const char *key, int64_t n) {
  json_key(w, key);
  if (n == REIN_OFF)
    json_put_text(w, STR("off"));
  else
    json_put_num(w, n);
}

static struct str progress_text(const struct cli *cli) {
  struct str word = cli_value(cli, OPTION_ID_NO_PROGRESS)->text;
  return word.n ? word : STR("on");
}

static void put_limits(struct json_out *w, const struct shown *s) {
  int64_t idle = s->setup->idle_ms ? s->setup->idle_ms : IDLE_MS_DEFAULT;
  int64_t output = s->setup->agent.output_limit;
  int retries = s->setup->agent.retries;
  json_open(w, '{');
  put_limit(w, "max_turns", s->limits.max_turns);
  put_limit(w, "token_budget", s->limits.token_budget);
  put_limit(w, "cost_uusd", s->limits.cost_uusd);
  put_limit(w, "time_ms", s->limits.time_ms);
  json_key(w, "no_progress");
  json_put_text(w, progress_text(s->cli));
  put_limit(w, "output_limit", output ? output : OUTPUT_LIMIT_DEFAULT);
  put_limit(w, "idle_ms", idle);
  put_limit(w, "retries", retries == REIN_OFF ? 0 : retries ? retries : 2);
  json_close(w, '}');
}

static void put_policy(struct json_out *w, const struct policy *policy) {
  json_open(w, '{');
  json_key(w, "default");
  json_put_text(w, str_of(verdict_word(policy->fallback)));
  json_key(w, "rules");
  json_open(w, '[');
  for (size_t i = 0; i < policy->count; i++) {
    json_open(w, '{');
    json_key(w, "rule");
    json_put_text(w, policy->rules[i].source);
    json_key(w, "verdict");
    json_put_text(w, str_of(verdict_word(policy->rules[i].verdict)));
    json_close(w, '}');
  }
  json_close(w, ']');
  json_close(w, '}');
}

static void put_headers(struct json_out *w, const struct address *address) {
  struct str name, value;
  json_open(w, '{');
  for (size_t i = 0; address->line[i]; i++) {
    if (!str_split(str_of(address->line[i]), ':', &name, &value)) continue;
    json_key_str(w, name);
    json_put_text(w, str_trim(value));
  }
  json_close(w, '}');
}

static void put_text(struct json_out *w, const char *key, struct str text) {
  json_key(w, key);
  if (text.n)
    json_put_text(w, text);
  else
    json_put_null(w);
}

static struct str key_name(const struct setup *setup) {
  return setup->provider.script ? STR_NONE : str_of(setup->provider.wire->key_env);
}

static void put_object(struct buf *out, const struct shown *s) {
  struct json_out w = json_out(out);
  bool online = !s->setup->provider.script;
  json_open(&w, '{');
  put_text(&w, "provider", cli_value(s->cli, OPTION_ID_MODEL)->text);
  put_text(&w, "wire", str_of(s->setup->provider.wire->name));
  put_text(&w, "url", online ? str_of(s->address.url) : STR_NONE);
  put_text(&w, "key_from", key_name(s->setup));
  json_key(&w, "key_set");
  json_put_bool(&w, s->setup->key.n > 0);
  json_key(&w, "headers");
  put_headers(&w, &s->address);
  put_text(&w, "root", s->setup->has_files ? str_of(s->setup->files.root) : STR_NONE);
  put_text(&w, "config", s->cli->config_path);
  json_key(&w, "limits");
  put_limits(&w, s);
  json_key(&w, "policy");
  put_policy(&w, &s->setup->policy);
  json_key(&w, "tools");
  tool_list_json(&w, s->setup);
  put_text(&w, "stopped", s->why);
  json_key(&w, "body");
  if (s->body.n)
    json_put_raw(&w, s->body);
  else
    json_put_null(&w);
  json_close(&w, '}');
  buf_c(out, '\n');
}

static void put_sections(struct buf *out, const struct shown *s) {
  enum rein_lang lang = s->cli->lang;
  bool online = !s->setup->provider.script;
  struct buf limits, policy;
  buf_init(&limits, 4096);
  buf_init(&policy, SHOWN_BYTES_MAX);
  struct json_out w = json_out(&limits), p = json_out(&policy);
  put_limits(&w, s);
  put_policy(&p, &s->setup->policy);
  struct str set = str_of(text_raw(s->setup->key.n ? T_CLI_DRY_SET : T_CLI_DRY_NOT_SET, lang));
  TEXT_PUT(out, lang, T_CLI_DRY_TITLE);
  buf_lit(out, "\nPOST ");
  buf_put(out, online ? str_of(s->address.url) : cli_value(s->cli, OPTION_ID_MODEL)->text);
  for (size_t i = 0; s->address.line[i]; i++)
    buf_fmt(out, "\n%s", s->address.line[i]);
  buf_lit(out, "\n\n");
  if (s->why.n) buf_put(out, s->why);
  utf8_show(out, s->body, true);
  buf_lit(out, "\n\n");
  if (key_name(s->setup).n) TEXT_PUT(out, lang, T_CLI_DRY_KEY, key_name(s->setup), set);
  TEXT_PUT(out, lang, T_CLI_DRY_REST, s->setup->has_files ? str_of(s->setup->files.root) : STR("-"),
           s->cli->config_path.n ? s->cli->config_path : STR("-"), buf_str(&limits),
           buf_str(&policy));
  buf_lit(out, "\n\n");
  tool_list_text(out, lang, s->setup, false);
  if (limits.fail || policy.fail) out->fail = REIN_MEMORY;
  buf_release(&limits);
  buf_release(&policy);
}

static int print(struct shown *s) {
  struct buf out, masked;
  buf_init(&out, SHOWN_BYTES_MAX);
  buf_init(&masked, SHOWN_BYTES_MAX);
  if (session_output(s->cli) == OUTPUT_TEXT)
    put_sections(&out, s);
  else
    put_object(&out, s);
  secrets_mask(&s->cli->secrets, &masked, buf_str(&out));
  if (out.fail) masked.fail = out.fail;
  int exit = cli_print(s->cli, &masked);
  buf_release(&out);
  buf_release(&masked);
  return exit;
}

int dry_run(struct cli *cli, struct setup *setup, struct str task) {
  struct shown s = {.cli = cli, .setup = setup, .limits = setup->agent.limits};
  struct agent_config config = setup->agent;
  struct agent *agent = NULL;
  struct err err = {0};
  struct buf why;
  /* Never the key: not even the one that would be masked. */
  char stars[] = "***";
  struct secret key = {stars, setup->key.n ? sizeof stars - 1 : 0};
  int exit = 0;
  buf_init(&why, 65536);
  enum rein_code code = limits_fill(&s.limits, &err);
  config.limits = s.limits;
  if (!config.output_limit) config.output_limit = OUTPUT_LIMIT_DEFAULT;
  if (!code) code = address_init(&s.address, config.wire, setup->base_url, &key, &err);
  config.address = str_of(s.address.url);
  if (!code) code = agent_new(&config, &agent, &err);
  if (!code) code = first_request(agent, task, &s.body, &err);
  if (!code && !s.body.n) err_put(&why, cli->lang, &agent_ended(agent)->why);
  s.why = buf_str(&why);
  exit = code ? cli_fail(cli, &err) : print(&s);
  agent_free(agent);
  address_release(&s.address);
  buf_release(&why);
  return exit;
}
