/* One event of a stream, parsed. What its members mean is the wire's. */
#include "wire/payload.h"

#include "wire/errors.h"
#include "wire/words.h"

#define EVENT_TREE_MAX (8 * (size_t)SSE_EVENT_MAX) /* the tree of the longest event */

void payload_fail(struct draft *draft, enum fault_kind kind, enum text_id sentence,
                  struct str value) {
  struct buf quote, b;
  buf_init(&quote, 8192);
  buf_init(&b, 16384);
  words_quote(&quote, value);
  TEXT_PUT(&b, draft_lang(draft), sentence, buf_str(&quote));
  draft_fail(draft, kind, buf_str(&b), STR_NONE);
  buf_release(&quote);
  buf_release(&b);
}

bool payload_error(struct draft *draft, const struct json *doc) {
  struct error_words words;
  if (!error_read(doc, &words)) return false;
  draft_fail(draft, error_in_stream(&words), words.message, error_type(&words));
  return true;
}

bool payload_is_done(const struct sse_event *event) {
  return str_is(str_trim(event->data), "[DONE]");
}

/* An event that the stream's end cut is no garbage: the stream is broken, and
 * whoever saw its end says so. */
static bool is_harmless(const struct sse_event *event) {
  struct str data = str_trim(event->data);
  return event->open || data.n == 0 || data.p[0] == ':' || payload_is_done(event);
}

void payload_read(struct draft *draft, const struct sse_event *event, payload_fn read) {
  struct arena arena;
  struct json *doc = NULL;
  struct buf sound;
  arena_init(&arena, EVENT_TREE_MAX);
  buf_init(&sound, 3 * (size_t)SSE_EVENT_MAX);
  enum rein_code code = json_parse(&arena, event->data, JSON_STRICT, &doc, NULL);
  if (code == REIN_INPUT && !utf8_valid(event->data)) {
    utf8_repair(&sound, event->data);
    code = sound.fail ? sound.fail : json_parse(&arena, buf_str(&sound), JSON_STRICT, &doc, NULL);
  }
  if (code == REIN_MEMORY)
    draft_lost(draft, code);
  else if (code == REIN_OK && json_is(doc, JSON_OBJECT))
    read(draft, event->name, doc);
  else if (!is_harmless(event))
    payload_fail(draft, FAULT_GARBLED, T_WIRE_BAD_JSON, event->data);
  buf_release(&sound);
  arena_release(&arena);
}
