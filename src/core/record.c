/* An event as a line of JSON: what a journal keeps and a stream of JSON shows. */
#include "core/record.h"

#include "core/field.h"
#include "text/text.h"

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

/* ---- out --------------------------------------------------------------- */

static void put_usage(struct json_out *w, const struct usage *u) {
  json_key(w, "usage");
  json_open(w, '{');
  field_num(w, "input", u->input);
  field_num(w, "output", u->output);
  field_num(w, "cache_read", u->cache_read);
  field_num(w, "cache_write", u->cache_write);
  field_bool(w, "known_input", u->known_input);
  field_bool(w, "known_output", u->known_output);
  json_close(w, '}');
}

static void put_block(struct json_out *w, const struct block *b) {
  json_open(w, '{');
  field_text(w, "kind", str_of(block_words[b->kind]));
  field_some(w, "text", b->text);
  field_some(w, "id", b->id);
  field_some(w, "name", b->name);
  field_some(w, "args", b->args);
  field_some(w, "raw", b->raw);
  field_some(w, "wire", b->wire);
  field_bool(w, "args_bad", b->args_bad);
  field_bool(w, "cut", b->cut);
  field_bool(w, "is_error", b->is_error);
  json_close(w, '}');
}

static void put_reply(struct json_out *w, const struct reply *r) {
  field_text(w, "stop", str_of(stop_words[r->stop]));
  field_some(w, "stop_word", r->stop_word);
  field_some(w, "message_id", r->id);
  field_some(w, "model", r->model);
  put_usage(w, &r->usage);
  json_key(w, "blocks");
  json_open(w, '[');
  for (size_t i = 0; i < r->count; i++)
    put_block(w, &r->blocks[i]);
  json_close(w, ']');
}

static void put_fault(struct json_out *w, const struct fault *f) {
  field_text(w, "fault", str_of(fault_word(f->kind)));
  if (f->repair) field_word(w, "repair", rewrite_word(f->repair));
  field_num(w, "status", f->status);
  field_some(w, "message", f->message);
  field_some(w, "type", f->type);
  field_some(w, "request_id", f->request_id);
  field_num(w, "retry_after_ms", f->retry_after_ms);
  field_num(w, "should_retry", f->should_retry);
  field_bool(w, "began", f->began);
  field_bool(w, "streamed_text", f->streamed_text);
  field_bool(w, "billed", f->billed);
  put_usage(w, &f->usage);
}

static void put_ending(struct json_out *w, const struct ending *e) {
  field_text(w, "outcome", str_of(rein_outcome_word(e->outcome)));
  field_num(w, "exit", e->exit);
  field_num(w, "turns", e->turns);
  field_num(w, "requests", e->requests);
  field_num(w, "spent", e->spent);
  field_num(w, "ms", e->ms);
  put_usage(w, &e->usage);
}

static void put_verdict(struct json_out *w, const struct event *e) {
  field_text(w, "verdict", str_of(verdict_word(e->verdict.verdict)));
  field_text(w, "by", str_of(decider_words[e->verdict.by]));
  field_bool(w, "remember", e->verdict.remember);
}

static void put_result(struct json_out *w, const struct event *e) {
  field_bool(w, "is_error", e->is_error);
  if (!e->seen.n) return;
  field_text(w, "seen", e->seen);
  field_num(w, "seen_hash", (int64_t)e->seen_hash);
}

static void put_rewrite(struct json_out *w, const struct event *e) {
  field_word(w, "rewrite", rewrite_word(e->rewrite));
  if (e->rewrite == REWRITE_COMPACT) {
    field_num(w, "messages", e->compacted.messages);
    field_num(w, "of", e->compacted.of);
    field_num(w, "tokens", e->compacted.tokens);
  }
  if (e->rewrite != REWRITE_MODEL) return;
  field_text(w, "wire", e->to.wire);
  field_text(w, "model", e->to.model);
  field_text(w, "address", e->to.address);
  field_facts(w, &e->to.facts);
}

static void put_granted(struct json_out *w, const struct event *e) {
  field_num(w, "tokens", e->tokens);
  field_bool(w, "compacts", e->compacts);
  if (e->body.bytes == 0) return;
  field_num(w, "bytes", e->body.bytes);
  field_num(w, "hash", (int64_t)e->body.hash);
}

static void put_body(struct json_out *w, const struct event *e) {
  switch (e->kind) {
  case EVENT_GRANTED: put_granted(w, e); break;
  case EVENT_REPLY: put_reply(w, e->reply); break;
  case EVENT_FAILED: put_fault(w, e->fault); break;
  case EVENT_VERDICT: put_verdict(w, e); break;
  case EVENT_RESULT: put_result(w, e); break;
  case EVENT_REWRITE: put_rewrite(w, e); break;
  case EVENT_CANCEL: field_num(w, "signal", e->signal); break;
  case EVENT_LIMITS:
    field_limits(w, &e->limits);
    field_facts(w, &e->now);
    break;
  case EVENT_OUTCOME: put_ending(w, &e->ending); break;
  case EVENT_RESUME: field_num(w, "wall_ms", e->wall_ms); break;
  case EVENT_SAY:
  case EVENT_REFUSED:
  case EVENT_STARTED:
  case EVENT_TICK: break;
  }
}

void record_put(struct buf *out, const struct event *e) {
  struct json_out w = json_out(out);
  json_open(&w, '{');
  field_text(&w, "event", str_of(event_word(e->kind)));
  field_num(&w, "at_ms", e->at_ms);
  if (e->id) field_num(&w, "id", e->id);
  field_some(&w, "text", e->text);
  put_body(&w, e);
  json_close(&w, '}');
}

/* ---- in ---------------------------------------------------------------- */

static enum rein_code bad(struct err *err, const char *what) {
  return ERR(err, REIN_INPUT, T_CORE_BAD_RECORD, str_of(what));
}

/* The place of a word in a list, or -1. */
static int find_word(struct str word, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (str_is(word, words[i])) return (int)i;
  return -1;
}

static struct usage get_usage(const struct json *doc) {
  const struct json *u = json_get(doc, "usage");
  return (struct usage){.input = field_get_num(u, "input", 0),
                        .output = field_get_num(u, "output", 0),
                        .cache_read = field_get_num(u, "cache_read", 0),
                        .cache_write = field_get_num(u, "cache_write", 0),
                        .known_input = field_get_bool(u, "known_input"),
                        .known_output = field_get_bool(u, "known_output")};
}

static bool get_block(const struct json *doc, struct block *b) {
  int kind =
      find_word(field_get_text(doc, "kind"), block_words, sizeof block_words / sizeof *block_words);
  if (kind < 0) return false;
  *b = (struct block){.kind = (enum block_kind)kind,
                      .text = field_get_text(doc, "text"),
                      .id = field_get_text(doc, "id"),
                      .name = field_get_text(doc, "name"),
                      .args = field_get_text(doc, "args"),
                      .raw = field_get_text(doc, "raw"),
                      .wire = field_get_text(doc, "wire"),
                      .args_bad = field_get_bool(doc, "args_bad"),
                      .cut = field_get_bool(doc, "cut"),
                      .is_error = field_get_bool(doc, "is_error")};
  return true;
}

static enum rein_code get_reply(struct arena *arena, const struct json *doc, struct event *e,
                                struct err *err) {
  const struct json *blocks = json_get(doc, "blocks");
  int stop =
      find_word(field_get_text(doc, "stop"), stop_words, sizeof stop_words / sizeof *stop_words);
  if (stop < 0 || !json_is(blocks, JSON_ARRAY)) return bad(err, "reply");
  struct reply *r = arena_new(arena, struct reply);
  struct block *v = arena_array(arena, struct block, blocks->count + 1);
  if (!r || !v) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  *r = (struct reply){.blocks = v,
                      .count = blocks->count,
                      .stop = (enum stop)stop,
                      .stop_word = field_get_text(doc, "stop_word"),
                      .id = field_get_text(doc, "message_id"),
                      .model = field_get_text(doc, "model"),
                      .usage = get_usage(doc)};
  for (const struct json *b = blocks->first; b; b = b->next)
    if (!get_block(b, v++)) return bad(err, "block");
  e->reply = r;
  return REIN_OK;
}

/* What is not there is none; a word that is not known, REWRITE_COUNT. */
static enum rewrite get_rewrite(const struct json *doc, const char *key) {
  struct str word = field_get_text(doc, key);
  int rewrite = word.n ? 0 : REWRITE_NONE;
  while (word.n && rewrite < REWRITE_COUNT && !str_is(word, rewrite_word((enum rewrite)rewrite)))
    rewrite++;
  return (enum rewrite)rewrite;
}

static enum rein_code get_fault(struct arena *arena, const struct json *doc, struct event *e,
                                struct err *err) {
  struct fault *f = arena_new(arena, struct fault);
  if (!f) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  int kind = 0;
  while (kind <= FAULT_QUOTA &&
         !str_is(field_get_text(doc, "fault"), fault_word((enum fault_kind)kind)))
    kind++;
  enum rewrite repair = get_rewrite(doc, "repair");
  if (kind > FAULT_QUOTA || repair == REWRITE_COUNT) return bad(err, "fault");
  *f = (struct fault){.kind = (enum fault_kind)kind,
                      .repair = repair,
                      .status = (int)field_get_num(doc, "status", 0),
                      .message = field_get_text(doc, "message"),
                      .type = field_get_text(doc, "type"),
                      .request_id = field_get_text(doc, "request_id"),
                      .retry_after_ms = field_get_num(doc, "retry_after_ms", -1),
                      .should_retry = (int)field_get_num(doc, "should_retry", -1),
                      .began = field_get_bool(doc, "began"),
                      .streamed_text = field_get_bool(doc, "streamed_text"),
                      .billed = field_get_bool(doc, "billed"),
                      .usage = get_usage(doc)};
  e->fault = f;
  return REIN_OK;
}

static enum rein_code get_verdict(const struct json *doc, struct event *e, struct err *err) {
  int by = find_word(field_get_text(doc, "by"), decider_words, 3);
  if (by < 0) return bad(err, "verdict");
  bool allow = str_is(field_get_text(doc, "verdict"), verdict_word(REIN_ALLOW));
  e->verdict.verdict = allow ? REIN_ALLOW : REIN_DENY;
  e->verdict.by = (enum decider)by;
  e->verdict.remember = field_get_bool(doc, "remember");
  return REIN_OK;
}

static enum rein_code get_ending(const struct json *doc, struct event *e, struct err *err) {
  int outcome = REIN_OUTCOME_CANCELLED;
  while (outcome >= 0 &&
         !str_is(field_get_text(doc, "outcome"), rein_outcome_word((enum rein_outcome)outcome)))
    outcome--;
  if (outcome < 0) return bad(err, "outcome");
  e->ending = (struct ending){.outcome = (enum rein_outcome)outcome,
                              .exit = (int)field_get_num(doc, "exit", 0),
                              .turns = field_get_num(doc, "turns", 0),
                              .requests = field_get_num(doc, "requests", 0),
                              .spent = field_get_num(doc, "spent", 0),
                              .ms = field_get_num(doc, "ms", 0),
                              .usage = get_usage(doc)};
  return REIN_OK;
}

static enum rein_code get_change(const struct json *doc, struct event *e, struct err *err) {
  e->rewrite = get_rewrite(doc, "rewrite");
  if (e->rewrite == REWRITE_COUNT) return bad(err, "rewrite");
  if (e->rewrite == REWRITE_COMPACT)
    e->compacted = (struct compacted){field_get_num(doc, "messages", 0),
                                      field_get_num(doc, "of", 0), field_get_num(doc, "tokens", 0)};
  if (e->rewrite != REWRITE_MODEL) return REIN_OK;
  e->to.wire = field_get_text(doc, "wire");
  e->to.model = field_get_text(doc, "model");
  e->to.address = field_get_text(doc, "address");
  e->to.facts = field_get_facts(doc);
  return REIN_OK;
}

static enum rein_code get_body(struct arena *arena, const struct json *doc, struct event *e,
                               struct err *err) {
  switch (e->kind) {
  case EVENT_GRANTED:
    e->tokens = field_get_num(doc, "tokens", 0);
    e->compacts = field_get_bool(doc, "compacts");
    e->body.bytes = field_get_num(doc, "bytes", 0);
    e->body.hash = (uint64_t)field_get_num(doc, "hash", 0);
    return REIN_OK;
  case EVENT_REPLY: return get_reply(arena, doc, e, err);
  case EVENT_FAILED: return get_fault(arena, doc, e, err);
  case EVENT_VERDICT: return get_verdict(doc, e, err);
  case EVENT_RESULT:
    e->is_error = field_get_bool(doc, "is_error");
    e->seen = field_get_text(doc, "seen");
    e->seen_hash = (uint64_t)field_get_num(doc, "seen_hash", 0);
    return REIN_OK;
  case EVENT_REWRITE: return get_change(doc, e, err);
  case EVENT_RESUME: e->wall_ms = field_get_num(doc, "wall_ms", 0); return REIN_OK;
  case EVENT_CANCEL: e->signal = (int)field_get_num(doc, "signal", 0); return REIN_OK;
  case EVENT_LIMITS:
    e->limits = field_get_limits(doc);
    e->now = field_get_facts(doc);
    return REIN_OK;
  case EVENT_OUTCOME: return get_ending(doc, e, err);
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
  while (kind <= EVENT_RESUME &&
         !str_is(field_get_text(doc, "event"), event_word((enum event_kind)kind)))
    kind++;
  if (kind > EVENT_RESUME) return bad(err, "event");
  *e = (struct event){.kind = (enum event_kind)kind,
                      .at_ms = field_get_num(doc, "at_ms", 0),
                      .id = (uint32_t)field_get_num(doc, "id", 0),
                      .text = field_get_text(doc, "text")};
  return get_body(arena, doc, e, err);
}
