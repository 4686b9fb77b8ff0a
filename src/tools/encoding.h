/* The encodings that files of the project come in, and text in them as UTF-8.
 *
 * UTF-8, UTF-16 (known by its byte order mark, or by its zero bytes) and CP949,
 * which holds EUC-KR. CP949 is a guess from the bytes and is named as one.
 * Conversion is glibc's iconv; each character stands for itself, so a text that
 * comes back as the same bytes keeps the bytes of all that is not changed.
 */
#pragma once

#include "base/buf.h"
#include "text/text.h"

enum encoding {
  ENCODING_UTF8,
  ENCODING_UTF16LE,
  ENCODING_UTF16BE,
  ENCODING_CP949,
  ENCODING_OTHER, /* text in a way that is not known: ASCII can be told, no more */
  ENCODING_BINARY,
};

/* By name, in any case of letters, "-" and "_" left out: utf8, cp949, euckr, uhc,
 * ms949, windows949, ksc56011987, utf16le, utf16be. False: another one. */
bool encoding_named(struct str name, enum encoding *encoding);
struct str encoding_name(enum encoding encoding); /* "UTF-8", "CP949" …; "?" */
/* What these bytes are; `whole` false: the head of more. *mark is the length of a
 * byte order mark. */
enum encoding encoding_of(struct str bytes, bool whole, size_t *mark);
/* Bytes (without a mark) as UTF-8. REIN_INPUT: they are not in this encoding, or
 * would not come back as the same bytes; *at says where. REIN_SYSTEM: this system
 * cannot convert it. */
enum rein_code encoding_read(enum encoding encoding, struct str bytes, struct buf *text, size_t *at)
    REIN_CHECKED;
/* UTF-8 into it. REIN_INPUT: it has no such character, which begins at *at. */
enum rein_code encoding_write(enum encoding encoding, struct str text, struct buf *bytes,
                              size_t *at) REIN_CHECKED;
/* As much as can be shown, U+FFFD for what is not in the encoding. */
enum rein_code encoding_show(enum encoding encoding, struct str bytes, struct buf *text,
                             bool *broken) REIN_CHECKED;
