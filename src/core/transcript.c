/* Messages and their bytes: see transcript.h. The rules that providers answer
 * with HTTP 400 for (Messages API, "tool_result rules") are held here. */
#include "core/transcript.h"

#include "base/hash.h"
#include "base/mem.h"
#include "text/text.h"

#include <assert.h>

void transcript_init(struct transcript *t, const struct wire *wire, const struct quirks *quirks) {
  *t = (struct transcript){.wire = wire, .quirks = quirks};
  arena_init(&t->arena, TRANSCRIPT_MAX);
  arena_init(&t->newest, TRANSCRIPT_MAX);
}

void transcript_release(struct transcript *t) {
  arena_release(&t->arena);
  arena_release(&t->newest);
  mem_free(t->messages);
  mem_free(t->bytes);
  mem_free(t->roles);
  mem_free(t->tokens);
  mem_free(t->said);
  mem_free(t->ids);
  *t = (struct transcript){0};
}

enum rein_code transcript_no_room(const struct transcript *t, struct err *err) {
  struct num_text room;
  if (!t->arena.full && !t->newest.full) return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
  return ERR(err, REIN_LIMIT, T_CORE_END_SIZE, str_num(&room, TRANSCRIPT_MAX));
}

static bool grow(void **v, size_t size, size_t cap) {
  void *bigger = mem_resize(*v, size * cap);
  if (bigger) *v = bigger;
  return bigger != NULL;
}

static bool reserve(struct transcript *t, size_t ids) {
  if (t->count == t->cap) {
    size_t cap = t->cap ? t->cap * 2 : 16;
    if (!grow((void **)&t->messages, sizeof *t->messages, cap) ||
        !grow((void **)&t->bytes, sizeof *t->bytes, cap) ||
        !grow((void **)&t->roles, sizeof *t->roles, cap) ||
        !grow((void **)&t->tokens, sizeof *t->tokens, cap))
      return false;
    t->cap = cap;
  }
  if (t->id_count + ids > t->id_cap) {
    size_t cap = (t->id_count + ids) * 2;
    if (!grow((void **)&t->ids, sizeof *t->ids, cap)) return false;
    t->id_cap = cap;
  }
  return true;
}

static bool copy(struct arena *a, struct str *s) {
  return s->n == 0 || arena_str(a, *s, s);
}

bool transcript_copy_block(struct arena *a, const struct block *from, struct block *to) {
  *to = *from;
  return copy(a, &to->text) && copy(a, &to->id) && copy(a, &to->name) && copy(a, &to->args) &&
         copy(a, &to->raw) && copy(a, &to->wire);
}

/* The bytes of a message, in the arena; empty when none of it can be sent. */
bool transcript_encode(struct transcript *t, const struct message *m, bool drop, struct str *bytes,
                       int64_t *tokens) {
  struct buf b;
  buf_init(&b, TRANSCRIPT_MAX);
  bool sent = t->wire->put_message(&b, m, drop, t->quirks);
  *bytes = STR_NONE;
  *tokens = tokens_of(t->tokenizer, sent ? buf_str(&b) : STR_NONE);
  bool fine = b.fail == REIN_OK && (!sent || arena_str(&t->arena, buf_str(&b), bytes));
  buf_release(&b);
  return fine;
}

/* Puts a message of copied blocks at place i: the end, or over the last one. */
static bool put(struct transcript *t, size_t i, enum role role, const struct block *blocks,
                size_t count) {
  struct message m = {.role = role, .blocks = blocks, .count = count};
  struct str bytes;
  int64_t tokens;
  if (!transcript_encode(t, &m, false, &bytes, &tokens)) return false;
  t->messages[i] = m;
  t->bytes[i] = bytes;
  t->roles[i] = role;
  t->tokens[i] = tokens;
  t->count = i + 1;
  return true;
}

static bool add_said(struct transcript *t, size_t message, struct str text) {
  if (t->said_count == t->said_cap) {
    size_t cap = t->said_cap ? t->said_cap * 2 : 8;
    if (!grow((void **)&t->said, sizeof *t->said, cap)) return false;
    t->said_cap = cap;
  }
  struct said *one = &t->said[t->said_count];
  one->message = message;
  if (!arena_str(&t->arena, text, &one->text)) return false;
  t->said_count++;
  return true;
}

bool transcript_keep_said(struct transcript *t, size_t message, const struct block *blocks,
                          size_t count) {
  size_t before = t->said_count;
  bool fine = true;
  for (size_t i = 0; i < count && fine; i++)
    if (blocks[i].said) fine = add_said(t, message, blocks[i].text);
  if (!fine) t->said_count = before;
  return fine;
}

/* A new user message begins: the blocks of the one before are let go, its words kept. */
static bool let_go(struct transcript *t) {
  if (t->keeps) return true;
  for (size_t i = t->count; i > 0; i--) {
    struct message *m = &t->messages[i - 1];
    if (t->roles[i - 1] != ROLE_USER) continue;
    if (!transcript_keep_said(t, i - 1, m->blocks, m->count)) return false;
    m->blocks = NULL;
    m->count = 0;
    break;
  }
  arena_release(&t->newest);
  return true;
}

/* Copies of the new blocks behind `before` old ones; NULL: no room. */
static struct block *joined(struct transcript *t, const struct message *last, size_t before,
                            const struct block *blocks, size_t count) {
  struct block *all = arena_array(&t->newest, struct block, before + count);
  for (size_t i = 0; i < before && all; i++)
    all[i] = last->blocks[i];
  for (size_t i = 0; i < count && all; i++)
    if (!transcript_copy_block(&t->newest, &blocks[i], &all[before + i])) return NULL;
  return all;
}

/* Blocks behind those of the last user message, or a new message of them. */
static enum rein_code add_user(struct transcript *t, const struct block *blocks, size_t count,
                               struct err *err) {
  bool join = t->count > 0 && t->roles[t->count - 1] == ROLE_USER;
  if (!reserve(t, 0) || (!join && !let_go(t))) return transcript_no_room(t, err);
  const struct message *last = join ? &t->messages[t->count - 1] : NULL;
  size_t before = join ? last->count : 0;
  struct block *all = joined(t, last, before, blocks, count);
  if (!all || !put(t, join ? t->count - 1 : t->count, ROLE_USER, all, before + count))
    return transcript_no_room(t, err);
  return REIN_OK;
}

enum rein_code transcript_say(struct transcript *t, struct str words, struct err *err) {
  assert(t->open == 0);
  return add_user(t, &(struct block){.kind = BLOCK_TEXT, .text = words, .said = true}, 1, err);
}

enum rein_code transcript_note(struct transcript *t, struct str words, struct err *err) {
  assert(t->open == 0);
  return add_user(t, &(struct block){.kind = BLOCK_TEXT, .text = words}, 1, err);
}

static bool id_taken(const struct transcript *t, size_t ids, uint64_t h) {
  for (size_t i = 0; i < ids; i++)
    if (t->ids[i] == h) return true;
  return false;
}

/* Gives a call an id that stands nowhere else: its own, or that with a number. */
static bool settle_id(struct transcript *t, size_t *ids, struct block *b) {
  struct str own = b->id.n ? b->id : STR("call");
  uint64_t h = hash_str(own);
  bool fresh = b->id.n > 0 && !id_taken(t, *ids, h);
  struct buf name;
  buf_init(&name, own.n + 32);
  for (int64_t n = (int64_t)*ids + 1; !fresh; n++) {
    buf_reset(&name);
    buf_put(&name, own);
    buf_c(&name, '_');
    buf_num(&name, n);
    h = hash_str(buf_str(&name));
    fresh = name.fail != REIN_OK || !id_taken(t, *ids, h);
  }
  bool fine = name.fail == REIN_OK && (name.n == 0 || arena_str(&t->arena, buf_str(&name), &b->id));
  buf_release(&name);
  t->ids[(*ids)++] = h;
  return fine;
}

enum rein_code transcript_reply(struct transcript *t, const struct block *blocks, size_t count,
                                const struct message **kept, struct err *err) {
  assert(t->open == 0 && t->count > 0 && count > 0);
  if (!reserve(t, count)) return transcript_no_room(t, err);
  struct block *all = arena_array(&t->arena, struct block, count);
  if (!all) return transcript_no_room(t, err);
  size_t calls = 0, ids = t->id_count;
  for (size_t i = 0; i < count; i++) {
    if (!transcript_copy_block(&t->arena, &blocks[i], &all[i])) return transcript_no_room(t, err);
    if (all[i].kind != BLOCK_TOOL_USE) continue;
    if (!settle_id(t, &ids, &all[i])) return transcript_no_room(t, err);
    calls++;
  }
  if (!put(t, t->count, ROLE_ASSISTANT, all, count)) return transcript_no_room(t, err);
  t->id_count = ids;
  t->open = calls;
  t->reply_bytes = t->bytes[t->count - 1].n;
  *kept = &t->messages[t->count - 1];
  return REIN_OK;
}

enum rein_code transcript_results(struct transcript *t, const struct block *results, size_t count,
                                  struct str note, struct err *err) {
  assert(t->open == count && count > 0);
  if (!let_go(t)) return transcript_no_room(t, err);
  struct block *all = arena_array(&t->newest, struct block, count + 1);
  if (!all || !reserve(t, 0)) return transcript_no_room(t, err);
  const struct message *reply = &t->messages[t->count - 1];
  size_t n = 0;
  for (size_t i = 0; i < reply->count; i++) {
    if (reply->blocks[i].kind != BLOCK_TOOL_USE) continue;
    assert(n < count);
    if (!transcript_copy_block(&t->newest, &results[n], &all[n])) return transcript_no_room(t, err);
    all[n].kind = BLOCK_TOOL_RESULT;
    all[n++].id = reply->blocks[i].id;
  }
  if (note.n) {
    all[n] = (struct block){.kind = BLOCK_TEXT};
    if (!arena_str(&t->newest, note, &all[n++].text)) return transcript_no_room(t, err);
  }
  if (!put(t, t->count, ROLE_USER, all, n)) return transcript_no_room(t, err);
  t->open = 0;
  return REIN_OK;
}

/* A message of the user that another one of his follows. */
static bool is_past_user(const struct transcript *t, size_t i) {
  bool later = false;
  for (size_t k = i + 1; k < t->count && t->roles[i] == ROLE_USER; k++)
    later = later || t->roles[k] == ROLE_USER;
  return later;
}

enum rein_code transcript_rewrite(struct transcript *t, const struct quirks *quirks, bool drop,
                                  struct err *err) {
  struct str *fresh = arena_array(&t->arena, struct str, t->count ? t->count : 1);
  int64_t *tokens = arena_array(&t->arena, int64_t, t->count ? t->count : 1);
  const struct quirks *before = t->quirks;
  if (!fresh || !tokens) return transcript_no_room(t, err);
  t->quirks = quirks;
  for (size_t i = 0; i < t->count; i++) {
    fresh[i] = t->bytes[i];
    tokens[i] = t->tokens[i];
    if (is_past_user(t, i)) continue; /* its blocks are let go: the provider took it before */
    bool left_out = drop || i < t->dropped;
    if (transcript_encode(t, &t->messages[i], left_out, &fresh[i], &tokens[i])) continue;
    t->quirks = before;
    return transcript_no_room(t, err);
  }
  for (size_t i = 0; i < t->count; i++) {
    t->bytes[i] = fresh[i];
    t->tokens[i] = tokens[i];
  }
  if (drop) t->dropped = t->count;
  return REIN_OK;
}

enum rein_code transcript_rewire(struct transcript *t, const struct wire *wire,
                                 const struct quirks *quirks, enum tokenizer tokenizer,
                                 struct err *err) {
  for (size_t i = 0; i < t->count; i++)
    if (t->messages[i].count == 0) return ERR(err, REIN_INPUT, T_CORE_BAD_RECORD, STR("rewrite"));
  struct transcript anew = *t; /* the arena's last block is shared: taken back below */
  struct str *fresh = arena_array(&anew.arena, struct str, t->count ? t->count : 1);
  int64_t *tokens = arena_array(&anew.arena, int64_t, t->count ? t->count : 1);
  bool fine = fresh && tokens;
  anew.wire = wire;
  anew.quirks = quirks;
  anew.tokenizer = tokenizer;
  for (size_t i = 0; i < t->count && fine; i++)
    fine = transcript_encode(&anew, &t->messages[i], true, &fresh[i], &tokens[i]);
  t->arena = anew.arena;
  if (!fine) return transcript_no_room(t, err);
  t->wire = wire;
  t->quirks = quirks;
  t->tokenizer = tokenizer;
  for (size_t i = 0; i < t->count; i++) {
    t->bytes[i] = fresh[i];
    t->tokens[i] = tokens[i];
  }
  t->dropped = t->count;
  return REIN_OK;
}

/* Blocks of the newest user message, elsewhere; words of the others. */
static bool keep_newest(struct transcript *t, struct arena *newest, const struct block **blocks) {
  for (size_t i = 0; i < t->count; i++) {
    const struct message *m = &t->messages[i];
    if (t->roles[i] != ROLE_USER) continue;
    if (is_past_user(t, i)) {
      if (!transcript_keep_said(t, i, m->blocks, m->count)) return false;
      continue;
    }
    struct block *copies = arena_array(newest, struct block, m->count + 1);
    for (size_t k = 0; k < m->count && copies; k++)
      if (!transcript_copy_block(newest, &m->blocks[k], &copies[k])) return false;
    if (!copies) return false;
    *blocks = copies;
  }
  return true;
}

enum rein_code transcript_keep(struct transcript *t, bool keep, struct err *err) {
  if (keep || !t->keeps) {
    t->keeps = keep;
    return REIN_OK;
  }
  struct arena newest;
  const struct block *blocks = NULL;
  size_t said = t->said_count;
  arena_init(&newest, TRANSCRIPT_MAX);
  if (!keep_newest(t, &newest, &blocks)) {
    t->said_count = said;
    arena_release(&newest);
    return transcript_no_room(t, err);
  }
  for (size_t i = 0; i < t->count; i++) {
    bool past = is_past_user(t, i);
    if (past) t->messages[i].count = 0;
    if (t->roles[i] == ROLE_USER) t->messages[i].blocks = past ? NULL : blocks;
  }
  arena_release(&t->newest);
  t->newest = newest;
  t->keeps = false;
  return REIN_OK;
}

bool transcript_ends_with_user(const struct transcript *t) {
  return t->count > 0 && t->roles[t->count - 1] == ROLE_USER;
}

bool transcript_ends_with_results(const struct transcript *t) {
  return transcript_last_results(t) > 0;
}
