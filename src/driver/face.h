/* The options of rein.h, checked and turned into what the house uses; shared by
 * its two ways in. Everything the caller's strings say is copied.
 */
#pragma once

#include "base/arena.h"
#include "core/agent.h"
#include "driver/provider.h"
#include "host/files.h"

#define FACE_BYTES_MAX (64u << 20) /* options are written by hand; a script is the largest */

enum face_use { FACE_RUN, FACE_MACHINE };

struct face {
  struct rein_options o; /* members beyond the caller's size are zero */
  struct arena arena;
  struct provider provider;
  struct files files; /* root NULL: not open */
  struct rein_tool *rows;
  const struct rein_tool **given; /* per row, the caller's own or the built-in one */
  size_t row_count;
  struct policy policy;
  struct model_facts facts;
  struct agent_config config; /* jitter_seed left to the caller */
};

/* REIN_INPUT with a sentence that names the member. Close it in any case. */
enum rein_code face_open(const struct rein_options *options, enum face_use use, struct face *face,
                         struct err *err) REIN_CHECKED;
void face_close(struct face *face);
/* Copies the error for the caller; `error` may be NULL. Returns its code. */
enum rein_code face_fail(struct rein_error *error, enum rein_lang lang, const struct err *err);
/* A language that may be used, whatever the caller wrote there. */
enum rein_lang face_lang(const struct rein_options *options);
