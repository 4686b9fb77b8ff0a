/* What a server's error words mean, whatever wire it speaks. */
#pragma once

#include "base/arena.h"
#include "core/fault.h"
#include "json/json.h"

/* An error as a server says it: {"error":{"type","message","code"…}}, the same
 * without the outer object, or a bare "error" string. */
struct error_words {
  struct str type, code, detail, message, param, request_id;
};
/* False when the document is no error at all. Slices are the document's. */
bool error_read(const struct json *doc, struct error_words *words);
/* The one word that names it: its type, or its code. */
struct str error_type(const struct error_words *words);
/* The class of an HTTP status with its words; `paced` when the server said when
 * to come back. */
enum fault_kind error_class(int status, const struct error_words *words, bool paced);
/* The class of an error inside a stream, where no status says anything. */
enum fault_kind error_in_stream(const struct error_words *words);
