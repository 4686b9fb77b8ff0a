/* One HTTP answer becomes one event. Reads status, headers and body; what the
 * bytes of a stream mean is the wire's, what an error's words mean is errors.c's.
 */
#include "wire/attempt.h"

#include "base/mem.h"
#include "json/json.h"
#include "rpc/sse.h"
#include "text/text.h"
#include "wire/errors.h"
#include "wire/http_date.h"
#include "wire/refused.h"
#include "wire/words.h"

#define BODY_MAX (64u << 10)  /* of an error: more is no message but a page */
#define HEADER_MAX 1024       /* of the few that are kept */
#define WAIT_MAX_MS INT32_MAX /* the longest that official SDKs take from a server */

struct attempt {
  const struct wire *wire;
  uint32_t id;
  int status;
  struct draft *draft;
  struct sse sse;
  struct buf body; /* until the first event: what came, should it be an error */
  struct buf request_id, retry_after, retry_after_ms, location;
  int should_retry;
  uint64_t events;
  bool streamed, body_cut;
  struct buf words; /* sentences of ours about this fault */
  struct reply reply;
  struct fault fault;
};

enum rein_code attempt_new(const struct wire *wire, uint32_t id, struct attempt **attempt) {
  struct attempt *a = mem_zero(sizeof *a);
  if (!a) return REIN_MEMORY;
  a->wire = wire;
  a->id = id;
  a->should_retry = -1;
  sse_init(&a->sse);
  buf_init(&a->body, BODY_MAX);
  buf_init(&a->request_id, HEADER_MAX);
  buf_init(&a->retry_after, HEADER_MAX);
  buf_init(&a->retry_after_ms, HEADER_MAX);
  buf_init(&a->location, HEADER_MAX);
  buf_init(&a->words, 4 * BODY_MAX);
  if (draft_new(wire, &a->draft) != REIN_OK) {
    attempt_free(a);
    return REIN_MEMORY;
  }
  *attempt = a;
  return REIN_OK;
}

void attempt_free(struct attempt *a) {
  if (!a) return;
  draft_free(a->draft);
  sse_release(&a->sse);
  buf_release(&a->body);
  buf_release(&a->request_id);
  buf_release(&a->retry_after);
  buf_release(&a->retry_after_ms);
  buf_release(&a->location);
  buf_release(&a->words);
  mem_free(a);
}

void attempt_speak(struct attempt *a, enum rein_lang lang) {
  draft_speak(a->draft, lang);
}

/* -- what comes in -- */

void attempt_status(struct attempt *a, int status) {
  a->status = status;
}

void attempt_header(struct attempt *a, struct str name, struct str value) {
  struct buf *kept = NULL;
  value = str_trim(value);
  if (str_eq_nocase(name, STR("request-id")) || str_eq_nocase(name, STR("x-request-id")))
    kept = &a->request_id;
  else if (str_eq_nocase(name, STR("retry-after")))
    kept = &a->retry_after;
  else if (str_eq_nocase(name, STR("retry-after-ms")))
    kept = &a->retry_after_ms;
  else if (str_eq_nocase(name, STR("location")))
    kept = &a->location;
  else if (str_eq_nocase(name, STR("x-should-retry")))
    a->should_retry = str_eq_nocase(value, STR("true"))    ? 1
                      : str_eq_nocase(value, STR("false")) ? 0
                                                           : a->should_retry;
  if (!kept) return;
  buf_reset(kept);
  buf_put(kept, value);
}

static bool is_fine_status(const struct attempt *a) {
  return a->status >= 200 && a->status < 300;
}

static void keep_body(struct attempt *a, struct str bytes) {
  size_t room = a->body.max - a->body.n;
  a->body_cut = a->body_cut || bytes.n > room;
  buf_put(&a->body, str_part(bytes, 0, room));
}

/* What an event said when it failed the reply is kept for the log. */
static void read_events(struct attempt *a) {
  struct sse_event event;
  while (!attempt_over(a) && sse_next(&a->sse, &event)) {
    if (a->events++ == 0) buf_reset(&a->body);
    a->wire->on_event(a->draft, &event);
    if (draft_failed(a->draft)) keep_body(a, event.data);
  }
}

void attempt_bytes(struct attempt *a, struct str bytes) {
  if (attempt_over(a)) return;
  if (!is_fine_status(a) || a->events == 0) keep_body(a, bytes);
  if (!is_fine_status(a)) return;
  sse_feed(&a->sse, bytes);
  read_events(a);
}

bool attempt_piece(struct attempt *a, struct str *piece, bool *thinking) {
  bool given = draft_piece(a->draft, piece, thinking);
  a->streamed = a->streamed || given;
  return given;
}

bool attempt_moved(struct attempt *a) {
  return draft_moved(a->draft);
}

bool attempt_withdrawn(struct attempt *a) {
  bool withdrawn = draft_withdrawn(a->draft);
  if (withdrawn) a->streamed = false;
  return withdrawn;
}

bool attempt_over(const struct attempt *a) {
  bool page = a->status != 0 && !is_fine_status(a) && a->body_cut;
  return page || a->sse.fail || draft_is_done(a->draft) || draft_failed(a->draft) ||
         draft_lacks(a->draft);
}

bool attempt_whole(const struct attempt *a) {
  return draft_is_done(a->draft);
}

/* -- waits -- */

/* Takes digits off *s; `most` is where the value stops to grow. */
static int64_t take_digits(struct str *s, int64_t most) {
  int64_t value = 0;
  size_t i = 0;
  for (; i < s->n && s->p[i] >= '0' && s->p[i] <= '9'; i++)
    if (value < most) value = value * 10 + (s->p[i] - '0');
  *s = str_part(*s, i, s->n);
  return value;
}

/* A decimal number of `unit` milliseconds each, to the millisecond; -1 when it
 * is none or not > 0. */
static int64_t read_wait(struct str text, int64_t unit) {
  struct str rest = text;
  int64_t ms = take_digits(&rest, WAIT_MAX_MS) * unit;
  if (rest.n == text.n) return -1;
  if (rest.n && rest.p[0] == '.') {
    rest = str_part(rest, 1, rest.n);
    for (int64_t scale = unit / 10; rest.n && scale > 0; scale /= 10) {
      struct str digit = str_part(rest, 0, 1);
      ms += take_digits(&digit, 10) * scale;
      if (digit.n) return -1;
      rest = str_part(rest, 1, rest.n);
    }
    (void)take_digits(&rest, 0);
  }
  if (rest.n || ms <= 0) return -1;
  return ms < WAIT_MAX_MS ? ms : WAIT_MAX_MS;
}

static int64_t wait_of(const struct attempt *a, int64_t now_s) {
  int64_t moment, ms = read_wait(buf_str(&a->retry_after_ms), 1);
  if (ms < 0) ms = read_wait(buf_str(&a->retry_after), 1000);
  if (ms >= 0 || !http_date(buf_str(&a->retry_after), now_s, &moment) || moment <= now_s) return ms;
  return moment - now_s < WAIT_MAX_MS / 1000 ? (moment - now_s) * 1000 : WAIT_MAX_MS;
}

/* -- what it was -- */

static void put_sentence(struct attempt *a, enum text_id id, struct str value, struct str more) {
  buf_reset(&a->words);
  TEXT_PUT(&a->words, draft_lang(a->draft), id, value, more);
  a->fault.message = a->words.fail ? STR_NONE : buf_str(&a->words);
}

/* A redirect is not followed: it would carry the key elsewhere. */
static void put_moved(struct attempt *a, struct str status) {
  struct buf quote;
  buf_init(&quote, BODY_MAX);
  words_quote(&quote, buf_str(&a->location));
  put_sentence(a, T_WIRE_MOVED, status, buf_str(&quote));
  buf_release(&quote);
}

/* The body's first words, behind what our own sentence says about the status. */
static void quote_body(struct attempt *a) {
  struct num_text room;
  struct str status = str_num(&room, a->status);
  struct buf quote;
  buf_init(&quote, BODY_MAX);
  words_quote(&quote, buf_str(&a->body));
  if (a->status >= 300 && a->status < 400 && a->location.n)
    put_moved(a, status);
  else if (quote.n == 0)
    put_sentence(a, T_WIRE_STATUS, status, STR_NONE);
  else if (is_fine_status(a))
    put_sentence(a, T_WIRE_NOT_STREAM, status, buf_str(&quote));
  else {
    buf_reset(&a->words);
    buf_put(&a->words, buf_str(&quote));
    a->fault.message = buf_str(&a->words);
  }
  buf_release(&quote);
}

static void copy_words(struct attempt *a, const struct error_words *w) {
  struct str message = w->message, type = error_type(w), id = w->request_id;
  buf_reset(&a->words);
  utf8_repair(&a->words, message);
  size_t m = a->words.n;
  utf8_repair(&a->words, type);
  size_t t = a->words.n;
  if (a->request_id.n == 0) buf_put(&a->request_id, str_part(id, 0, HEADER_MAX));
  if (a->words.fail) return;
  a->fault.message = str_part(buf_str(&a->words), 0, m);
  a->fault.type = str_part(buf_str(&a->words), m, t - m);
}

/* An answer that is no stream: its class by status and words. */
static void read_body(struct attempt *a) {
  struct arena arena;
  struct json *doc = NULL;
  struct error_words words = {0};
  arena_init(&arena, 64 * (size_t)BODY_MAX);
  bool json = json_parse(&arena, buf_str(&a->body), JSON_STRICT, &doc, NULL) == REIN_OK;
  bool said = json && error_read(doc, &words);
  bool paced = a->fault.retry_after_ms > 0;
  if (!is_fine_status(a))
    a->fault.kind = error_class(a->status, &words, paced);
  else
    a->fault.kind = said ? error_in_stream(&words) : FAULT_GARBLED;
  if (said && words.message.n)
    copy_words(a, &words);
  else
    quote_body(a);
  if (words.message.n == 0) words.message = buf_str(&a->body); /* of another shape: all of it */
  if (a->fault.kind == FAULT_INVALID) a->fault.repair = refused_part(a->wire, &words);
  arena_release(&arena);
}

/* The stream broke: in the words of whoever saw it, else in ours. */
static void read_break(struct attempt *a, enum attempt_end end, struct str why) {
  struct num_text room;
  enum text_id sentence = T_WIRE_CUT;
  bool mute = a->events == 0 && str_blank(buf_str(&a->body));
  switch (end) {
  case ATTEMPT_CONNECT:
    a->fault.kind = FAULT_CONNECT;
    sentence = T_WIRE_NO_CONNECTION;
    break;
  case ATTEMPT_STALLED:
    a->fault.kind = FAULT_STALLED;
    sentence = T_WIRE_STALLED;
    break;
  case ATTEMPT_CLOSED:
  case ATTEMPT_BROKEN:
    a->fault.kind = FAULT_BROKEN;
    if (mute) sentence = a->status ? T_WIRE_STATUS : T_WIRE_NOTHING_CAME;
    break;
  }
  put_sentence(a, sentence, str_num(&room, a->status), STR_NONE);
  if (why.n == 0) return;
  buf_reset(&a->words);
  utf8_repair(&a->words, str_part(why, 0, HEADER_MAX));
  if (!a->words.fail) a->fault.message = buf_str(&a->words);
}

/* What came, without an event in it, is the beginning of a stream that broke. */
static bool begins_stream(struct str body) {
  static const char *const fields[] = {"event:", "data:", "id:", "retry:", ":"};
  if (str_starts(body, STR("\xEF\xBB\xBF"))) body = str_part(body, 3, body.n);
  body = str_trim(body);
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    struct str field = str_of(fields[i]);
    size_t n = body.n < field.n ? body.n : field.n;
    if (str_eq(str_part(body, 0, n), str_part(field, 0, n))) return true;
  }
  return false;
}

static void read_fault(struct attempt *a, enum attempt_end end, struct str why) {
  struct num_text room;
  const struct fault *failed = draft_failed(a->draft);
  bool answered = a->status != 0 && !is_fine_status(a);
  bool page = end == ATTEMPT_CLOSED && a->events == 0 && !begins_stream(buf_str(&a->body));
  if (failed) {
    a->fault.kind = failed->kind;
    a->fault.message = failed->message;
    a->fault.type = failed->type;
    if (failed->kind == FAULT_INVALID)
      a->fault.repair = refused_part(
          a->wire, &(struct error_words){.message = failed->message, .type = failed->type});
    if (str_blank(failed->message)) put_sentence(a, T_WIRE_MUTE, STR_NONE, STR_NONE);
  } else if (draft_lacks(a->draft) || a->sse.fail == REIN_MEMORY) {
    a->fault.kind = FAULT_BROKEN;
    a->fault.message = str_of(text_raw(T_WIRE_MEMORY, draft_lang(a->draft)));
  } else if (a->sse.fail) {
    a->fault.kind = FAULT_GARBLED;
    put_sentence(a, T_WIRE_LONG_LINE, str_num(&room, SSE_LINE_MAX), STR_NONE);
  } else if (answered || page) {
    read_body(a);
  } else {
    read_break(a, end, why);
  }
}

static void put_failed(struct attempt *a, enum attempt_end end, struct str why, int64_t now_s,
                       struct event *event) {
  bool answered = a->status != 0 && !is_fine_status(a);
  a->fault = (struct fault){.status = a->status,
                            .retry_after_ms = wait_of(a, now_s),
                            .should_retry = answered ? a->should_retry : -1,
                            .began = draft_began(a->draft),
                            .streamed_text = a->streamed,
                            .usage = draft_used(a->draft),
                            .billed = !answered && end != ATTEMPT_CONNECT};
  read_fault(a, end, why);
  a->fault.request_id = buf_str(&a->request_id);
  event->kind = EVENT_FAILED;
  event->fault = &a->fault;
}

void attempt_end(struct attempt *a, enum attempt_end end, struct str why, int64_t at_ms,
                 int64_t now_s, struct event *event) {
  *event = (struct event){.at_ms = at_ms, .id = a->id};
  if (!attempt_over(a) && end == ATTEMPT_CLOSED && is_fine_status(a)) {
    sse_end(&a->sse);
    read_events(a);
    if (!a->sse.fail) draft_eof(a->draft);
  }
  if (draft_is_done(a->draft) && draft_reply(a->draft, &a->reply, NULL) == REIN_OK) {
    event->kind = EVENT_REPLY;
    event->reply = &a->reply;
    return;
  }
  put_failed(a, end, why, now_s, event);
}

struct str attempt_raw_error(const struct attempt *a) {
  bool fault = draft_failed(a->draft) || !is_fine_status(a) || a->events == 0;
  return fault && !draft_is_done(a->draft) ? buf_str(&a->body) : STR_NONE;
}

size_t attempt_dropped(const struct attempt *a) {
  return draft_dropped(a->draft);
}
