/* Makes the finished reply of a draft: blocks in order, arguments judged, ids
 * that are missing or stand twice made unique, signed and unknown blocks as
 * JSON that goes back as it came. */
#include "base/hash.h"
#include "json/json.h"
#include "json/write.h"
#include "text/text.h"
#include "wire/parts.h"
#include "wire/words.h"

#define SCRATCH_MAX (16 * (size_t)DRAFT_BYTES_MAX) /* a tree of the longest arguments */

static struct str copy_of(struct draft *d, struct str s) {
  struct str copy = STR_NONE;
  if (s.n && !arena_str(&d->arena, s, &copy)) draft_lost(d, REIN_MEMORY);
  return copy;
}

static struct str copy_of_buf(struct draft *d, const struct buf *b) {
  if (b->fail) draft_lost(d, b->fail);
  return b->fail ? STR_NONE : copy_of(d, buf_str(b));
}

static struct str mended(struct draft *d, struct str source) {
  struct buf b;
  buf_init(&b, 2 * (size_t)DRAFT_BYTES_MAX);
  json_mend(&b, source);
  struct str copy = copy_of_buf(d, &b);
  buf_release(&b);
  return copy;
}

/* -- calls -- */

/* Strictly: an object in which no key stands twice, at any depth. */
static bool is_object(struct draft *d, struct str source) {
  struct arena scratch;
  struct json *doc = NULL;
  arena_init(&scratch, SCRATCH_MAX);
  enum rein_code code = json_parse(&scratch, source, JSON_STRICT, &doc, NULL);
  if (code == REIN_MEMORY) draft_lost(d, code);
  bool fine = code == REIN_OK && json_is(doc, JSON_OBJECT) && !json_find_twin(doc);
  arena_release(&scratch);
  return fine;
}

/* What stands in the string that small models put around their arguments. */
static struct str unwrapped(struct draft *d, struct str source) {
  struct arena scratch;
  struct json *doc = NULL;
  struct str inner = STR_NONE;
  if (!str_starts(str_trim(source), STR("\""))) return source;
  arena_init(&scratch, SCRATCH_MAX);
  enum rein_code code = json_parse(&scratch, source, JSON_STRICT, &doc, NULL);
  if (code == REIN_MEMORY) draft_lost(d, code);
  if (code == REIN_OK) inner = copy_of(d, json_text(doc));
  arena_release(&scratch);
  return inner.n && is_object(d, inner) ? inner : source;
}

/* Whether a limit may have ended this block, the last one. */
static bool is_limited(const struct draft *d, bool last) {
  bool limit = d->stop == STOP_LENGTH || d->stop == STOP_CONTEXT;
  return d->has_stop && limit && (last || d->lenient);
}

/* Blank arguments are {} once the block ended by itself; where the stream or
 * the output limit ended it, they are a gap that must never be run. */
static void put_args(struct draft *d, const struct part *p, bool last, struct block *b) {
  bool limit = is_limited(d, last);
  struct str source = d->lenient ? unwrapped(d, buf_str(&p->body)) : buf_str(&p->body);
  if (str_blank(source) && p->raw.n) source = p->raw;
  if (str_blank(source) && p->closed && !limit) source = STR("{}");
  b->args = mended(d, source);
  b->args_bad = str_blank(source) || !is_object(d, b->args);
  b->cut = limit && b->args_bad;
}

static bool id_stands(const struct block *blocks, size_t count, struct str id) {
  for (size_t i = 0; i < count; i++)
    if (blocks[i].kind == BLOCK_TOOL_USE && str_eq(blocks[i].id, id)) return true;
  return false;
}

/* A missing id is invented from the reply's own and the place, so that equal
 * bytes give equal ids; a second one of the same name gets the place behind. */
static struct str settled_id(struct draft *d, const struct block *blocks, size_t count,
                             struct str id) {
  if (id.n && !id_stands(blocks, count, id)) return id;
  struct buf b;
  buf_init(&b, id.n + 64);
  if (id.n)
    buf_put(&b, id);
  else
    buf_fmt(&b, "call_%08x", (unsigned)(hash_str(d->id) & 0xffffffffu));
  buf_fmt(&b, "_%zu", count);
  while (!b.fail && id_stands(blocks, count, buf_str(&b)) && b.n < b.max)
    buf_c(&b, 'x');
  struct str made = copy_of_buf(d, &b);
  buf_release(&b);
  return made;
}

/* -- blocks that go back as they came -- */

static void put_source(struct json_out *w, struct str text, bool sound) {
  if (sound) {
    json_put_raw(w, text);
    return;
  }
  json_open(w, '{'); /* it never parsed: kept, in the shape that all wires use */
  json_key(w, "INVALID_JSON");
  json_put_text(w, text);
  json_close(w, '}');
}

static void put_joined(struct json_out *w, struct str text, const struct json *before) {
  struct buf whole;
  buf_init(&whole, 2 * (size_t)DRAFT_BYTES_MAX);
  buf_put(&whole, json_text(before));
  buf_put(&whole, text);
  if (whole.fail) w->buf->fail = whole.fail;
  json_put_text(w, buf_str(&whole));
  buf_release(&whole);
}

static void put_member(struct json_out *w, const struct patched *m, const struct json *before,
                       bool sound) {
  struct str text = buf_str(&m->text);
  switch (m->how) {
  case PATCH_TEXT: put_joined(w, text, before); break;
  case PATCH_SOURCE: put_source(w, text, sound); break;
  case PATCH_VALUE: json_put_raw(w, text); break;
  case PATCH_EACH:
    json_open(w, '[');
    json_put_raw(w, text);
    json_close(w, ']');
    break;
  }
}

/* A source that stayed blank leaves the member as the start had it. */
static bool counts(const struct patched *m) {
  return m->how == PATCH_TEXT || !str_blank(buf_str(&m->text));
}

static const struct patched *patched_member(const struct part *p, struct str key) {
  for (size_t i = 0; i < p->patched_count; i++)
    if (str_eq(p->patched[i].member, key) && counts(&p->patched[i])) return &p->patched[i];
  return NULL;
}

static bool is_json(struct draft *d, const struct patched *m) {
  struct arena scratch;
  struct json *doc = NULL;
  arena_init(&scratch, SCRATCH_MAX);
  enum rein_code code = m->how == PATCH_SOURCE
                            ? json_parse(&scratch, buf_str(&m->text), JSON_STRICT, &doc, NULL)
                            : REIN_OK;
  if (code == REIN_MEMORY) draft_lost(d, code);
  arena_release(&scratch);
  return code == REIN_OK;
}

static void put_patched(struct draft *d, const struct part *p, const struct json *start,
                        struct buf *out) {
  struct json_out w = json_out(out);
  json_open(&w, '{');
  for (const struct json *m = start->first; m; m = m->next) {
    const struct patched *patched = patched_member(p, m->key);
    json_key_str(&w, m->key);
    if (patched)
      put_member(&w, patched, m, is_json(d, patched));
    else
      json_put_raw(&w, m->source);
  }
  for (size_t i = 0; i < p->patched_count; i++) {
    const struct patched *m = &p->patched[i];
    bool stood = false;
    for (const struct json *k = start->first; k; k = k->next)
      stood = stood || str_eq(k->key, m->member);
    if (stood || !counts(m)) continue;
    json_key_str(&w, m->member);
    put_member(&w, m, NULL, is_json(d, m));
  }
  json_close(&w, '}');
}

/* The start of the block with its pieces in place. */
static struct str patched_raw(struct draft *d, const struct part *p, struct str from) {
  struct arena scratch;
  struct json *start = NULL;
  if (p->patched_count == 0) return from;
  if (from.n == 0) from = STR("{}");
  struct str made = from;
  arena_init(&scratch, SCRATCH_MAX);
  enum rein_code code = json_parse(&scratch, from, JSON_STRICT, &start, NULL);
  if (code == REIN_MEMORY) draft_lost(d, code);
  if (code == REIN_OK && json_is(start, JSON_OBJECT)) {
    struct buf b;
    buf_init(&b, 4 * (size_t)DRAFT_BYTES_MAX);
    put_patched(d, p, start, &b);
    made = copy_of_buf(d, &b);
    buf_release(&b);
  }
  arena_release(&scratch);
  return made;
}

static struct str thinking_raw(struct draft *d, const struct part *p) {
  struct buf b;
  buf_init(&b, 8 * (size_t)DRAFT_BYTES_MAX);
  struct json_out w = json_out(&b);
  json_open(&w, '{');
  json_key(&w, "type");
  json_put_text(&w, STR("thinking"));
  json_key(&w, "thinking");
  json_put_text(&w, buf_str(&p->body));
  json_key(&w, "signature");
  json_put_text(&w, p->signature);
  json_close(&w, '}');
  struct str raw = copy_of_buf(d, &b);
  buf_release(&b);
  return raw;
}

/* -- the reply -- */

/* Kept are texts that say something, calls, and blocks that may go back. */
static bool is_kept(const struct draft *d, const struct part *p) {
  switch (p->kind) {
  case BLOCK_TEXT: return !p->dark;
  case BLOCK_THINKING: return p->raw.n || p->signature.n || p->patched_count;
  case BLOCK_OPAQUE: return p->raw.n > 0;
  case BLOCK_TOOL_USE: return p->name.n || !d->lenient;
  case BLOCK_TOOL_RESULT: return false;
  }
  return false;
}

static void put_block(struct draft *d, const struct part *p, bool last, struct block *blocks,
                      size_t count) {
  struct block *b = &blocks[count];
  b->kind = p->kind;
  switch (p->kind) {
  case BLOCK_TEXT:
    b->text = copy_of_buf(d, &p->body);
    b->raw = mended(d, p->item);
    break;
  case BLOCK_TOOL_USE:
    put_args(d, p, last, b);
    b->id = settled_id(d, blocks, count, p->id);
    b->name = p->name;
    b->raw = mended(d, patched_raw(d, p, p->item));
    break;
  case BLOCK_THINKING:
  case BLOCK_OPAQUE:
    if (p->raw.n || p->patched_count)
      b->raw = mended(d, patched_raw(d, p, p->raw));
    else
      b->raw = thinking_raw(d, p);
    break;
  case BLOCK_TOOL_RESULT: break;
  }
  if (b->raw.n) b->wire = str_of(d->wire->name);
}

enum rein_code draft_reply(struct draft *draft, struct reply *reply, struct err *err) {
  struct block *blocks = arena_array(&draft->arena, struct block, draft->count + 1);
  size_t count = 0, all = draft->count;
  if (!blocks) draft_lost(draft, REIN_MEMORY);
  while (all > 0 && !is_kept(draft, &draft->parts[all - 1]))
    all--; /* a call that was cut is the last, whatever blanks stand behind it */
  for (size_t i = 0; i < all && !draft->fail; i++)
    if (is_kept(draft, &draft->parts[i]))
      put_block(draft, &draft->parts[i], i + 1 == all, blocks, count++);
  if (draft->fail) return ERR(err, draft->fail, T_WIRE_MEMORY);
  *reply = (struct reply){.blocks = blocks,
                          .count = count,
                          .stop = draft->stop,
                          .stop_word = draft->stop_word,
                          .id = draft->id,
                          .model = draft->model,
                          .usage = draft->usage};
  return REIN_OK;
}

size_t draft_dropped(const struct draft *draft) {
  size_t n = 0;
  for (size_t i = 0; i < draft->count; i++)
    n += draft->parts[i].kind == BLOCK_THINKING && !is_kept(draft, &draft->parts[i]);
  return n;
}
