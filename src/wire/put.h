/* What every wire writes alike: the members of a tool, of a call, of a typed
 * object. Where it stands in a body is each wire's own business.
 */
#pragma once

#include "core/tool.h"
#include "json/write.h"

/* Opens an object whose first member is its type. */
void put_typed(struct json_out *w, const char *type);
/* A member with a text that was made for it; releases `made`, and hands on its failure. */
void put_made(struct json_out *w, const char *key, struct buf *made);
/* Member "name" of a call, in the letters that every wire takes. */
void put_call_name(struct json_out *w, struct str name);
/* Name, description and schema of a tool, the schema under `schema_key`, into
 * an open object. */
void put_tool_members(struct json_out *w, const struct tool *tool, const char *schema_key);
