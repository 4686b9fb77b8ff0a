/* A compaction of the transcript: one message in place of many, never between a call and
 * its result. The new transcript is made beside the old one and takes its place whole, or
 * not at all. When, where to cut and who writes the summary is compact.c's.
 */
#include "core/shape.h"
#include "core/transcript.h"

#include "base/mem.h"
#include "base/utf8.h"
#include "text/text.h"

#include <assert.h>

bool transcript_may_cut(const struct transcript *t, size_t at) {
  if (at == 0 || at >= t->count) return false;
  if (t->roles[at] == ROLE_ASSISTANT) return t->roles[at - 1] == ROLE_USER;
  return at == t->count - 1 && !transcript_ends_with_results(t);
}

/* Calls fn for each of the user's words in messages before `cut`, in order. */
static bool each_said(const struct transcript *t, size_t cut,
                      bool (*fn)(void *ctx, struct str text), void *ctx) {
  size_t next = 0;
  for (size_t i = 0; i < cut; i++) {
    const struct message *m = &t->messages[i];
    if (t->roles[i] != ROLE_USER) continue;
    for (; next < t->said_count && t->said[next].message <= i; next++)
      if (!fn(ctx, t->said[next].text)) return false;
    for (size_t k = 0; k < m->count; k++)
      if (m->blocks[k].said && !fn(ctx, m->blocks[k].text)) return false;
  }
  return true;
}

struct count {
  enum tokenizer tokenizer;
  int64_t tokens;
};

static bool count_said(void *ctx, struct str text) {
  struct count *c = ctx;
  c->tokens += tokens_of(c->tokenizer, text);
  return true;
}

int64_t transcript_said_tokens(const struct transcript *t, size_t cut) {
  struct count c = {t->tokenizer, 0};
  (void)each_said(t, cut, count_said, &c);
  return c.tokens;
}

size_t transcript_last_results(const struct transcript *t) {
  size_t n = 0;
  if (!transcript_ends_with_user(t)) return 0;
  const struct message *m = &t->messages[t->count - 1];
  for (size_t i = 0; i < m->count; i++)
    n += m->blocks[i].kind == BLOCK_TOOL_RESULT;
  return n;
}

/* ---- the message in place of many ----------------------------------------- */

struct head {
  struct arena *arena;
  struct block *blocks;
  size_t count, room;
};

static bool put_text(struct head *h, struct str text, bool said) {
  if (h->count == h->room) {
    size_t room = h->room * 2 + 8;
    struct block *blocks = arena_array(h->arena, struct block, room);
    if (!blocks) return false;
    for (size_t i = 0; i < h->count; i++)
      blocks[i] = h->blocks[i];
    h->blocks = blocks;
    h->room = room;
  }
  struct block *b = &h->blocks[h->count];
  *b = (struct block){.kind = BLOCK_TEXT, .said = said};
  if (!arena_str(h->arena, text, &b->text)) return false;
  h->count++;
  return true;
}

static bool put_said(void *ctx, struct str text) {
  return put_text(ctx, text, true);
}

/* ---- messages that stay ----------------------------------------------------- */

static bool cut_result(struct arena *arena, const struct transcript *t, const struct compaction *c,
                       struct block *b) {
  int64_t tokens = tokens_of(t->tokenizer, b->text);
  if (tokens <= c->result_tokens) return true;
  struct buf cut;
  buf_init(&cut, TRANSCRIPT_MAX);
  int64_t points = (int64_t)utf8_count(b->text) * c->result_tokens / tokens;
  shape_cut(&cut, b->text, (size_t)points, c->lang);
  bool fine = !cut.fail && arena_str(arena, buf_str(&cut), &b->text);
  buf_release(&cut);
  return fine;
}

static bool copy_blocks(struct arena *arena, const struct message *m, const struct block **into) {
  struct block *blocks = arena_array(arena, struct block, m->count + 1);
  for (size_t i = 0; i < m->count && blocks; i++)
    if (!transcript_copy_block(arena, &m->blocks[i], &blocks[i])) return false;
  *into = blocks;
  return blocks != NULL;
}

/* The newest message, its results cut where they are too long. */
static bool shorten(struct transcript *to, const struct transcript *t, const struct compaction *c,
                    struct message *m) {
  struct block *blocks = arena_array(&to->newest, struct block, m->count + 1);
  for (size_t i = 0; i < m->count && blocks; i++) {
    blocks[i] = m->blocks[i];
    if (blocks[i].kind == BLOCK_TOOL_RESULT && !cut_result(&to->newest, t, c, &blocks[i]))
      return false;
  }
  m->blocks = blocks;
  return blocks != NULL;
}

static bool move(struct transcript *to, const struct transcript *t, size_t i,
                 const struct compaction *c) {
  size_t at = to->count;
  bool user = t->roles[i] == ROLE_USER, newest = i + 1 == t->count;
  struct message *m = &to->messages[at];
  *m = t->messages[i];
  m->role = t->roles[i];
  to->roles[at] = t->roles[i];
  to->tokens[at] = t->tokens[i];
  to->count++;
  if (m->count && !copy_blocks(user ? &to->newest : &to->arena, m, &m->blocks)) return false;
  if (user && newest && c->result_tokens && !shorten(to, t, c, m)) return false;
  bool anew = user ? newest && c->result_tokens : c->cut > 0;
  if (anew) return transcript_encode(to, m, c->cut > 0, &to->bytes[at], &to->tokens[at]);
  return arena_str(&to->arena, t->bytes[i], &to->bytes[at]);
}

/* Words of messages that stay. */
static bool move_said(struct transcript *to, const struct transcript *t, size_t cut) {
  for (size_t i = 0; i < t->said_count; i++) {
    struct said one = t->said[i];
    if (cut && one.message < cut) continue; /* they stand in the first message */
    if (!arena_str(&to->arena, one.text, &one.text)) return false;
    assert(to->said_count < to->said_cap);
    one.message = cut ? one.message - cut + 1 : one.message;
    to->said[to->said_count++] = one;
  }
  return true;
}

/* ---- all of it ---------------------------------------------------------------- */

static bool put_head(struct transcript *to, const struct transcript *t, const struct compaction *c,
                     bool joins) {
  struct head head = {.arena = &to->newest};
  if (!each_said(t, c->cut, put_said, &head) || !put_text(&head, c->summary, false)) return false;
  const struct message *last = &t->messages[t->count - 1];
  for (size_t i = 0; joins && i < last->count; i++)
    if (!put_text(&head, last->blocks[i].text, last->blocks[i].said)) return false;
  struct message *m = &to->messages[0];
  *m = (struct message){ROLE_USER, head.blocks, head.count};
  to->roles[0] = ROLE_USER;
  to->count = 1;
  if (!transcript_encode(to, m, true, &to->bytes[0], &to->tokens[0])) return false;
  if (joins || t->keeps) return true;
  if (!transcript_keep_said(to, 0, head.blocks, head.count)) return false;
  *m = (struct message){.role = ROLE_USER};
  return true;
}

static bool make_room(struct transcript *to, const struct transcript *t) {
  to->cap = t->cap;
  to->said_cap = t->said_count + t->count + 8;
  to->messages = mem_zero(to->cap * sizeof *to->messages);
  to->bytes = mem_zero(to->cap * sizeof *to->bytes);
  to->roles = mem_zero(to->cap * sizeof *to->roles);
  to->tokens = mem_zero(to->cap * sizeof *to->tokens);
  to->said = mem_zero(to->said_cap * sizeof *to->said);
  return to->messages && to->bytes && to->roles && to->tokens && to->said;
}

static bool fill(struct transcript *to, const struct transcript *t, const struct compaction *c) {
  bool joins = c->cut && t->roles[c->cut] == ROLE_USER;
  if (!make_room(to, t)) return false;
  if (c->cut && !put_head(to, t, c, joins)) return false;
  for (size_t i = c->cut; i < t->count && !joins; i++)
    if (!move(to, t, i, c)) return false;
  return move_said(to, t, c->cut);
}

enum rein_code transcript_compact(struct transcript *t, const struct compaction *c,
                                  struct err *err) {
  assert(t->open == 0 && t->count > 0);
  assert(c->cut == 0 || transcript_may_cut(t, c->cut));
  struct transcript to;
  transcript_init(&to, t->wire, t->quirks);
  to.tokenizer = t->tokenizer;
  to.keeps = t->keeps;
  if (!fill(&to, t, c)) {
    transcript_release(&to);
    return transcript_no_room(t, err);
  }
  to.dropped = c->cut ? to.count : t->dropped;
  to.ids = t->ids; /* no id may come again, gone or not */
  to.id_count = t->id_count;
  to.id_cap = t->id_cap;
  t->ids = NULL;
  for (size_t i = to.count; i > 0 && to.reply_bytes == 0; i--)
    if (to.roles[i - 1] == ROLE_ASSISTANT) to.reply_bytes = to.bytes[i - 1].n;
  transcript_release(t);
  *t = to;
  return REIN_OK;
}
