/* How tools are listed, by `rein tools` and --dry-run. */
#pragma once

#include "cli/setup.h"
#include "json/write.h"

/* A row and what the policy says to it: lines of text. `whole`: with its
 * description. */
void tool_list_text(struct buf *out, enum rein_lang lang, const struct setup *setup, bool whole);
/* The array of {name, verdict, rule, touches, description, schema}. */
void tool_list_json(struct json_out *w, const struct setup *setup);
