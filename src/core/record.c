/* An event as a line of JSON: what a journal keeps and a stream of JSON shows.
 * Texts are mended on the way out, as the machine mends them on the way in.
 */
#include "core/record.h"

#include "base/utf8.h"
#include "text/text.h"

#define RECORD_TEXT_MAX (256u << 20)

const char *event_word(enum event_kind kind) {
  static const char *const words[] = {
#define EVENT_X(id, word) [EVENT_##id] = word,
      EVENTS(EVENT_X)
#undef EVENT_X
  };
  return words[kind];
}

static const char *const stop_words[] = {
#define STOP_X(id, word) [STOP_##id] = word,
    STOPS(STOP_X)
#undef STOP_X
};

static const char *const block_words[] = {[BLOCK_TEXT] = "text",
                                          [BLOCK_TOOL_USE] = "tool_use",
                                          [BLOCK_TOOL_RESULT] = "tool_result",
                                          [BLOCK_THINKING] = "thinking",
                                          [BLOCK_OPAQUE] = "opaque"};

static const char *const decider_words[] = {
    [BY_RULE] = "rule", [BY_PERSON] = "person", [BY_NOBODY] = "nobody"};

static void put_text(struct json_out *w, const char *key, struct str text) {
  struct buf mended;
  buf_init(&mended, RECORD_TEXT_MAX);
  utf8_repair(&mended, text);
  json_key(w, key);
  json_put_text(w, buf_str(&mended));
  if (mended.fail) w->buf->fail = mended.fail;
  buf_release(&mended);
}

static void put_some(struct json_out *w, const char *key, struct str text) {
  if (text.n) put_text(w, key, text);
}

static void put_num(struct json_out *w, const char *key, int64_t v) {
  json_key(w, key);
  json_put_num(w, v);
}

static void put_bool(struct json_out *w, const char *key, bool v) {
  if (!v) return;
  json_key(w, key);
  json_put_bool(w, v);
}

/* ---- out --------------------------------------------------------------- */

static void put_usage(struct json_out *w, const struct usage *u) {
  json_key(w, "usage");
  json_open(w, '{');
  put_num(w, "input", u->input);
  put_num(w, "output", u->output);
  put_num(w, "cache_read", u->cache_read);
  put_num(w, "cache_write", u->cache_write);
  put_bool(w, "known_input", u->known_input);
  put_bool(w, "known_output", u->known_output);
  json_close(w, '}');
}

static void put_block(struct json_out *w, const struct block *b) {
  json_open(w, '{');
  put_text(w, "kind", str_of(block_words[b->kind]));
  put_some(w, "text", b->text);
  put_some(w, "id", b->id);
  put_some(w, "name", b->name);
  put_some(w, "args", b->args);
  put_some(w, "raw", b->raw);
  put_some(w, "wire", b->wire);
  put_bool(w, "args_bad", b->args_bad);
  put_bool(w, "cut", b->cut);
  put_bool(w, "is_error", b->is_error);
  json_close(w, '}');
}

static void put_reply(struct json_out *w, const struct reply *r) {
  put_text(w, "stop", str_of(stop_words[r->stop]));
  put_some(w, "stop_word", r->stop_word);
  put_some(w, "message_id", r->id);
  put_some(w, "model", r->model);
  put_usage(w, &r->usage);
  json_key(w, "blocks");
  json_open(w, '[');
  for (size_t i = 0; i < r->count; i++)
    put_block(w, &r->blocks[i]);
  json_close(w, ']');
}

static void put_fault(struct json_out *w, const struct fault *f) {
  put_text(w, "fault", str_of(fault_word(f->kind)));
  put_num(w, "status", f->status);
  put_some(w, "message", f->message);
  put_some(w, "type", f->type);
  put_some(w, "request_id", f->request_id);
  put_num(w, "retry_after_ms", f->retry_after_ms);
  put_num(w, "should_retry", f->should_retry);
  put_bool(w, "began", f->began);
  put_bool(w, "streamed_text", f->streamed_text);
  put_bool(w, "billed", f->billed);
  put_usage(w, &f->usage);
}

static void put_limits(struct json_out *w, const struct rein_limits *l) {
  json_key(w, "limits");
  json_open(w, '{');
  put_num(w, "max_turns", l->max_turns);
  put_num(w, "token_budget", l->token_budget);
  put_num(w, "cost_uusd", l->cost_uusd);
  put_num(w, "time_ms", l->time_ms);
  put_num(w, "no_progress", l->no_progress);
  json_close(w, '}');
}

static void put_verdict(struct json_out *w, const struct event *e) {
  put_text(w, "verdict", str_of(verdict_word(e->verdict.verdict)));
  put_text(w, "by", str_of(decider_words[e->verdict.by]));
  put_bool(w, "remember", e->verdict.remember);
}

static void put_body(struct json_out *w, const struct event *e) {
  switch (e->kind) {
  case EVENT_GRANTED: put_num(w, "tokens", e->tokens); break;
  case EVENT_REPLY: put_reply(w, e->reply); break;
  case EVENT_FAILED: put_fault(w, e->fault); break;
  case EVENT_VERDICT: put_verdict(w, e); break;
  case EVENT_RESULT: put_bool(w, "is_error", e->is_error); break;
  case EVENT_REWRITE: put_text(w, "rewrite", STR("drop_thinking")); break;
  case EVENT_CANCEL: put_num(w, "signal", e->signal); break;
  case EVENT_LIMITS: put_limits(w, &e->limits); break;
  case EVENT_SAY:
  case EVENT_REFUSED:
  case EVENT_STARTED:
  case EVENT_TICK: break;
  }
}

void record_put(struct buf *out, const struct event *e) {
  struct json_out w = json_out(out);
  json_open(&w, '{');
  put_text(&w, "event", str_of(event_word(e->kind)));
  put_num(&w, "at_ms", e->at_ms);
  if (e->id) put_num(&w, "id", e->id);
  put_some(&w, "text", e->text);
  put_body(&w, e);
  json_close(&w, '}');
}

/* ---- in ---------------------------------------------------------------- */

static enum rein_code bad(struct err *err, const char *what) {
  return ERR(err, REIN_INPUT, T_CORE_BAD_RECORD, str_of(what));
}

static int64_t get_num(const struct json *doc, const char *key, int64_t absent) {
  int64_t v;
  return json_int(json_get(doc, key), &v) ? v : absent;
}

static struct str get_text(const struct json *doc, const char *key) {
  return json_text(json_get(doc, key));
}

static bool get_bool(const struct json *doc, const char *key) {
  return json_true(json_get(doc, key));
}

/* The place of a word in a list, or -1. */
static int find_word(struct str word, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (str_is(word, words[i])) return (int)i;
  return -1;
}

static struct usage get_usage(const struct json *doc) {
  const struct json *u = json_get(doc, "usage");
  return (struct usage){.input = get_num(u, "input", 0),
                        .output = get_num(u, "output", 0),
                        .cache_read = get_num(u, "cache_read", 0),
                        .cache_write = get_num(u, "cache_write", 0),
                        .known_input = get_bool(u, "known_input"),
                        .known_output = get_bool(u, "known_output")};
}

static bool get_block(const struct json *doc, struct block *b) {
  int kind =
      find_word(get_text(doc, "kind"), block_words, sizeof block_words / sizeof *block_words);
  if (kind < 0) return false;
  *b = (struct block){.kind = (enum block_kind)kind,
                      .text = get_text(doc, "text"),
                      .id = get_text(doc, "id"),
                      .name = get_text(doc, "name"),
                      .args = get_text(doc, "args"),
                      .raw = get_text(doc, "raw"),
                      .wire = get_text(doc, "wire"),
                      .args_bad = get_bool(doc, "args_bad"),
                      .cut = get_bool(doc, "cut"),
                      .is_error = get_bool(doc, "is_error")};
  return true;
}

static enum rein_code get_reply(struct arena *arena, const struct json *doc, struct event *e,
                                struct err *err) {
  const struct json *blocks = json_get(doc, "blocks");
  int stop = find_word(get_text(doc, "stop"), stop_words, sizeof stop_words / sizeof *stop_words);
  if (stop < 0 || !json_is(blocks, JSON_ARRAY)) return bad(err, "reply");
  struct reply *r = arena_new(arena, struct reply);
  struct block *v = arena_array(arena, struct block, blocks->count + 1);
  if (!r || !v) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  *r = (struct reply){.blocks = v,
                      .count = blocks->count,
                      .stop = (enum stop)stop,
                      .stop_word = get_text(doc, "stop_word"),
                      .id = get_text(doc, "message_id"),
                      .model = get_text(doc, "model"),
                      .usage = get_usage(doc)};
  for (const struct json *b = blocks->first; b; b = b->next)
    if (!get_block(b, v++)) return bad(err, "block");
  e->reply = r;
  return REIN_OK;
}

static enum rein_code get_fault(struct arena *arena, const struct json *doc, struct event *e,
                                struct err *err) {
  struct fault *f = arena_new(arena, struct fault);
  if (!f) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  int kind = 0;
  while (kind <= FAULT_QUOTA && !str_is(get_text(doc, "fault"), fault_word((enum fault_kind)kind)))
    kind++;
  if (kind > FAULT_QUOTA) return bad(err, "fault");
  *f = (struct fault){.kind = (enum fault_kind)kind,
                      .status = (int)get_num(doc, "status", 0),
                      .message = get_text(doc, "message"),
                      .type = get_text(doc, "type"),
                      .request_id = get_text(doc, "request_id"),
                      .retry_after_ms = get_num(doc, "retry_after_ms", -1),
                      .should_retry = (int)get_num(doc, "should_retry", -1),
                      .began = get_bool(doc, "began"),
                      .streamed_text = get_bool(doc, "streamed_text"),
                      .billed = get_bool(doc, "billed"),
                      .usage = get_usage(doc)};
  e->fault = f;
  return REIN_OK;
}

static enum rein_code get_verdict(const struct json *doc, struct event *e, struct err *err) {
  int by = find_word(get_text(doc, "by"), decider_words, 3);
  if (by < 0) return bad(err, "verdict");
  bool allow = str_is(get_text(doc, "verdict"), verdict_word(REIN_ALLOW));
  e->verdict.verdict = allow ? REIN_ALLOW : REIN_DENY;
  e->verdict.by = (enum decider)by;
  e->verdict.remember = get_bool(doc, "remember");
  return REIN_OK;
}

static struct rein_limits get_limits(const struct json *doc) {
  const struct json *l = json_get(doc, "limits");
  return (struct rein_limits){
      .max_turns = get_num(l, "max_turns", REIN_OFF),
      .token_budget = get_num(l, "token_budget", REIN_OFF),
      .cost_uusd = get_num(l, "cost_uusd", REIN_OFF),
      .time_ms = get_num(l, "time_ms", REIN_OFF),
      .no_progress = (enum rein_no_progress)get_num(l, "no_progress", REIN_PROGRESS_DEFAULT)};
}

static enum rein_code get_body(struct arena *arena, const struct json *doc, struct event *e,
                               struct err *err) {
  switch (e->kind) {
  case EVENT_GRANTED: e->tokens = get_num(doc, "tokens", 0); return REIN_OK;
  case EVENT_REPLY: return get_reply(arena, doc, e, err);
  case EVENT_FAILED: return get_fault(arena, doc, e, err);
  case EVENT_VERDICT: return get_verdict(doc, e, err);
  case EVENT_RESULT: e->is_error = get_bool(doc, "is_error"); return REIN_OK;
  case EVENT_REWRITE:
    e->rewrite = REWRITE_DROP_THINKING;
    return str_is(get_text(doc, "rewrite"), "drop_thinking") ? REIN_OK : bad(err, "rewrite");
  case EVENT_CANCEL: e->signal = (int)get_num(doc, "signal", 0); return REIN_OK;
  case EVENT_LIMITS: e->limits = get_limits(doc); return REIN_OK;
  case EVENT_SAY:
  case EVENT_REFUSED:
  case EVENT_STARTED:
  case EVENT_TICK: return REIN_OK;
  }
  return REIN_OK;
}

enum rein_code record_read(struct arena *arena, struct str line, struct event *e, struct err *err) {
  struct json *doc;
  enum rein_code code = json_parse(arena, line, JSON_UNIQUE, &doc, err);
  if (code) return code;
  int kind = 0;
  while (kind <= EVENT_LIMITS && !str_is(get_text(doc, "event"), event_word((enum event_kind)kind)))
    kind++;
  if (kind > EVENT_LIMITS) return bad(err, "event");
  *e = (struct event){.kind = (enum event_kind)kind,
                      .at_ms = get_num(doc, "at_ms", 0),
                      .id = (uint32_t)get_num(doc, "id", 0),
                      .text = get_text(doc, "text")};
  return get_body(arena, doc, e, err);
}
