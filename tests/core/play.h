/* A player for the bare machine: a tiny wire, scripted replies, and hands that
 * do what the machine wants. No I/O and no clock: time is a number that moves
 * when the test says so. Every event goes into a journal of records, so that
 * each scenario can be replayed.
 */
#pragma once

#include "base/arena.h"
#include "base/hash.h"
#include "core/agent.h"
#include "core/record.h"
#include "json/json.h"
#include "json/write.h"
#include "text/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- the wire: one JSON object per message, nothing hidden ---------------- */

static void toy_put_tools(struct buf *out, const struct tool *tools, size_t count) {
  struct json_out w = json_out(out);
  json_open(&w, '[');
  for (size_t i = 0; i < count; i++)
    json_put_text(&w, tools[i].name);
  json_close(&w, ']');
}

static void toy_put_block(struct json_out *w, const struct block *b) {
  static const char *const types[] = {"text", "tool_use", "tool_result", "thinking", "opaque"};
  json_open(w, '{');
  json_key(w, "type");
  json_put_text(w, str_of(types[b->kind]));
  json_key(w, "id");
  json_put_text(w, b->id);
  json_key(w, "text");
  json_put_text(w, b->kind == BLOCK_TOOL_USE ? b->args : b->text);
  json_key(w, "error");
  json_put_bool(w, b->is_error);
  json_close(w, '}');
}

/* What the toy's server refused: bits of enum rewrite. */
struct quirks {
  uint32_t repaired;
};

static const struct quirks *toy_find_quirks(struct str address) {
  static const struct quirks none = {0};
  (void)address;
  return &none;
}

static bool toy_repair(struct arena *arena, enum rewrite repair, const struct quirks **quirks) {
  uint32_t bits = (*quirks)->repaired | UINT32_C(1) << repair;
  if (bits == (*quirks)->repaired) return true;
  struct quirks *made = arena_new(arena, struct quirks);
  if (!made) return false;
  made->repaired = bits;
  *quirks = made;
  return true;
}

static bool toy_put_message(struct buf *out, const struct message *m, bool drop_thinking,
                            const struct quirks *quirks) {
  (void)quirks;
  struct json_out w = json_out(out);
  size_t sent = 0;
  json_open(&w, '{');
  json_key(&w, "role");
  json_put_text(&w, m->role == ROLE_USER ? STR("user") : STR("assistant"));
  json_key(&w, "content");
  json_open(&w, '[');
  for (size_t i = 0; i < m->count; i++) {
    if (drop_thinking && m->blocks[i].kind == BLOCK_THINKING) continue;
    toy_put_block(&w, &m->blocks[i]);
    sent++;
  }
  json_close(&w, ']');
  json_close(&w, '}');
  return sent > 0;
}

static void toy_put_request(struct buf *out, const struct request *r) {
  struct json_out w = json_out(out);
  json_open(&w, '{');
  json_key(&w, "tools");
  if (r->tools.n)
    json_put_raw(&w, r->tools);
  else
    json_put_null(&w);
  json_key(&w, "messages");
  json_open(&w, '[');
  for (size_t i = 0; i < r->count; i++)
    if (r->messages[i].n) json_put_raw(&w, r->messages[i]);
  json_close(&w, ']');
  if (r->quirks->repaired) {
    json_key(&w, "repaired");
    json_put_num(&w, r->quirks->repaired);
  }
  if (r->no_tools) json_key(&w, "no_tools");
  if (r->no_tools) json_put_bool(&w, true);
  json_key(&w, "output_limit");
  json_put_num(&w, r->output_limit);
  json_close(&w, '}');
}

static const struct wire toy_wire = {.name = "toy",
                                     .overhead_tokens = 1024,
                                     .find_quirks = toy_find_quirks,
                                     .repair = toy_repair,
                                     .put_tools = toy_put_tools,
                                     .put_message = toy_put_message,
                                     .put_request = toy_put_request};

static inline const struct wire *toy_by_name(struct str name) {
  return str_is(name, "toy") ? &toy_wire : NULL;
}

/* ---- the tools: rows alone, the player answers ------------------------------ */

static int never_called(struct rein_call *call) {
  (void)call;
  fail_msg("the machine called a tool");
  return 0;
}

#define ANY_SCHEMA "{\"type\":\"object\"}"
#define PATH_SCHEMA                                                                                \
  "{\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\"},\"limit\":{\"type\":"       \
  "\"integer\"}},\"required\":[\"path\"],\"additionalProperties\":false}"

static const struct rein_tool toy_rows[] = {
    {.name = "read",
     .description = "r",
     .schema = PATH_SCHEMA,
     .touches = REIN_READS_PRIVATE,
     .verdict = REIN_ALLOW,
     .run = never_called},
    {.name = "write",
     .description = "w",
     .schema = ANY_SCHEMA,
     .touches = REIN_WRITES,
     .verdict = REIN_ALLOW,
     .run = never_called},
    {.name = "risky",
     .description = "x",
     .schema = ANY_SCHEMA,
     .touches = REIN_WRITES,
     .verdict = REIN_ASK,
     .run = never_called},
    {.name = "clock",
     .description = "c",
     .schema = ANY_SCHEMA,
     .touches = REIN_TOUCHES_NOTHING,
     .verdict = REIN_ALLOW,
     .polls = true,
     .run = never_called},
    {.name = "banned",
     .description = "b",
     .schema = ANY_SCHEMA,
     .touches = REIN_READS_PRIVATE,
     .verdict = REIN_DENY,
     .run = never_called},
    {.name = "stamped",
     .description = "s",
     .schema = ANY_SCHEMA,
     .touches = REIN_READS_PRIVATE,
     .verdict = REIN_ALLOW,
     .volatile_args = "nonce, at",
     .volatile_text = "took [0-9]+ ms",
     .run = never_called},
};

/* ---- replies ---------------------------------------------------------------- */

#define PLAY_BLOCKS 16

struct play_reply {
  struct block blocks[PLAY_BLOCKS];
  size_t count;
  enum stop stop;
  const char *word;
  struct usage usage;
};

static inline void play_text(struct play_reply *r, const char *text) {
  r->blocks[r->count++] = (struct block){.kind = BLOCK_TEXT, .text = str_of(text)};
}

static inline void play_call(struct play_reply *r, const char *id, const char *name,
                             const char *args) {
  r->blocks[r->count++] = (struct block){
      .kind = BLOCK_TOOL_USE, .id = str_of(id), .name = str_of(name), .args = str_of(args)};
  r->stop = STOP_TOOLS;
}

/* ---- the player --------------------------------------------------------------- */

struct play;
typedef void (*play_reply_fn)(struct play *p, struct play_reply *r); /* p->sends: from 1 */
typedef const char *(*play_tool_fn)(struct play *p, struct str name, struct str args, bool *error);
typedef void (*play_verdict_fn)(struct play *p, const struct action *ask, struct event *verdict);

struct play {
  struct agent *agent;
  int64_t now;
  int sends, runs, asks;
  play_reply_fn reply;
  play_tool_fn tool;
  play_verdict_fn verdict;
  bool hold_sends, hold_runs, hold_asks; /* leave them unanswered */
  uint32_t held_send, held_run[PLAY_BLOCKS], held_ask;
  size_t held_runs;
  uint32_t aborted_send, aborted_run;
  struct buf journal; /* records, a line each */
  struct buf bodies;  /* of every SEND, a line each */
  struct buf trace;   /* what was done, for whole comparisons: "send run:1 done" */
  enum rein_outcome done;
  struct err err;
  enum rein_code code;
  void *ctx;
};

static inline struct agent_config play_config(void) {
  return (struct agent_config){.wire = &toy_wire,
                               .model = STR("toy-1"),
                               .system = STR("be brief"),
                               .rows = toy_rows,
                               .row_count = sizeof toy_rows / sizeof *toy_rows};
}

/* False when memory ran out; p is then to be released as ever. */
static inline bool play_new(struct play *p, const struct agent_config *config) {
  buf_init(&p->journal, SIZE_MAX);
  buf_init(&p->bodies, SIZE_MAX);
  buf_init(&p->trace, SIZE_MAX);
  p->done = REIN_OUTCOME_NONE;
  p->code = agent_new(config, &p->agent, &p->err);
  if (p->code) return false;
  record_put_start(&p->journal, agent_config(p->agent), &(struct record_head){0});
  buf_c(&p->journal, '\n');
  return p->journal.fail == REIN_OK;
}

static inline void play_release(struct play *p) {
  agent_free(p->agent);
  buf_release(&p->journal);
  buf_release(&p->bodies);
  buf_release(&p->trace);
}

static inline void play_feed(struct play *p, const struct event *e) {
  record_put(&p->journal, e);
  buf_c(&p->journal, '\n');
  enum rein_code code = agent_feed(p->agent, e, &p->err);
  if (code) p->code = code;
}

static inline void play_send_reply(struct play *p, uint32_t id) {
  struct play_reply r = {.stop = STOP_END, .word = "end_turn"};
  r.usage = (struct usage){.input = 10, .output = 5, .known_input = true, .known_output = true};
  p->reply(p, &r);
  struct reply reply = {.blocks = r.blocks,
                        .count = r.count,
                        .stop = r.stop,
                        .stop_word = str_of(r.word),
                        .id = STR("msg_1"),
                        .usage = r.usage};
  play_feed(p, &(struct event){.kind = EVENT_REPLY, .at_ms = p->now, .id = id, .reply = &reply});
}

static inline void play_run_call(struct play *p, const struct action *run) {
  bool error = false;
  p->runs++;
  const char *text = p->tool ? p->tool(p, run->tool->name, run->args, &error) : "done";
  play_feed(p, &(struct event){.kind = EVENT_STARTED, .at_ms = p->now, .id = run->id});
  if (p->hold_runs) {
    p->held_run[p->held_runs++] = run->id;
    return;
  }
  play_feed(p, &(struct event){.kind = EVENT_RESULT,
                               .at_ms = p->now,
                               .id = run->id,
                               .text = str_of(text),
                               .is_error = error});
}

static inline void play_ask(struct play *p, const struct action *ask) {
  struct event v = {.kind = EVENT_VERDICT, .at_ms = p->now, .id = ask->id};
  p->asks++;
  if (p->hold_asks) {
    p->held_ask = ask->id;
    return;
  }
  v.verdict.verdict = REIN_ALLOW;
  v.verdict.by = BY_PERSON;
  if (p->verdict) p->verdict(p, ask, &v);
  play_feed(p, &v);
}

static inline void play_act(struct play *p, const struct action *a) {
  switch (a->kind) {
  case ACTION_NONE: return;
  case ACTION_RESERVE:
    play_feed(p, &(struct event){
                     .kind = EVENT_GRANTED, .at_ms = p->now, .id = a->id, .tokens = a->tokens});
    return;
  case ACTION_SEND:
    p->sends++;
    buf_put(&p->bodies, a->body);
    buf_c(&p->bodies, '\n');
    buf_lit(&p->trace, "send ");
    if (p->hold_sends)
      p->held_send = a->id;
    else
      play_send_reply(p, a->id);
    return;
  case ACTION_REWRITE:
    buf_lit(&p->trace, "rewrite ");
    play_feed(p, &(struct event){.kind = EVENT_REWRITE, .at_ms = p->now, .rewrite = a->rewrite});
    return;
  case ACTION_ASK:
    buf_fmt(&p->trace, "ask:%.*s ", (int)a->tool->name.n, a->tool->name.p);
    play_ask(p, a);
    return;
  case ACTION_RUN:
    buf_fmt(&p->trace, "run:%.*s ", (int)a->tool->name.n, a->tool->name.p);
    play_run_call(p, a);
    return;
  case ACTION_ABORT_SEND: p->aborted_send = a->id; return;
  case ACTION_ABORT_RUN: p->aborted_run = a->id; return;
  case ACTION_DONE: p->done = a->outcome; return;
  }
}

static inline void play_pump(struct play *p) {
  struct action a;
  while (p->agent && agent_next(p->agent, &a))
    play_act(p, &a);
}

static inline void play_say(struct play *p, const char *words) {
  play_feed(p, &(struct event){.kind = EVENT_SAY, .at_ms = p->now, .text = str_of(words)});
  play_pump(p);
}

static inline void play_tick(struct play *p, int64_t now) {
  p->now = now;
  play_feed(p, &(struct event){.kind = EVENT_TICK, .at_ms = now});
  play_pump(p);
}

/* The whole last body, and whether a text stands in it. */
static inline struct str play_last_body(const struct play *p) {
  struct str all = buf_str(&p->bodies), before, last;
  all.n -= all.n > 0;
  return str_split_last(all, '\n', &before, &last) ? last : all;
}

static inline bool play_sent(const struct play *p, const char *text) {
  return str_has(play_last_body(p), str_of(text));
}

static inline void play_sentence(const struct play *p, enum rein_lang lang, struct buf *out) {
  buf_init(out, 8192);
  err_put(out, lang, &agent_ended(p->agent)->why);
}

/* ---- what a provider would refuse ---------------------------------------------- */

static inline const char *body_fault(struct str body) {
  static char why[200];
  struct arena arena;
  struct json *doc;
  const char *fault = NULL;
  struct str open[PLAY_BLOCKS * 4];
  size_t open_count = 0;
  arena_init(&arena, SIZE_MAX);
  enum rein_code code = json_parse(&arena, body, JSON_UNIQUE, &doc, NULL);
  if (code == REIN_MEMORY) { /* made to fail on purpose: nothing can be said */
    arena_release(&arena);
    return NULL;
  }
  if (code) fault = "no JSON";
  const struct json *messages = json_get(doc, "messages");
  if (!fault && !str_is(json_text(json_get(messages->first, "role")), "user"))
    fault = "first is not the user's";
  for (const struct json *m = fault ? NULL : messages->first; m && !fault; m = m->next) {
    bool user = str_is(json_text(json_get(m, "role")), "user");
    const struct json *content = json_get(m, "content");
    size_t results = 0;
    bool other = false;
    if (content->count == 0) fault = "empty message";
    if (!user && open_count) fault = "open calls before an assistant message";
    for (const struct json *b = content->first; b && !fault; b = b->next) {
      struct str type = json_text(json_get(b, "type")), id = json_text(json_get(b, "id"));
      if (str_is(type, "tool_use")) {
        if (user) fault = "a call of the user";
        for (size_t i = 0; i < open_count; i++)
          if (str_eq(open[i], id)) fault = "an id twice";
        open[open_count++] = id;
      } else if (str_is(type, "tool_result")) {
        if (other) fault = "a result behind text";
        if (results >= open_count || !str_eq(open[results], id)) fault = "a result out of order";
        if (json_text(json_get(b, "text")).n == 0) fault = "an empty result";
        results++;
      } else {
        other = true;
        if (str_is(type, "text") && str_blank(json_text(json_get(b, "text")))) fault = "blank text";
      }
    }
    if (user && !fault) {
      if (results != open_count) fault = "an orphan call";
      open_count = 0;
    }
  }
  if (!fault && open_count) fault = "open calls at the end";
  arena_release(&arena);
  if (fault)
    snprintf(why, sizeof why, "%s in %.*s", fault, (int)(body.n > 120 ? 120 : body.n), body.p);
  return fault ? why : NULL;
}

static inline void play_check_bodies(const struct play *p) {
  struct str rest = buf_str(&p->bodies), body;
  if (p->bodies.fail) return; /* cut where memory ended */
  while (str_next(&rest, '\n', &body)) {
    const char *fault = body.n ? body_fault(body) : NULL;
    if (fault) fail_msg("%s", fault);
  }
}

/* ---- replay ---------------------------------------------------------------------- */

/* Feeds the journal into a new machine, pulling as the player did; every body it
 * gives out must be the one that was sent. Returns its digest. */
static inline uint64_t play_replay(const struct play *p) {
  struct arena arena;
  struct agent_config config;
  struct agent *agent;
  struct err err = {0};
  struct action a;
  struct str rest = buf_str(&p->journal), line, bodies = buf_str(&p->bodies), body;
  arena_init(&arena, SIZE_MAX);
  assert_true(str_next(&rest, '\n', &line));
  struct record_head head;
  assert_int_equal(record_read_start(&arena, line, toy_by_name, &config, &head, &err), REIN_OK);
  assert_int_equal(agent_new(&config, &agent, &err), REIN_OK);
  while (str_next(&rest, '\n', &line) && line.n) {
    struct event e;
    assert_int_equal(record_read(&arena, line, &e, &err), REIN_OK);
    (void)!agent_feed(agent, &e, &err);
    while (agent_next(agent, &a)) {
      if (a.kind != ACTION_SEND) continue;
      assert_true(str_next(&bodies, '\n', &body));
      assert_true(str_eq(a.body, body));
    }
  }
  uint64_t digest = agent_digest(agent);
  agent_free(agent);
  arena_release(&arena);
  return digest;
}
