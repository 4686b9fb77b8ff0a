/* The person calls, so nothing is asked; the verdict that a model's call would get is
 * told. What is sent and what comes goes to stderr, the result to stdout. */
#include "cli/by_hand.h"

#include "cli/setup.h"
#include "core/shape.h"
#include "host/loop.h"
#include "schema/schema.h"
#include "tools/call.h"
#include "tools/reach.h"

#include <string.h>

#define SHOWN_BYTES 4000 /* of an answer: its whole is what the result is made of */
#define EXIT_ERROR 3

struct by_hand {
  struct cli *cli;
  struct setup *setup;
  const struct rein_tool *row;
  struct loop *loop;
  struct http *http;
  struct call_house house;
  struct call_watch watch;
  struct reach reach; /* rules about hosts, for tools that ask them */
  struct rein_call *call;
};

/* ---- what is sent and what comes: on the call's thread, while this one waits ------------ */

static void talk(const struct by_hand *h, char mark, struct str text) {
  struct str line;
  while (str_next(&text, '\n', &line)) {
    struct buf b;
    buf_init(&b, SHOWN_BYTES + 4);
    buf_c(&b, mark);
    buf_c(&b, ' ');
    buf_put(&b, str_part(line, 0, SHOWN_BYTES));
    screen_talk(&h->cli->screen, buf_str(&b));
    buf_release(&b);
  }
}

static void on_sent(void *ctx, const struct http_request *request) {
  const struct by_hand *h = ctx;
  struct buf b;
  buf_init(&b, 64u << 10);
  buf_fmt(&b, "%s %s", request->method, request->url);
  talk(h, '>', buf_str(&b));
  for (size_t i = 0; request->headers[i]; i++)
    talk(h, '>', str_of(request->headers[i]));
  talk(h, '>', request->body);
  buf_release(&b);
}

static void on_came(void *ctx, const struct http_result *result) {
  const struct by_hand *h = ctx;
  struct buf b;
  buf_init(&b, 4096);
  if (result->status)
    buf_fmt(&b, "HTTP %d", result->status);
  else
    buf_put(&b, str_of(result->why));
  talk(h, '<', buf_str(&b));
  talk(h, '<', buf_str(result->headers));
  talk(h, '<', str_part(buf_str(result->body), 0, SHOWN_BYTES));
  if (result->body->n > SHOWN_BYTES) talk(h, '<', STR("…"));
  buf_release(&b);
}

/* ---- the call ------------------------------------------------------------------------------ */

static int find(struct by_hand *h, struct str name) {
  struct setup *setup = h->setup;
  for (size_t i = 0; i < setup->agent.row_count; i++)
    if (str_is(name, setup->rows[i].name)) h->row = &setup->rows[i];
  return h->row ? 0 : setup_unknown_tool(h->cli, name);
}

/* As the machine would: the schema holds for a person's arguments too. */
static int check(struct by_hand *h, struct str args) {
  struct json *doc, *schema_doc;
  struct schema *schema = NULL;
  struct str clean;
  struct buf room;
  struct err err = {0};
  enum rein_code code = json_parse(&h->cli->arena, args, JSON_UNIQUE, &doc, &err);
  if (!code)
    code = json_parse(&h->cli->arena, str_of(h->row->schema), JSON_UNIQUE, &schema_doc, &err);
  if (!code) code = schema_new(schema_doc, NULL, &schema, &err);
  buf_init(&room, 1u << 20);
  if (!code) code = schema_check_args(schema, doc, &room, &clean, &err);
  if (!code) code = call_new(h->row, &h->house, clean, &h->call, &err);
  buf_release(&room);
  schema_free(schema);
  return code ? cli_fail(h->cli, &err) : 0;
}

static void work(void *ctx) {
  struct by_hand *h = ctx;
  (void)h->row->run(h->call);
}

static void done(void *ctx) {
  struct by_hand *h = ctx;
  loop_stop(h->loop);
}

static int run(struct by_hand *h) {
  struct setup *setup = h->setup;
  struct err err = {0};
  struct http_options options = setup_http(setup);
  if (loop_new(&h->loop, &err) || http_new(h->loop, &options, &h->http, &err))
    return cli_fail(h->cli, &err);
  h->house.http = h->http;
  if (loop_work(h->loop, work, done, NULL, h)) return cli_no_memory(h->cli);
  loop_run(h->loop);
  return 0;
}

static int show(struct by_hand *h) {
  struct buf out;
  struct str text = buf_str(&h->call->result);
  if (!h->call->answered) return cli_usage(h->cli, T_CLI_BY_HAND_MUTE, str_of(h->row->name));
  buf_init(&out, CALL_RESULT_MAX + 4096);
  secrets_mask(&h->cli->secrets, &out, text);
  if (!str_ends(text, STR("\n"))) buf_c(&out, '\n');
  int exit = cli_print(h->cli, &out);
  buf_release(&out);
  return exit || !h->call->is_error ? exit : EXIT_ERROR;
}

static int prepare(struct by_hand *h) {
  struct err err = {0};
  struct cli *cli = h->cli;
  struct setup *setup = h->setup;
  int exit = setup_policy(cli, setup);
  if (!exit) exit = setup_rows(cli, setup);
  if (!exit) exit = find(h, cli->words[1]);
  if (!exit) exit = packs_check_secrets(cli, h->row, 1);
  if (!exit) exit = setup_root(cli, setup);
  if (!exit) exit = setup_outside(cli, setup);
  if (exit) return exit;
  h->watch = (struct call_watch){on_sent, on_came, h};
  h->house = (struct call_house){
      .files = setup->has_files ? &setup->files : NULL,
      .github_url = setup->github_url.n ? setup->github_url.p : NULL,
      .github_token = setup->github_token.n ? setup->github_token.p : NULL,
      .model_lang = cli->lang,
      .sandbox = setup->sandbox,
      .git_env = setup->git_env,
      .watch = &h->watch,
  };
  if (reach_make(&h->reach, &cli->arena, &setup->policy, h->row, &err)) return cli_fail(cli, &err);
  h->house.reach = &h->reach;
  struct decision d = policy_judge(&setup->policy, str_of(h->row->name), h->row->verdict);
  cli_say(cli, T_CLI_BY_HAND_VERDICT, str_of(h->row->name), str_of(verdict_word(d.verdict)),
          d.rule);
  return 0;
}

int by_hand(struct cli *cli) {
  struct setup setup = {0};
  struct by_hand h = {.cli = cli, .setup = &setup};
  if (cli->word_count < 2 || cli->word_count > 3) return cli_usage(cli, T_CLI_BY_HAND_USAGE);
  struct str args = cli->word_count > 2 ? cli->words[2] : STR("{}");
  int exit = prepare(&h);
  if (!exit) exit = check(&h, args);
  if (!exit) exit = run(&h);
  if (!exit) exit = show(&h);
  call_free(h.call);
  http_free(h.http);
  if (h.loop) loop_free(h.loop, 0);
  setup_release(&setup);
  return exit;
}
