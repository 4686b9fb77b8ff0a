/* The tags of reasoning models whose server does not read them (vLLM without a
 * parser, older Ollama): "<think>" opens the answer or is not a tag at all. */
#include "wire/think.h"

#define OPEN STR("<think>")
#define CLOSE STR("</think>")

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

bool think_end(struct think *t, struct str *part, bool *thinking) {
  *part = (struct str){t->held, t->held_n};
  *thinking = t->at == THINK_INSIDE;
  t->held_n = 0;
  return part->n > 0;
}

static void decide(struct think *t, enum think_at at) {
  t->at = at;
  t->held_n = 0;
}

/* Holds the bytes while they may become "<think>". True: they do not, and are
 * given out as the answer. */
static bool start(struct think *t, struct str *piece, struct str *part, bool *thinking) {
  while (piece->n && t->held_n < THINK_HELD_MAX) {
    struct str seen = str_trim((struct str){t->held, t->held_n});
    char c = piece->p[0];
    if (!(seen.n == 0 && is_blank(c)) && c != OPEN.p[seen.n]) break;
    t->held[t->held_n++] = c;
    *piece = str_part(*piece, 1, piece->n);
    if (seen.n + 1 < OPEN.n) continue;
    decide(t, THINK_INSIDE);
    return false;
  }
  if (piece->n == 0 && t->held_n < THINK_HELD_MAX) return false;
  t->at = THINK_ANSWER;
  return think_end(t, part, thinking);
}

/* "<" stands in the closing tag once, so a mismatch can only begin it anew. */
static bool inside(struct think *t, struct str *piece, struct str *part, bool *thinking) {
  *thinking = true;
  while (piece->n) {
    char c = piece->p[0];
    if (t->held_n == 0 && c != CLOSE.p[0]) {
      *part = str_part(*piece, 0, str_find_char(*piece, CLOSE.p[0]));
      *piece = str_part(*piece, part->n, piece->n);
      return true;
    }
    if (c != CLOSE.p[t->held_n]) return think_end(t, part, thinking);
    t->held[t->held_n++] = c;
    *piece = str_part(*piece, 1, piece->n);
    if (t->held_n < CLOSE.n) continue;
    decide(t, THINK_AFTER);
    break;
  }
  return false;
}

bool think_next(struct think *t, struct str *piece, struct str *part, bool *thinking) {
  if (t->at == THINK_START && start(t, piece, part, thinking)) return true;
  if (t->at == THINK_INSIDE && inside(t, piece, part, thinking)) return true;
  while (t->at == THINK_AFTER && piece->n && is_blank(piece->p[0]))
    *piece = str_part(*piece, 1, piece->n);
  if (t->at == THINK_AFTER && piece->n) t->at = THINK_ANSWER;
  if (t->at != THINK_ANSWER || piece->n == 0) return false;
  *part = *piece;
  *piece = STR_NONE;
  *thinking = false;
  return true;
}
