/* An error as data: a class, a sentence's number in src/text's table, and the
 * values that belong into it. The language is chosen by whoever shows it.
 *
 * The caller owns it; it has a fixed size and allocates nothing; on success it
 * is left untouched. Fill it with ERR() of text/text.h where the knowledge is.
 */
#pragma once

#include "base/str.h"

#include <rein.h>

#define ERR_ARGS_MAX 1600 /* bytes of all values together; longer ones are cut with a mark */

struct err {
  enum rein_code code;
  uint16_t text; /* enum text_id */
  uint16_t args_n;
  uint64_t at;             /* byte position, where the error has one */
  uint32_t line, column;   /* from 1; 0: none */
  char args[ERR_ARGS_MAX]; /* length (2 bytes, native) and bytes, per value */
};
