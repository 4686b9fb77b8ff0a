/* What the wires of OpenAI's making share: "openai" (Responses: openai_write.c,
 * openai_read.c) and "chat" (Chat Completions: chat_write.c, chat_read.c). */
#pragma once

#include "core/wire.h"
#include "json/json.h"
#include "json/write.h"

/* Neither wire has a flag for it: the text of a result that is an error says so. */
#define ERROR_MARK STR("Error: ")
#define OPENAI_KEY_ENV "OPENAI_API_KEY"
#define OPENAI_URL_ENV "OPENAI_BASE_URL"
#define OPENAI_URL "https://api.openai.com/v1"

void openai_put_headers(struct buf *out, struct str key);
/* A member with an id in the letters that servers take. */
void openai_put_id(struct json_out *w, const char *key, struct str id);
/* A call's arguments as the string that both wires want; INVALID_JSON in it
 * where they do not parse. */
void openai_put_args(struct json_out *w, const struct block *call);
/* What came as a call's arguments: a string's text, or the source of what stands in
 * its place, so that nothing else runs; nothing for null. */
struct str openai_args(const struct json *args);
/* The text of a result, marked where it is an error. */
void openai_put_result(struct json_out *w, const char *key, const struct block *result);

/* What leads requests of one run to one cache, where the server takes it. */
void openai_put_cache_key(struct json_out *w, const struct request *r, const struct quirks *q);

/* Names of the counts in a usage object. */
struct usage_names {
  const char *input, *output, *input_details;
};
/* Takes the counts: input includes what was cached here. */
void openai_usage(struct draft *draft, const struct json *usage, const struct usage_names *names);

void openai_on_event(struct draft *draft, const struct sse_event *event);
void chat_on_event(struct draft *draft, const struct sse_event *event);
