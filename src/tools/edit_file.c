/* edit_file: one piece of a text file replaced by another, all other bytes kept.
 * Finding and replacing is splice.h's, encodings are encoding.h's, putting the
 * file in place change.h's. */
#include "tools/alike.h"
#include "tools/change.h"
#include "tools/encoding.h"
#include "tools/kind.h"
#include "tools/rows.h"
#include "tools/splice.h"

#include "base/utf8.h"

#define LINES_NAMED 8       /* of places, in a sentence */
#define LINES_SHOWN 20      /* of the new text, in the answer */
#define LINE_POINTS_MAX 200 /* of each */

struct edit {
  struct rein_call *call;
  struct change change;
  struct str old, new;
  bool all;
  enum encoding encoding;
  size_t mark;        /* bytes of the byte order mark */
  struct str text;    /* the file without the mark, as `old` can be found in it */
  struct buf decoded; /* it, where the file is not in UTF-8 */
  struct spots spots;
  struct buf made;  /* text with the change */
  struct buf bytes; /* the new file */
};

static bool is_ascii(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] >= 0x80) return false;
  return true;
}

/* ---- the text ----------------------------------------------------------- */

static enum rein_code decode_fail(const struct edit *e, enum rein_code code, size_t at,
                                  struct err *err) {
  struct num_text room;
  struct str path = e->change.place.asked, name = encoding_name(e->encoding);
  if (code == REIN_SYSTEM) return CALL_ERR(err, code, T_TOOLS_ENCODING_SYSTEM, path, name);
  if (code != REIN_INPUT) return ERR(err, code, T_TOOLS_MEMORY);
  return CALL_ERR(err, code, T_TOOLS_ENCODING_NOT, path, name,
                  str_num(&room, (int64_t)(at + e->mark)));
}

static enum rein_code decode(struct edit *e, struct str bytes, struct err *err) {
  size_t at;
  enum rein_code code = encoding_read(e->encoding, bytes, &e->decoded, &at);
  if (code != REIN_OK) return decode_fail(e, code, at, err);
  e->text = buf_str(&e->decoded);
  return REIN_OK;
}

static enum rein_code no_text(const struct edit *e, struct str bytes, struct err *err) {
  enum rein_lang lang = call_lang(e->call);
  enum text_id kind = kind_of(bytes);
  struct str name = str_of(text_raw(kind == T_NONE ? T_TOOLS_KIND_OTHER : kind, lang));
  return CALL_ERR(err, REIN_INPUT, T_TOOLS_EDIT_BINARY, e->change.place.asked, name);
}

/* Without a name: what the bytes say themselves, as far as that is sure. */
static enum rein_code may_edit(const struct edit *e, struct err *err) {
  bool plain = is_ascii(e->old) && is_ascii(e->new);
  struct str path = e->change.place.asked;
  if (e->encoding == ENCODING_BINARY) return no_text(e, buf_str(&e->change.old), err);
  if (e->encoding == ENCODING_CP949 && !plain)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_ENCODING_GUESS, path);
  if (e->encoding == ENCODING_OTHER && !plain)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_ENCODING_OTHER, path);
  return REIN_OK;
}

/* The file as text: in the encoding that was named, the one that it says itself,
 * or, where neither is, its bytes, of which then only ASCII is touched. */
static enum rein_code to_text(struct edit *e, struct err *err) {
  struct str named = call_text(e->call, "encoding"), bytes = buf_str(&e->change.old);
  enum encoding own = encoding_of(bytes, true, &e->mark);
  e->encoding = own;
  if (named.n && !encoding_named(named, &e->encoding))
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_ENCODING_UNKNOWN, named);
  if (e->encoding != own) e->mark = 0; /* then it is no mark */
  e->text = bytes = str_part(bytes, e->mark, bytes.n);
  enum rein_code code = named.n ? REIN_OK : may_edit(e, err);
  if (code != REIN_OK || e->encoding == ENCODING_OTHER) return code;
  if (e->encoding != ENCODING_UTF8) return decode(e, bytes, err);
  size_t bad = utf8_bad(bytes);
  return bad == bytes.n ? REIN_OK : decode_fail(e, REIN_INPUT, bad, err);
}

/* ---- the place ---------------------------------------------------------- */

static void put_lines(struct buf *out, const struct spots *spots) {
  for (size_t i = 0; i < spots->count && i < LINES_NAMED; i++) {
    if (i) buf_lit(out, ", ");
    buf_num(out, spots->list[i].line);
  }
  if (spots->count > LINES_NAMED) buf_lit(out, ", …");
}

static enum rein_code not_found(const struct edit *e, struct err *err) {
  enum text_id why;
  int64_t line;
  struct num_text room;
  struct buf words;
  enum rein_code code = alike_find(e->text, e->old, &why, &line);
  if (code != REIN_OK) return ERR(err, code, T_TOOLS_MEMORY);
  if (why == T_NONE) return CALL_ERR(err, REIN_INPUT, T_TOOLS_EDIT_NONE, e->change.place.asked);
  buf_init(&words, 1024);
  CALL_NOTE(&words, e->call, why, str_num(&room, line));
  code = CALL_ERR(err, REIN_INPUT, T_TOOLS_EDIT_ALIKE, e->change.place.asked, buf_str(&words));
  buf_release(&words);
  return code;
}

static enum rein_code too_often(const struct edit *e, struct err *err) {
  struct num_text room;
  struct buf lines;
  struct str path = e->change.place.asked;
  buf_init(&lines, 1024);
  put_lines(&lines, &e->spots);
  enum rein_code code;
  if (e->spots.overlap)
    code = CALL_ERR(err, REIN_INPUT, T_TOOLS_EDIT_OVERLAP, path, buf_str(&lines));
  else if (e->all)
    code = CALL_ERR(err, REIN_LIMIT, T_TOOLS_EDIT_TOO_MANY, path, str_num(&room, SPOTS_MAX));
  else
    code = CALL_ERR(err, REIN_INPUT, T_TOOLS_EDIT_MANY, path, buf_str(&lines));
  buf_release(&lines);
  return code;
}

/* In an encoding that is not known, a byte of ASCII behind one that is not may be
 * the second half of a character. */
static enum rein_code halves_check(const struct edit *e, struct err *err) {
  struct num_text room;
  if (e->encoding != ENCODING_OTHER || (unsigned char)e->old.p[0] < 0x30) return REIN_OK;
  for (size_t i = 0; i < e->spots.count; i++) {
    const struct spot *spot = &e->spots.list[i];
    if (spot->at && (unsigned char)e->text.p[spot->at - 1] >= 0x80)
      return CALL_ERR(err, REIN_INPUT, T_TOOLS_EDIT_INSIDE, e->change.place.asked,
                      str_num(&room, spot->line));
  }
  return REIN_OK;
}

static enum rein_code find(struct edit *e, struct err *err) {
  size_t most = e->all ? SPOTS_MAX : SPOTS_SHOWN;
  if (spots_find(e->text, e->old, most, &e->spots) != REIN_OK)
    return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  if (e->spots.count == 0) return not_found(e, err);
  bool once = e->all ? !e->spots.more : e->spots.count == 1;
  if (!once || e->spots.overlap) return too_often(e, err);
  return halves_check(e, err);
}

/* ---- the new file -------------------------------------------------------- */

static enum rein_code lacks(const struct edit *e, size_t at, struct err *err) {
  uint32_t cp;
  struct str rest = str_part(buf_str(&e->made), at, 4);
  size_t n = utf8_next(rest, &cp);
  return CALL_ERR(err, REIN_INPUT, T_TOOLS_ENCODING_LACKS, e->change.place.asked,
                  encoding_name(e->encoding), str_part(rest, 0, n ? n : 1));
}

static enum rein_code make(struct edit *e, struct err *err) {
  size_t at;
  splice(&e->made, e->text, &e->spots, e->new);
  if (!e->made.fail && str_eq(buf_str(&e->made), e->text))
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_EDIT_SAME, e->change.place.asked);
  buf_put(&e->bytes, str_part(buf_str(&e->change.old), 0, e->mark));
  enum rein_code code = e->made.fail ? e->made.fail : e->bytes.fail;
  if (code == REIN_OK && !e->decoded.p)
    buf_put(&e->bytes, buf_str(&e->made));
  else if (code == REIN_OK)
    code = encoding_write(e->encoding, buf_str(&e->made), &e->bytes, &at);
  if (code == REIN_INPUT) return lacks(e, at, err);
  if (code == REIN_OK) code = e->bytes.fail;
  struct num_text most;
  if (code == REIN_LIMIT)
    return CALL_ERR(err, code, T_HOST_PUT_BIG, e->change.place.asked,
                    str_num(&most, CHANGE_BYTES_MAX));
  return code == REIN_OK ? REIN_OK : ERR(err, code, T_TOOLS_MEMORY);
}

/* ---- the answer ---------------------------------------------------------- */

/* The lines of the new text as they now stand. */
static void put_changed(const struct edit *e, struct buf *out) {
  const struct spot *spot = &e->spots.list[0];
  struct str made = buf_str(&e->made);
  size_t from = spot->at, to, lines = 0;
  struct buf new, fixed;
  buf_init(&new, 2 * e->new.n + 1);
  splice_new(&new, e->text, spot, e->new);
  to = from + new.n;
  buf_release(&new);
  while (from && made.p[from - 1] != '\n')
    from--;
  if (to > from && made.p[to - 1] == '\n') to--; /* not the line behind it */
  to += str_find_char(str_part(made, to, made.n), '\n');
  struct str part = str_part(made, from, to - from), line;
  int64_t number = spot->line;
  buf_init(&fixed, CHANGE_BYTES_MAX * 3);
  while (lines++ < LINES_SHOWN && str_next(&part, '\n', &line)) {
    if (str_ends(line, STR("\r"))) line.n--;
    buf_reset(&fixed);
    utf8_repair(&fixed, str_part(line, 0, 4 * LINE_POINTS_MAX));
    buf_c(out, '\n');
    buf_num(out, number++);
    buf_lit(out, ": ");
    utf8_show(out, utf8_head(buf_str(&fixed), LINE_POINTS_MAX), true);
    if (line.n > fixed.n || utf8_count(buf_str(&fixed)) > LINE_POINTS_MAX) buf_lit(out, "…");
  }
  if (part.n) buf_lit(out, "\n…");
  buf_release(&fixed);
}

static int give(struct edit *e) {
  struct num_text room;
  struct buf text, lines;
  buf_init(&text, 65536);
  buf_init(&lines, 1024);
  put_lines(&lines, &e->spots);
  struct str path = e->change.place.asked;
  if (e->spots.count == 1) {
    CALL_NOTE(&text, e->call, T_TOOLS_EDITED, path, buf_str(&lines));
    put_changed(e, &text);
  } else {
    CALL_NOTE(&text, e->call, T_TOOLS_EDITED_ALL, path, str_num(&room, (int64_t)e->spots.count),
              buf_str(&lines));
  }
  change_notes(&e->change, &text);
  buf_release(&lines);
  return call_give(e->call, &text);
}

static int edit(struct edit *e) {
  struct err err = {0};
  if (e->old.n == 0) return CALL_FAIL(e->call, REIN_INPUT, T_TOOLS_EDIT_EMPTY, STR_NONE);
  enum rein_code code = change_open(&e->change, e->call, FILES_EDIT, &err);
  if (code == REIN_OK) code = to_text(e, &err);
  if (code == REIN_OK) code = find(e, &err);
  if (code == REIN_OK) code = make(e, &err);
  if (code == REIN_OK) code = change_write(&e->change, buf_str(&e->bytes), &err);
  return code == REIN_OK ? give(e) : call_fail(e->call, &err);
}

static int run(struct rein_call *call) {
  if (!call->house->files) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_ROOT, STR("edit_file"));
  struct edit e = {.call = call,
                   .change.place.dir = -1,
                   .old = call_text(call, "old"),
                   .new = call_text(call, "new"),
                   .all = rein_call_bool(call, "all", false)};
  buf_init(&e.decoded, 3 * (size_t)CHANGE_BYTES_MAX + (1u << 20));
  buf_init(&e.made, 3 * (size_t)CHANGE_BYTES_MAX);
  buf_init(&e.bytes, CHANGE_BYTES_MAX + (1u << 20));
  int answer = edit(&e);
  buf_release(&e.bytes);
  buf_release(&e.made);
  buf_release(&e.decoded);
  spots_release(&e.spots);
  change_close(&e.change);
  return answer;
}

const struct rein_tool tool_edit_file = {
    .name = "edit_file",
    .description =
        "Replaces one piece of text in a file of the project and keeps everything else byte for "
        "byte: encoding, byte order mark, line ends. Give old exactly as it stands in the file, "
        "with enough around it to stand there once; set all to replace it everywhere. Nothing in "
        "new is a pattern. A line end in old also matches CRLF, and new takes the line ends of its "
        "place. The result shows the changed lines.",
    .schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"path\":{\"type\":\"string\",\"description\":\"File to edit, relative to the project "
        "root, for example src/main.c.\"},"
        "\"old\":{\"type\":\"string\",\"description\":\"The text to replace, copied exactly from "
        "the file.\"},"
        "\"new\":{\"type\":\"string\",\"description\":\"The text to put in its place; empty to "
        "delete it.\"},"
        "\"all\":{\"type\":\"boolean\",\"description\":\"Replace every place where old stands. "
        "Leave out to replace exactly one.\"},"
        "\"encoding\":{\"type\":\"string\",\"description\":\"Only for a file that read_file names "
        "as another encoding than UTF-8, for example cp949.\"}},"
        "\"required\":[\"path\",\"old\",\"new\"],\"additionalProperties\":false}",
    .touches = REIN_WRITES,
    .paths = "path",
    .verdict = REIN_ASK,
    .run = run,
};
