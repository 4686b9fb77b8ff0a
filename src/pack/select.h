/* What of an answer the model sees: a place in it by JSON pointer, and of what
 * stands there the named fields. A step that is a star is every element or
 * member: the steps labels, *, name together are the list of names.
 */
#pragma once

#include "json/write.h"
#include "pack/pack.h"

/* The place named by request->at; NULL: nothing is there. */
const struct json *select_place(const struct pack_request *request, const struct json *answer);
/* Writes a place: the fields of each element where it is an array, else its own;
 * all of it where no fields are named. */
void select_put(struct json_out *w, const struct pack_request *request, const struct json *place);
/* The elements of an array alone, without its brackets: pages are joined so. */
void select_put_elements(struct json_out *w, const struct pack_request *request,
                         const struct json *place);
/* JSON without blanks and comments, all else as written. */
void select_put_plain(struct json_out *w, const struct json *node);
