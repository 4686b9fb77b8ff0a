/* UTF-8: check, repair, measure, and cut where a reader would.
 *
 * Inside, text may pass through WTF-8 (surrogates as three bytes, ED A0..BF)
 * on its way from JSON escapes that arrive in pieces; utf8_repair joins pairs
 * that meet and replaces what stays alone, so none leaves the house.
 */
#pragma once

#include "base/buf.h"

/* Length in bytes (1 to 4) of the well-formed character at s.p, and its code
 * point; 0 when there is none there (cut, overlong, surrogate, too high). */
size_t utf8_next(struct str s, uint32_t *cp);
void utf8_put(struct buf *b, uint32_t cp);  /* surrogates are written as WTF-8 */
size_t utf8_write(char to[4], uint32_t cp); /* the same, into at most 4 bytes; their number */
bool utf8_valid(struct str s);
/* Where the first ill-formed part starts; s.n when there is none. */
size_t utf8_bad(struct str s);
/* Appends the repair of the ill-formed part at s.p and returns its bytes. */
size_t utf8_repair_part(struct buf *out, struct str s);
/* The text with each ill-formed part replaced by one U+FFFD (as Unicode's
 * "maximal subpart" practice says), and surrogate pairs joined. */
void utf8_repair(struct buf *out, struct str s);
size_t utf8_count(struct str s); /* code points of a well-formed text */
/* The longest prefix of at most max code points that ends between graphemes
 * (between code points where one grapheme alone is longer). */
struct str utf8_head(struct str s, size_t max);
/* The same from the end. */
struct str utf8_tail(struct str s, size_t max);
/* Columns of a terminal that s takes: 2 for wide, 0 for combining. */
size_t utf8_width(struct str s);
/* Whether two names are the same text in different Unicode forms (canonically
 * equal). Ill-formed ones, and ones of more than 1 024 bytes, by their bytes. */
bool utf8_same(struct str a, struct str b);
/* Appends one character taken apart canonically, and without its case where asked;
 * an ill-formed one as it is. For comparing texts loosely. */
void utf8_fold(struct buf *out, struct str one, bool nocase);
/* Appends s in its composed form (NFC), so that equal texts become equal bytes;
 * an ill-formed one, or one of more than 1 024 bytes, as it is. */
void utf8_compose(struct buf *out, struct str s);
enum utf8_form { UTF8_COMPOSED /* NFC */, UTF8_APART /* NFD */ };
/* Appends the well-formed s in that form. */
void utf8_form(struct buf *out, struct str s, enum utf8_form form);
/* s with controls made visible: \n and \t stay where `lines` is true; ESC and
 * the other C0 and C1 controls and bidirectional overrides become \u{1b}. */
void utf8_show(struct buf *out, struct str s, bool lines);

/* Joins pieces of a stream: holds back what a next piece may complete (a high
 * surrogate in WTF-8, a cut character) and gives out well-formed text. */
struct utf8_join {
  char held[8]; /* a high surrogate and two bytes of a low one are 5, one more to decide */
  unsigned char held_n;
};
void utf8_join(struct utf8_join *j, struct buf *out, struct str piece);
void utf8_join_end(struct utf8_join *j, struct buf *out);
