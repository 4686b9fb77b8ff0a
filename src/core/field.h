/* Members of a record: one line to write one, one to read it back. Texts are
 * mended on the way out, as the machine mends them on the way in.
 */
#pragma once

#include "core/price.h"
#include "json/json.h"
#include "json/write.h"

#include <rein.h>

void field_text(struct json_out *w, const char *key, struct str text);
void field_some(struct json_out *w, const char *key, struct str text);  /* not when empty */
void field_word(struct json_out *w, const char *key, const char *word); /* not when NULL */
void field_num(struct json_out *w, const char *key, int64_t v);
void field_bool(struct json_out *w, const char *key, bool v); /* not when false */
void field_limits(struct json_out *w, const struct rein_limits *limits);
void field_facts(struct json_out *w, const struct model_facts *facts); /* not when unknown */

/* What is not there, or of another kind, reads as empty, `absent` or false. */
struct str field_get_text(const struct json *doc, const char *key);
int64_t field_get_num(const struct json *doc, const char *key, int64_t absent);
bool field_get_bool(const struct json *doc, const char *key);
struct rein_limits field_get_limits(const struct json *doc);
struct model_facts field_get_facts(const struct json *doc);
