/* Templates: text with places for what a call gives.
 *
 *   {{name}}    an argument of the call
 *   ${NAME}     a secret of the pack; in headers alone
 *
 * How a value is written depends on where it stands, and no value can end the
 * place it stands in: a step of a path stays one step, a header one line, an
 * element of argv one element, JSON a value.
 */
#pragma once

#include "json/write.h"
#include "pack/pack.h"

enum fill {
  FILL_STEP,   /* one step of a path: escaped; none that is empty, a dot, two, or has a slash */
  FILL_QUERY,  /* a name's value in a query: escaped */
  FILL_HEADER, /* visible ASCII and blanks; secrets may stand here */
  FILL_TEXT,   /* as it is: argv, and text inside JSON, which the writer quotes */
};

enum piece_kind { PIECE_TEXT, PIECE_ARGUMENT, PIECE_SECRET };
struct piece {
  enum piece_kind kind;
  struct str text; /* itself, or a name */
};
/* Takes the next piece off *rest: 1; 0 at the end, -1: a brace without its other. */
int template_next(struct str *rest, struct piece *piece);
/* The name, when the template is one argument and nothing else. */
bool template_alone(struct str text, struct str *name);
/* The argument; NULL when it is absent, or null. */
const struct json *template_argument(const struct json *args, struct str name);

struct fill_from {
  const struct pack *pack;
  const struct json *args; /* an object */
  struct str field;        /* where the template stands, for errors */
};
/* Appends. *absent: an argument is not there, so what the template makes is left
 * out (nothing was appended). REIN_INPUT: a value that may not stand there. */
enum rein_code template_fill(struct buf *out, struct str text, enum fill how,
                             const struct fill_from *from, bool *absent, struct err *err)
    REIN_CHECKED;
/* A path with its query, leaving out the pair named `but` (empty: none). */
enum rein_code template_path(struct buf *out, const struct pack_request *request, struct str but,
                             const struct fill_from *from, struct err *err) REIN_CHECKED;
/* JSON, in which a text that is one argument alone becomes that value, typed and
 * as it was written, and members and elements with an absent one are left out.
 * `extra` (without a name: none) is a member at the top, in place of one of that name. */
struct body_extra {
  struct str name, value;
};
enum rein_code template_body(struct buf *out, const struct json *body,
                             const struct body_extra *extra, const struct fill_from *from,
                             struct err *err) REIN_CHECKED;
/* Appends one name=value of a query, with the ? or & that it needs. */
void query_put(struct buf *url, struct str name, struct str value);
