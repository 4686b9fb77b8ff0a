/* Kinds of files by magic bytes, then by what text never holds. */
#include "tools/kind.h"

#define CONTROLS_IN 10 /* more than one control in this many bytes is no text */

struct magic {
  enum text_id id;
  unsigned at;
  struct str bytes;
};

/* Longer ones first where one begins with another. */
#define MAGIC(id, at, literal)                                                                     \
  {                                                                                                \
    T_TOOLS_KIND_##id, (at), {                                                                     \
      (literal), sizeof(literal) - 1                                                               \
    }                                                                                              \
  }
static const struct magic magics[] = {
    MAGIC(PNG, 0, "\x89PNG\r\n\x1a\n"),
    MAGIC(JPEG, 0, "\xff\xd8\xff"),
    MAGIC(GIF, 0, "GIF87a"),
    MAGIC(GIF, 0, "GIF89a"),
    MAGIC(WEBP, 8, "WEBPVP8"),
    MAGIC(PDF, 0, "%PDF-"),
    MAGIC(ZIP, 0, "PK\x03\x04"),
    MAGIC(ZIP, 0, "PK\x05\x06"),
    MAGIC(GZIP, 0, "\x1f\x8b"),
    MAGIC(PROGRAM, 0,
          "\x7f"
          "ELF"),
    MAGIC(SQLITE, 0, "SQLite format 3"),
    MAGIC(UTF32, 0, "\xff\xfe\0\0"),
    MAGIC(UTF32, 0, "\0\0\xfe\xff"),
    MAGIC(UTF16, 0, "\xff\xfe"),
    MAGIC(UTF16, 0, "\xfe\xff"),
};

#define BIT(c) (UINT32_C(1) << (c))

/* \b \t \n \f \r and the escape of terminals stand in text as well. */
static bool is_control(unsigned char c) {
  const uint32_t usual = BIT(8) | BIT(9) | BIT(10) | BIT(12) | BIT(13) | BIT(27);
  return c < 0x20 ? !(usual >> c & 1) : c == 0x7f;
}

enum text_id kind_by_magic(struct str head) {
  for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
    if (str_eq(str_part(head, magics[i].at, magics[i].bytes.n), magics[i].bytes))
      return magics[i].id;
  return T_NONE;
}

enum text_id kind_of(struct str head) {
  enum text_id magic = kind_by_magic(head);
  if (magic != T_NONE) return magic;
  struct str seen = str_part(head, 0, KIND_HEAD);
  size_t controls = 0;
  if (str_find_char(seen, '\0') < seen.n) return T_TOOLS_KIND_OTHER;
  for (size_t i = 0; i < seen.n; i++)
    controls += is_control((unsigned char)seen.p[i]);
  return controls > seen.n / CONTROLS_IN ? T_TOOLS_KIND_OTHER : T_NONE;
}
