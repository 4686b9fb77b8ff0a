/* Scripted replies, played as any wire's own bytes: `demo` and script:FILE.
 *
 * A script is JSON with comments; docs/SCRIPTS.md describes it. The reply is
 * chosen from the request body alone (how many assistant messages stand behind
 * the last user words), so a script serves any client, also one that resumes.
 */
#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct script;

enum rein_code script_new(struct str text, struct script **script, struct err *err) REIN_CHECKED;
void script_free(struct script *script);

struct script_answer {
  int status;
  struct str content_type;
  struct buf headers; /* further lines "name: value\n" */
  struct buf body;    /* the whole answer */
};
/* `path` of the request tells the wire ("/v1/messages", "/v1/responses",
 * "/v1/chat/completions"). Never fails but for
 * memory: what it cannot serve is answered as an HTTP error in words. */
enum rein_code script_answer(const struct script *script, struct str path, struct str body,
                             struct script_answer *answer, struct err *err) REIN_CHECKED;
extern const char script_demo[]; /* the embedded one: two tutorial tasks */
