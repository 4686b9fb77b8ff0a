/* Every sentence a person or a model can meet, in English and Korean.
 *
 * One table, kept in the .def files of this folder, one per neighbourhood:
 *   TEXT(BAD_PORT, "port {0} is not free: choose another with {1}", "…")
 * A sentence names its values {0} to {9}; both languages name the same ones.
 *
 *   return ERR(err, REIN_INPUT, T_BAD_PORT, port, STR("--port"));
 *   TEXT_PUT(&out, REIN_KOREAN, T_BAD_PORT, port, STR("--port"));
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

enum text_id {
  T_NONE = 0,
#define TEXT(id, english, korean) T_##id,
#include "text/json.def"
#include "text/regex.def"
#include "text/schema.def"
#include "text/policy.def"
#include "text/pack.def"
#include "text/core.def"
#include "text/wire.def"
#include "text/host.def"
#include "text/tools.def"
#include "text/store.def"
#include "text/driver.def"
#include "text/cli.def"
#undef TEXT
  T_COUNT
};

/* The sentence with its placeholders, terminated, static. */
const char *text_raw(enum text_id id, enum rein_lang lang);
/* Appends the sentence with args[0..n) in place. */
void text_put(struct buf *out, enum rein_lang lang, enum text_id id, const struct str *args,
              size_t n);
#define TEXT_ARGS(...) ((const struct str[]){STR_NONE, __VA_ARGS__})
#define TEXT_PUT(out, lang, id, ...)                                                               \
  text_put((out), (lang), (id), TEXT_ARGS(__VA_ARGS__) + 1,                                        \
           sizeof TEXT_ARGS(__VA_ARGS__) / sizeof(struct str) - 1)

/* Fills err (may be NULL) and returns code, so that a failure is one line. */
enum rein_code err_fill(struct err *err, enum rein_code code, enum text_id id,
                        const struct str *args, size_t n);
#define ERR(err, code, id, ...)                                                                    \
  err_fill((err), (code), (id), TEXT_ARGS(__VA_ARGS__) + 1,                                        \
           sizeof TEXT_ARGS(__VA_ARGS__) / sizeof(struct str) - 1)
/* Appends the error's sentence. */
void err_put(struct buf *out, enum rein_lang lang, const struct err *err);
