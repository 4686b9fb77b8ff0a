/* Builds a reply out of a wire's events. Knows no wire: what an event means is
 * said by src/wire/anthropic_read.c and its like. The finished blocks are made
 * in draft_reply.c. */
#include "base/mem.h"
#include "text/text.h"
#include "wire/parts.h"
#include "wire/words.h"

#define DRAFT_ARENA_MAX (4 * (size_t)DRAFT_BYTES_MAX) /* bodies, their mended copies, raw blocks */

enum rein_code draft_new(const struct wire *wire, struct draft **draft) {
  struct draft *d = mem_zero(sizeof *d);
  if (!d) return REIN_MEMORY;
  d->wire = wire;
  d->lang = REIN_ENGLISH;
  arena_init(&d->arena, DRAFT_ARENA_MAX);
  *draft = d;
  return REIN_OK;
}

static void drop_parts(struct draft *d) {
  for (size_t i = 0; i < d->count; i++) {
    struct part *p = &d->parts[i];
    buf_release(&p->body);
    for (size_t j = 0; j < p->patched_count; j++)
      buf_release(&p->patched[j].text);
  }
  mem_free(d->parts);
  arena_release(&d->arena);
}

void draft_free(struct draft *draft) {
  if (!draft) return;
  drop_parts(draft);
  mem_free(draft);
}

void draft_speak(struct draft *draft, enum rein_lang lang) {
  draft->lang = lang;
}

enum rein_lang draft_lang(const struct draft *draft) {
  return draft->lang;
}

void draft_lost(struct draft *draft, enum rein_code code) {
  draft->fail = code;
}

/* Nothing that comes after the end, of either kind, counts. */
static bool over(const struct draft *d) {
  return d->done || d->failed || d->fail != REIN_OK;
}

static void keep(struct draft *d, struct str s, struct str *copy) {
  if (s.n == 0)
    *copy = STR_NONE;
  else if (!arena_str(&d->arena, s, copy))
    draft_lost(d, REIN_MEMORY);
}

static void moved(struct draft *d) {
  d->moved = d->began = true;
}

void draft_id(struct draft *draft, struct str id, struct str model) {
  bool known = draft->began && str_eq(id, draft->id) && str_eq(model, draft->model);
  if (over(draft) || known) return;
  moved(draft);
  keep(draft, id, &draft->id);
  keep(draft, model, &draft->model);
}

struct str draft_named(const struct draft *draft) {
  return draft->id;
}

/* -- blocks -- */

static struct part *find(const struct draft *d, int64_t index) {
  for (size_t i = d->count; i > 0; i--)
    if (d->parts[i - 1].index == index) return &d->parts[i - 1];
  return NULL;
}

static struct part *find_open(const struct draft *d, int64_t index) {
  struct part *p = over(d) ? NULL : find(d, index);
  return p && !p->closed ? p : NULL;
}

static bool room_for_part(struct draft *d) {
  if (d->count < d->cap) return true;
  size_t cap = d->cap ? d->cap * 2 : 8;
  struct part *bigger = mem_resize(d->parts, cap * sizeof *bigger);
  if (!bigger) {
    draft_lost(d, REIN_MEMORY);
    return false;
  }
  d->parts = bigger;
  d->cap = cap;
  return true;
}

static void too_much(struct draft *d, enum text_id sentence, int64_t most) {
  struct num_text room;
  struct buf b;
  buf_init(&b, 512);
  TEXT_PUT(&b, d->lang, sentence, str_num(&room, most));
  draft_fail(d, FAULT_GARBLED, buf_str(&b), STR_NONE);
  buf_release(&b);
}

void draft_restart(struct draft *draft) {
  if (over(draft)) return;
  if (draft->restarts == DRAFT_RESTARTS_MAX) {
    too_much(draft, T_WIRE_RESTARTS, DRAFT_RESTARTS_MAX);
    return;
  }
  drop_parts(draft);
  *draft = (struct draft){.wire = draft->wire,
                          .lang = draft->lang,
                          .began = true,
                          .moved = true,
                          .withdrawn = draft->withdrawn || draft->gave,
                          .restarts = draft->restarts + 1};
  arena_init(&draft->arena, DRAFT_ARENA_MAX);
}

void draft_open(struct draft *draft, int64_t index, enum block_kind kind) {
  if (over(draft) || find_open(draft, index)) return;
  if (draft->count == DRAFT_BLOCKS_MAX) {
    too_much(draft, T_WIRE_MANY_BLOCKS, DRAFT_BLOCKS_MAX);
    return;
  }
  if (!room_for_part(draft)) return;
  struct part *p = &draft->parts[draft->count++];
  *p = (struct part){.index = index, .kind = kind, .dark = true};
  buf_init(&p->body, DRAFT_BYTES_MAX);
  moved(draft);
}

void draft_call(struct draft *draft, int64_t index, struct str id, struct str name) {
  struct part *p = find_open(draft, index);
  if (!p) return;
  bool new_id = p->id.n == 0 && id.n, new_name = p->name.n == 0 && name.n;
  if (new_id) keep(draft, id, &p->id);
  if (new_name) keep(draft, name, &p->name);
  if (new_id || new_name) moved(draft); /* said again, it is no step forward */
}

static bool count_bytes(struct draft *d, size_t n) {
  if (n <= DRAFT_BYTES_MAX - d->bytes) {
    d->bytes += n;
    return true;
  }
  too_much(d, T_WIRE_LONG_REPLY, DRAFT_BYTES_MAX);
  return false;
}

static void joined(struct draft *d, struct buf *text) {
  if (text->fail) draft_lost(d, text->fail);
}

void draft_text(struct draft *draft, int64_t index, struct str piece) {
  struct part *p = find_open(draft, index);
  if (!p || piece.n == 0 || !count_bytes(draft, piece.n)) return;
  size_t before = p->body.n;
  utf8_join(&p->join, &p->body, piece);
  joined(draft, &p->body);
  if (p->dark) p->dark = words_blank(str_part(buf_str(&p->body), before, p->body.n));
  moved(draft);
}

void draft_signature(struct draft *draft, int64_t index, struct str signature) {
  struct part *p = find_open(draft, index);
  if (!p || str_eq(signature, p->signature) || !count_bytes(draft, signature.n)) return;
  keep(draft, signature, &p->signature);
  moved(draft);
}

void draft_raw(struct draft *draft, int64_t index, struct str json) {
  struct part *p = find_open(draft, index);
  if (!p || !count_bytes(draft, json.n)) return;
  keep(draft, json, &p->raw);
  moved(draft);
}

void draft_item(struct draft *draft, int64_t index, struct str json) {
  struct part *p = find_open(draft, index);
  if (!p || !count_bytes(draft, json.n)) return;
  keep(draft, json, &p->item);
  moved(draft);
}

/* What was given out of the reply does not count: all of it is given anew. */
static void show_anew(struct draft *d) {
  d->withdrawn = d->withdrawn || d->gave;
  d->gave = false;
  d->show_from = 0;
  for (size_t i = 0; i < d->count; i++)
    d->parts[i].shown = 0;
}

static void settle(struct draft *d, struct part *p, struct str whole) {
  struct str body = buf_str(&p->body);
  p->join = (struct utf8_join){0};
  if (!str_starts(whole, body)) {
    bool shown = p->shown > 0;
    buf_reset(&p->body);
    p->shown = 0;
    if (shown) show_anew(d);
  }
  buf_put(&p->body, str_part(whole, p->body.n, whole.n));
  joined(d, &p->body);
  p->dark = words_blank(buf_str(&p->body));
}

void draft_settle(struct draft *draft, int64_t index, struct str whole) {
  struct part *p = find_open(draft, index);
  struct utf8_join join = {0};
  struct buf sound;
  if (!p || whole.n == 0) return;
  buf_init(&sound, DRAFT_BYTES_MAX);
  utf8_join(&join, &sound, whole);
  utf8_join_end(&join, &sound);
  size_t more = sound.n > p->body.n ? sound.n - p->body.n : 0;
  if (count_bytes(draft, more)) {
    bool news = !str_eq(buf_str(&sound), buf_str(&p->body));
    joined(draft, &sound);
    if (!draft->fail) settle(draft, p, buf_str(&sound));
    if (news) moved(draft);
  }
  buf_release(&sound);
}

static struct patched *find_patched(struct draft *d, struct part *p, struct str member,
                                    enum patch how) {
  for (size_t i = 0; i < p->patched_count; i++)
    if (str_eq(p->patched[i].member, member)) return &p->patched[i];
  if (!p->patched) p->patched = arena_array(&d->arena, struct patched, DRAFT_PATCHES_MAX);
  if (!p->patched) {
    draft_lost(d, REIN_MEMORY);
    return NULL;
  }
  if (p->patched_count == DRAFT_PATCHES_MAX) return NULL;
  struct patched *m = &p->patched[p->patched_count];
  keep(d, member, &m->member);
  if (d->fail) return NULL;
  m->how = how;
  buf_init(&m->text, DRAFT_BYTES_MAX);
  p->patched_count++;
  return m;
}

void draft_patch(struct draft *draft, int64_t index, struct str member, enum patch how,
                 struct str piece) {
  struct part *p = find_open(draft, index);
  if (!p || !count_bytes(draft, piece.n)) return;
  struct patched *m = find_patched(draft, p, member, how);
  if (!m) return;
  if (how == PATCH_VALUE) buf_reset(&m->text);
  if (how == PATCH_EACH && m->text.n) buf_c(&m->text, ',');
  utf8_join(&m->join, &m->text, piece);
  joined(draft, &m->text);
  if (piece.n) moved(draft);
}

/* Blanks right behind a text belong to it: a paragraph break between two blocks
 * of one answer. Alone they are nothing. */
static bool belongs_to_text(const struct draft *d, const struct part *p) {
  if (p->kind != BLOCK_TEXT || p == d->parts || p->body.n == 0) return false;
  return p[-1].kind == BLOCK_TEXT && p[-1].closed && !p[-1].dark;
}

static void close_part(struct draft *d, struct part *p) {
  p->closed = true;
  utf8_join_end(&p->join, &p->body);
  joined(d, &p->body);
  if (p->dark) p->dark = words_blank(buf_str(&p->body)) && !belongs_to_text(d, p);
  for (size_t i = 0; i < p->patched_count; i++) {
    utf8_join_end(&p->patched[i].join, &p->patched[i].text);
    joined(d, &p->patched[i].text);
  }
}

void draft_close(struct draft *draft, int64_t index) {
  struct part *p = find_open(draft, index);
  if (!p) return;
  close_part(draft, p);
  moved(draft);
}

bool draft_has(const struct draft *draft, int64_t index, enum block_kind *kind) {
  const struct part *p = find_open(draft, index);
  if (p) *kind = p->kind;
  return p != NULL;
}

int64_t draft_newest(const struct draft *draft) {
  return draft->count ? draft->parts[draft->count - 1].index : 0;
}

static bool view_of(const struct part *p, struct draft_view *view) {
  if (!p) return false;
  *view = (struct draft_view){p->index, p->kind, p->closed, p->id, p->name, buf_str(&p->body)};
  return true;
}

bool draft_find(const struct draft *draft, int64_t index, struct draft_view *view) {
  return view_of(find(draft, index), view);
}

bool draft_back(const struct draft *draft, size_t i, struct draft_view *view) {
  return view_of(i < draft->count ? &draft->parts[draft->count - 1 - i] : NULL, view);
}

void draft_lenient(struct draft *draft) {
  draft->lenient = true;
}

void draft_refuse(struct draft *draft) {
  if (!over(draft)) draft->refused = true;
}

struct think *draft_think(struct draft *draft) {
  return &draft->think;
}

bool draft_stopped(const struct draft *draft) {
  return draft->has_stop;
}

/* -- counts and ends -- */

void draft_count(struct usage *seen) {
  *seen = (struct usage){
      .input = -1, .output = -1, .cache_read = -1, .cache_write = -1, .known_output = true};
}

static void take_count(int64_t *kept, int64_t seen) {
  if (seen >= 0) *kept = seen < DRAFT_TOKENS_MAX ? seen : DRAFT_TOKENS_MAX;
}

void draft_usage(struct draft *draft, const struct usage *seen) {
  struct usage *u = &draft->usage;
  if (over(draft)) return;
  take_count(&u->input, seen->input);
  take_count(&u->output, seen->output);
  take_count(&u->cache_read, seen->cache_read);
  take_count(&u->cache_write, seen->cache_write);
  u->known_input = u->known_input || seen->input >= 0;
  u->known_output = u->known_output || (seen->known_output && seen->output >= 0);
}

void draft_stop(struct draft *draft, enum stop stop, struct str word) {
  if (over(draft)) return;
  word = utf8_head(word, DRAFT_WORD_POINTS_MAX);
  if (!draft->has_stop || !str_eq(word, draft->stop_word)) moved(draft);
  draft->stop = stop;
  draft->has_stop = true;
  keep(draft, word, &draft->stop_word);
}

void draft_done(struct draft *draft) {
  if (over(draft)) return;
  for (size_t i = 0; i < draft->count; i++)
    if (!draft->parts[i].closed) close_part(draft, &draft->parts[i]);
  if (!draft->has_stop) { /* it cannot be told whether it was cut */
    draft->stop = STOP_UNKNOWN;
    draft->stop_word = STR("null");
  }
  if (draft->refused && draft->stop == STOP_END) draft->stop = STOP_REFUSAL;
  moved(draft);
  draft->done = true;
}

void draft_stop_ends(struct draft *draft) {
  draft->stop_ends = true;
}

void draft_eof(struct draft *draft) {
  if (draft->has_stop && draft->stop_ends) draft_done(draft);
}

void draft_fail(struct draft *draft, enum fault_kind kind, struct str message, struct str type) {
  if (over(draft)) return;
  draft->fault = (struct fault){.kind = kind, .retry_after_ms = -1, .should_retry = -1};
  keep(draft, message, &draft->fault.message);
  keep(draft, type, &draft->fault.type);
  draft->failed = true;
}

/* -- looking -- */

static bool shown_to_the_end(const struct part *p) {
  bool shows = p->kind == BLOCK_TEXT || p->kind == BLOCK_THINKING;
  return !shows || (p->closed && (p->dark || p->shown == p->body.n));
}

static bool has_piece(const struct part *p) {
  bool shows = p->kind == BLOCK_TEXT || p->kind == BLOCK_THINKING;
  return shows && !p->dark && p->shown < p->body.n;
}

/* Text is given out in the order of the reply: where a server lets two text
 * blocks overlap, the later one waits for the end of the earlier. */
bool draft_piece(struct draft *draft, struct str *piece, bool *thinking) {
  bool text_waits = false;
  for (size_t i = draft->show_from; i < draft->count; i++) {
    struct part *p = &draft->parts[i];
    if (has_piece(p) && !(text_waits && p->kind == BLOCK_TEXT)) {
      *piece = str_part(buf_str(&p->body), p->shown, p->body.n);
      *thinking = p->kind == BLOCK_THINKING;
      p->shown = p->body.n;
      draft->gave = true;
      return true;
    }
    if (shown_to_the_end(p))
      draft->show_from += i == draft->show_from;
    else
      text_waits = text_waits || p->kind == BLOCK_TEXT;
  }
  return false;
}

bool draft_moved(struct draft *draft) {
  bool moved_now = draft->moved;
  draft->moved = false;
  return moved_now;
}

bool draft_began(const struct draft *draft) {
  return draft->began;
}

bool draft_withdrawn(struct draft *draft) {
  bool withdrawn = draft->withdrawn;
  draft->withdrawn = false;
  return withdrawn;
}

bool draft_is_done(const struct draft *draft) {
  return draft->done;
}

bool draft_lacks(const struct draft *draft) {
  return draft->fail != REIN_OK;
}

const struct fault *draft_failed(const struct draft *draft) {
  return draft->failed ? &draft->fault : NULL;
}

struct usage draft_used(const struct draft *draft) {
  return draft->usage;
}
