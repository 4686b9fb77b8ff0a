/* Lines of JSON to records: see lines.h. What a record says is core's. */
#include "store/lines.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "json/json.h"
#include "text/text.h"

#define LINE_ARENA_MAX ((size_t)2 << 30)

/* Where the text that begins at i ends: its closing quote, or the end of s. */
static size_t text_end(struct str s, size_t i) {
  for (i++; i < s.n && s.p[i] != '"'; i++)
    i += s.p[i] == '\\';
  return i;
}

/* The end of the first whole object at the start of s; 0: there is none. */
static size_t object_end(struct str s) {
  size_t depth = 0;
  for (size_t i = 0; i < s.n; i++) {
    bool closes = s.p[i] == '}' || s.p[i] == ']';
    if (s.p[i] == '"') i = text_end(s, i);
    if (closes && depth <= 1) return depth ? i + 1 : 0;
    depth -= closes;
    depth += i < s.n && (s.p[i] == '{' || s.p[i] == '[');
  }
  return 0;
}

enum piece { PIECE_RECORD, PIECE_BESIDE, PIECE_BAD };

/* What stands between the records of a stream, and the report at its end, is fine. */
static enum rein_code judge(struct str piece, enum piece *kind, struct err *err) {
  struct arena arena;
  struct json *doc;
  arena_init(&arena, LINE_ARENA_MAX);
  enum rein_code code = json_parse(&arena, piece, JSON_UNIQUE, &doc, err);
  *kind = PIECE_BAD;
  if (code == REIN_OK && json_get(doc, "event"))
    *kind = PIECE_RECORD;
  else if (code == REIN_OK && (json_get(doc, "stream") || json_get(doc, "outcome")))
    *kind = PIECE_BESIDE;
  arena_release(&arena);
  return code == REIN_MEMORY ? code : REIN_OK;
}

/* The records of one line; *rest: what none can be made of. */
static enum rein_code take_line(struct journal *journal, struct str line, size_t *records,
                                struct str *rest, struct err *err) {
  enum rein_code code = REIN_OK;
  enum piece kind = PIECE_BESIDE;
  for (*rest = str_trim(line); rest->n > 0 && !code; *rest = str_trim(*rest)) {
    size_t n = rest->p[0] == '{' ? object_end(*rest) : 0;
    struct str piece = str_part(*rest, 0, n);
    if (n > 0) code = judge(piece, &kind, err);
    if (code || n == 0 || kind == PIECE_BAD) return code;
    if (kind == PIECE_RECORD) {
      code = journal->kind->append(journal, piece, err);
      (*records)++;
    }
    *rest = str_part(*rest, n, SIZE_MAX);
  }
  return code;
}

static void drop_nuls(struct buf *out, struct str text, size_t *nuls) {
  struct str piece;
  while (text.n > 0) {
    size_t n = str_find_char(text, '\0');
    piece = str_part(text, 0, n);
    buf_put(out, piece);
    *nuls += n < text.n;
    text = str_part(text, n + 1, SIZE_MAX);
  }
}

static enum rein_code take_all(struct journal *journal, struct str text, struct lines_found *found,
                               struct err *err) {
  struct str line, rest;
  for (size_t number = 1; str_next(&text, '\n', &line); number++) {
    enum rein_code code = take_line(journal, line, &found->records, &rest, err);
    if (code) return code;
    if (rest.n == 0) continue;
    if (str_blank(text))
      found->torn_bytes = rest.n;
    else
      found->damaged = number;
    break;
  }
  return REIN_OK;
}

enum rein_code lines_open(struct str text, struct journal **journal, struct lines_found *found,
                          struct err *err) {
  struct buf clean;
  *found = (struct lines_found){0};
  enum rein_code code = journal_open_memory(journal, err);
  if (code) return code;
  buf_init(&clean, text.n + 1);
  drop_nuls(&clean, text, &found->nul_bytes);
  code = clean.fail ? ERR(err, REIN_MEMORY, T_STORE_NO_MEMORY)
                    : take_all(*journal, buf_str(&clean), found, err);
  buf_release(&clean);
  if (code) (*journal)->kind->close(*journal);
  return code;
}
