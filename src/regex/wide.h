/* With the u flag (REGEX_UNICODE): characters beyond 0xffff, \u{…} and \p{…}.
 * PCRE2 then matches in its UTF mode, and a set is units, further ranges, and
 * properties as PCRE2 writes them. */
#pragma once

#include "regex/parse.h"

#define WIDE_FIRST 0x10000u
#define WIDE_LAST 0x10ffffu

/* Takes out of a set what no subject holds: halves of pairs. */
void wide_drop_halves(struct bits *b);
void wide_add(struct parse *p, uint32_t from, uint32_t to); /* any code points */
void wide_write(struct buf *out, uint32_t from, uint32_t to);
/* A code point as a term. */
struct node *wide_point(struct parse *p, struct node *parent, size_t at, uint32_t cp);
/* At the unit after a backslash: takes u{…}, uXXXX or a pair of them; false: none is there. */
bool wide_read_point(struct parse *p, uint32_t *cp);
/* At a p or P after a backslash: adds the property; false: refused. */
bool wide_property(struct parse *p, size_t at);
/* At the unit after a backslash: a letter that means nothing is refused. */
bool wide_allows(struct parse *p, size_t at);
