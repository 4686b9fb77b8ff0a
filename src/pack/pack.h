/* A pack: tools that are described by data, not by code. One file names a service
 * (its address, headers, secrets, pace) and its tools: a request over HTTP, a
 * command, or an order to git, with templates for what the model gives. This
 * floor reads packs, fills templates and picks from answers; who sends them is
 * src/tools/declared.c. The file's form is packs/pack.schema.json, which is
 * compiled in and held here.
 *
 *   struct pack *pack;
 *   if (pack_load(&arena, text, &pack, &err)) return err.code;
 *   for (size_t i = 0; i < pack->tool_count; i++) use(&pack->tools[i]);
 *
 * Everything is borrowed from the arena and from `text`.
 */
#pragma once

#include "json/json.h"

#define PACK_BYTES_MAX (4u << 20) /* of a file; the largest of ours has 8 KiB */
#define PACK_SECRETS_MAX 16
#define PACK_STEPS_MAX 4
#define PACK_PAGES 5  /* of one call, unless the pack says otherwise */
#define PACK_WAIT_S 2 /* after 429 without a retry-after */

/* The schema of packs, as published. */
struct str pack_shape(void);

/* The text of a pack that comes with rein; false: there is none of that name. */
bool pack_shipped(struct str name, struct str *text);
/* A pack to fill in: NAME stands for its name, NAME_ for its variables. */
struct str pack_skeleton(void);
const char *pack_shipped_name(size_t i); /* NULL: no more */

struct pack_secret {
  struct str name, about; /* an environment variable; terminated */
  struct str value;       /* filled in by whoever reads the environment; empty: not there */
};

struct pack_request {
  struct str as, method, path;               /* path: a template; method is terminated */
  bool reads;                                /* it changes nothing */
  const struct json *query, *headers, *body; /* templates; NULL: none */
  struct str at, empty;                      /* where in the answer; what an empty one is told as */
  const struct json *fields;                 /* NULL: all of it */
  struct str cursor, page_as, page_number;   /* paging; empty: none */
  int64_t page_size, pages;
};

enum pack_kind { PACK_HTTP, PACK_COMMAND, PACK_GIT };

struct pack_tool {
  const struct pack *pack;
  enum pack_kind kind;
  struct str name, description, schema; /* terminated; the schema without blanks and comments */
  const struct json *arguments;         /* the schema's properties; NULL none */
  unsigned touches;                     /* enum rein_touches; 0: not said */
  bool idempotent, polls;
  int64_t timeout_s; /* 0: not said */
  struct str paths;  /* names, comma separated; terminated */
  struct pack_request requests[PACK_STEPS_MAX];
  size_t request_count;
  const struct json *argv;    /* of a command; of git: a list of them */
  const struct json *secrets; /* names that a command finds in its environment */
  bool stdin_arguments;
  bool git_writes;
  struct str empty; /* of git: what no output is told as */
};

struct pack {
  struct str name, about, source;
  struct str url, url_env; /* url: without a slash at its end */
  const struct json *headers;
  struct pack_secret secrets[PACK_SECRETS_MAX];
  size_t secret_count;
  struct str error_message, error_code; /* pointers into an error's answer; empty: none */
  double per_second;                    /* 0: no pace */
  int64_t wait_s;
  struct pack_tool *tools;
  size_t tool_count;
};

/* Reads and checks a whole pack: its form, that each template names arguments and
 * secrets that there are, and that no argument can choose where a secret goes.
 * Errors: REIN_INPUT (names pack, tool and field), REIN_LIMIT, REIN_MEMORY. */
enum rein_code pack_load(struct arena *arena, struct str text, struct pack **pack, struct err *err)
    REIN_CHECKED;
/* Sets the address; NULL pack->url_env is not looked at. REIN_INPUT: it is no
 * address a secret may be sent to (https, or http on this machine). */
enum rein_code pack_set_url(struct arena *arena, struct pack *pack, struct str url, struct err *err)
    REIN_CHECKED;
const struct pack_secret *pack_secret(const struct pack *pack, struct str name);
