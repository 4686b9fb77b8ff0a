/* rein policy explain|test|list|revoke|trust: what the policy says about a call
 * and why, and what was allowed for good. */
#include "cli/command.h"
#include "cli/kept.h"
#include "cli/packs.h"
#include "cli/project.h"
#include "cli/reveal.h"
#include "cli/session.h"
#include "json/write.h"

#define OUT_BYTES_MAX (64u << 20)
#define SHOWN_POINTS 200 /* of a kept call in the list; --output json has all of it */

static int prepare(struct cli *cli, struct setup *setup) {
  int exit = setup_policy(cli, setup);
  if (!exit) exit = setup_root(cli, setup);
  return exit ? exit : project_apply(cli, setup);
}

static int print(struct cli *cli, struct buf *out) {
  int exit = cli_print(cli, out);
  buf_release(out);
  return exit;
}

static bool as_json(const struct cli *cli) {
  return session_output(cli) != OUTPUT_TEXT;
}

static void put_line(struct buf *out, enum rein_lang lang, enum text_id id, struct str value) {
  struct buf shown;
  buf_init(&shown, OUT_BYTES_MAX);
  reveal(&shown, value, STR_NONE);
  buf_c(out, '\n');
  TEXT_PUT(out, lang, id, buf_str(&shown));
  buf_release(&shown);
}

/* ---- explain ------------------------------------------------------------------ */

struct explained {
  const struct rein_tool *row;
  struct subject subject;
  struct decision decision;
  struct decision taint;
  bool sends;
};

static void put_text(struct buf *out, enum rein_lang lang, const struct explained *e) {
  const struct decision *d = &e->decision;
  buf_put(out, str_of(verdict_word(d->verdict)));
  put_line(out, lang, T_CLI_DECIDED_BY, d->rule);
  if (d->part.n) put_line(out, lang, T_CLI_EXPLAIN_PART, d->part);
  if (d->why.n) put_line(out, lang, T_CLI_EXPLAIN_WHY, d->why);
  if (d->unclear_why)
    put_line(out, lang, T_CLI_EXPLAIN_UNCLEAR, str_of(text_raw(d->unclear_why, lang)));
  else if (d->unclear)
    put_line(out, lang, T_CLI_ASK_UNCLEAR, STR_NONE);
  if (e->sends) put_line(out, lang, T_CLI_EXPLAIN_TAINT, str_of(verdict_word(e->taint.verdict)));
  buf_c(out, '\n');
}

static void put_commands(struct json_out *w, const struct subject *s) {
  json_key(w, "commands");
  json_open(w, '[');
  for (size_t i = 0; i < s->shell_count; i++)
    for (const struct shell_command *c = s->shells[i].first; c; c = c->next) {
      if (c->guess) continue;
      json_open(w, '[');
      for (size_t k = 0; k < c->count; k++)
        json_put_text(w, c->words[k].text);
      json_close(w, ']');
    }
  json_close(w, ']');
}

static void put_json(struct buf *out, enum rein_lang lang, const struct explained *e) {
  const struct decision *d = &e->decision;
  struct json_out w = json_out(out);
  json_open(&w, '{');
  json_key(&w, "verdict");
  json_put_text(&w, str_of(verdict_word(d->verdict)));
  json_key(&w, "rule");
  json_put_text(&w, d->rule);
  json_key(&w, "part");
  json_put_text(&w, d->part);
  json_key(&w, "why");
  json_put_text(&w, d->why);
  json_key(&w, "plain");
  json_put_bool(&w, !d->unclear);
  json_key(&w, "unclear");
  json_put_text(&w, d->unclear_why ? str_of(text_raw(d->unclear_why, lang)) : STR_NONE);
  json_key(&w, "tainted");
  json_put_text(&w, e->sends ? str_of(verdict_word(e->taint.verdict)) : STR("allow"));
  put_commands(&w, &e->subject);
  json_close(&w, '}');
  buf_c(out, '\n');
}

static int judge(struct cli *cli, const struct setup *setup, struct explained *e) {
  struct err err = {0};
  struct json *args;
  struct str text = cli->word_count > 2 ? cli->words[2] : STR("{}");
  if (policy_call(&cli->arena, e->row, text, &args, &err)) return cli_fail(cli, &err);
  if (subject_read(&cli->arena, e->row, args, str_of(setup->files.root), &e->subject) ||
      policy_decide(&cli->arena, &setup->policy, &e->subject, &e->decision))
    return cli_no_memory(cli);
  bool granted = policy_granted(&setup->policy, e->subject.tool, text);
  if (granted && e->decision.verdict == REIN_ASK && !e->decision.unclear) {
    e->decision.verdict = REIN_ALLOW;
    e->decision.rule = str_of(text_raw(T_CLI_EXPLAIN_KEPT, cli->lang));
  }
  unsigned touches = e->row->touches ? e->row->touches : REIN_WRITES | REIN_OUTSIDE;
  e->taint = policy_taint(&setup->policy, e->subject.tool);
  e->sends = (touches & REIN_OUTSIDE) && e->taint.verdict > e->decision.verdict;
  return 0;
}

static int explain(struct cli *cli, struct setup *setup) {
  struct rein_tool rows[ROWS_MAX];
  struct explained e = {0};
  struct buf out;
  size_t n = packs_rows(cli, rows);
  if (cli->word_count < 2 || cli->word_count > 3) return cli_usage(cli, T_CLI_POLICY_EXPLAIN);
  for (size_t i = 0; i < n; i++)
    if (str_is(cli->words[1], rows[i].name)) e.row = &rows[i];
  if (!e.row) return cli_usage(cli, T_POLICY_TEST_TOOL, cli->words[1]);
  int exit = prepare(cli, setup);
  if (!exit) exit = judge(cli, setup, &e);
  if (exit) return exit;
  buf_init(&out, OUT_BYTES_MAX);
  if (as_json(cli))
    put_json(&out, cli->lang, &e);
  else
    put_text(&out, cli->lang, &e);
  return print(cli, &out);
}

/* ---- test ----------------------------------------------------------------------- */

struct telling {
  struct cli *cli;
  struct buf out;
  struct json_out w;
};

static void tell_json(void *ctx, struct str tool, struct str call, enum rein_verdict want,
                      const struct decision *got) {
  struct telling *t = ctx;
  struct json_out *w = &t->w;
  json_open(w, '{');
  json_key(w, "tool");
  json_put_text(w, tool);
  json_key(w, "call");
  json_put_text(w, call);
  json_key(w, "want");
  json_put_text(w, str_of(verdict_word(want)));
  json_key(w, "got");
  json_put_text(w, str_of(verdict_word(got->verdict)));
  json_key(w, "rule");
  json_put_text(w, got->rule);
  json_key(w, "unclear");
  json_put_text(w, got->unclear_why ? str_of(text_raw(got->unclear_why, t->cli->lang)) : STR_NONE);
  json_close(w, '}');
}

static void tell(void *ctx, struct str tool, struct str call, enum rein_verdict want,
                 const struct decision *got) {
  struct telling *t = ctx;
  bool fine = want == got->verdict;
  buf_put(&t->out, fine ? STR("ok   ") : STR("FAIL "));
  reveal(&t->out, tool, STR_NONE);
  buf_c(&t->out, ' ');
  reveal(&t->out, call, STR_NONE);
  buf_fmt(&t->out, ": %s", verdict_word(got->verdict));
  if (!fine) buf_fmt(&t->out, ", not %s (%.*s)", verdict_word(want), (int)got->rule.n, got->rule.p);
  buf_c(&t->out, '\n');
}

static int test(struct cli *cli, struct setup *setup) {
  struct rein_tool rows[ROWS_MAX];
  struct policy_tests tests;
  struct telling t = {.cli = cli};
  struct err err = {0};
  if (cli->word_count > 1) return cli_usage(cli, T_CLI_NO_WORDS, STR("policy test"), cli->words[1]);
  enum rein_code code = policy_load(&cli->arena, cli->policy, &setup->policy, &err);
  buf_init(&t.out, OUT_BYTES_MAX);
  t.w = json_out(&t.out);
  if (as_json(cli)) json_open(&t.w, '[');
  if (!code)
    code = policy_test(&setup->policy, rows, packs_rows(cli, rows), STR_NONE,
                       as_json(cli) ? tell_json : tell, &t, &tests, &err);
  if (code) {
    buf_release(&t.out);
    if (code != REIN_INPUT) return cli_fail(cli, &err);
    cli_say_at(cli, cli->config_path, &err);
    return 2;
  }
  if (as_json(cli)) json_close(&t.w, ']');
  if (as_json(cli))
    buf_c(&t.out, '\n');
  else
    buf_fmt(&t.out, "%zu passed, %zu failed\n", tests.count - tests.failed, tests.failed);
  int exit = print(cli, &t.out);
  return exit || !tests.failed ? exit : rein_outcome_exit(REIN_OUTCOME_CHECK);
}

/* ---- list, revoke, trust ----------------------------------------------------------- */

static void put_entry_json(struct json_out *w, const struct kept_entry *e, size_t number) {
  json_open(w, '{');
  json_key(w, "number");
  json_put_num(w, (int64_t)number);
  json_key(w, "root");
  json_put_text(w, e->root);
  json_key(w, e->trust ? "trusts" : "tool");
  json_put_text(w, e->trust ? e->content : e->tool);
  if (!e->trust) {
    json_key(w, "args");
    json_put_text(w, e->args);
  }
  json_close(w, '}');
}

static void put_entry(struct buf *out, enum rein_lang lang, const struct kept_entry *e,
                      size_t number) {
  buf_fmt(out, "%zu  ", number);
  reveal(out, e->root, STR_NONE);
  buf_lit(out, "  ");
  reveal(out, e->trust ? STR("trust .rein/config.json") : e->tool, STR_NONE);
  buf_c(out, ' ');
  if (!e->trust) reveal_cut(out, e->args, SHOWN_POINTS, STR_NONE, lang);
  buf_c(out, '\n');
}

static int list(struct cli *cli) {
  struct kept kept;
  struct buf out;
  int exit = kept_load(cli, &kept);
  if (exit) return exit;
  buf_init(&out, OUT_BYTES_MAX);
  struct json_out w = json_out(&out);
  bool json = as_json(cli);
  if (json) json_open(&w, '[');
  for (size_t i = 0; i < kept.n; i++) {
    if (json)
      put_entry_json(&w, &kept.v[i], i + 1);
    else
      put_entry(&out, cli->lang, &kept.v[i], i + 1);
  }
  if (json) {
    json_close(&w, ']');
    buf_c(&out, '\n');
  } else if (!kept.n) {
    cli_say(cli, T_CLI_KEPT_NONE);
  }
  return print(cli, &out);
}

static int revoke(struct cli *cli) {
  struct kept kept;
  struct num_text room;
  int64_t number = 0;
  bool all = cli->word_count == 2 && str_is(cli->words[1], "all");
  if (cli->word_count != 2 || (!all && !str_to_num(cli->words[1], &number)))
    return cli_usage(cli, T_CLI_POLICY_REVOKE);
  int exit = kept_load(cli, &kept);
  if (exit) return exit;
  if (!all && (number < 1 || (size_t)number > kept.n))
    return cli_usage(cli, T_CLI_KEPT_NUMBER, cli->words[1], str_num(&room, (int64_t)kept.n));
  return kept_revoke(cli, (size_t)number);
}

static int trust(struct cli *cli, struct setup *setup) {
  struct kept kept;
  struct str text, root;
  int exit = setup_root(cli, setup);
  if (!exit) exit = kept_load(cli, &kept);
  if (!exit) exit = project_read(cli, setup, &text);
  if (exit) return exit;
  root = str_of(setup->files.root);
  if (!text.n) return cli_usage(cli, T_CLI_TRUST_NOTHING, root);
  screen_answer(&cli->screen, text);
  if (project_trusted(&kept, root, text)) return cli_exit(cli, 0);
  exit = kept_trust(cli, root, text);
  if (!exit) cli_say(cli, T_CLI_TRUSTED, root);
  return exit ? exit : cli_exit(cli, 0);
}

static int run(struct cli *cli) {
  struct setup setup = {0};
  struct str what = cli->word_count ? cli->words[0] : STR_NONE;
  int exit;
  if (str_is(what, "explain"))
    exit = explain(cli, &setup);
  else if (str_is(what, "test"))
    exit = test(cli, &setup);
  else if (str_is(what, "list"))
    exit = list(cli);
  else if (str_is(what, "revoke"))
    exit = revoke(cli);
  else if (str_is(what, "trust"))
    exit = trust(cli, &setup);
  else
    exit = cli_usage(cli, T_CLI_POLICY_WORDS, what);
  if (setup.has_files) files_close_root(&setup.files);
  return exit;
}

const struct command command_policy = {
    .name = "policy",
    .summary = T_CLI_CMD_POLICY,
    .usage = "explain TOOL JSON|test|list|revoke N|trust",
    .takes = TAKES(POLICY) | TAKES(CONFIG) | TAKES(ROOT) | TAKES(OUTPUT) | TAKES(PACK),
    .configured = true,
    .run = run,
};
