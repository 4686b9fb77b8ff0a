/* PROVIDER/MODEL, "demo" and "script:FILE": which wire speaks, and to whom.
 *
 *   struct str path;
 *   if (provider_script_path(name, &path)) ...read the file into text...
 *   provider_open(name, text, &provider, &err);
 */
#pragma once

#include "base/err.h"
#include "core/wire.h"
#include "wire/script.h"

#define SCRIPT_BYTES_MAX (8u << 20) /* a script is written by hand; more is another file */

struct provider {
  const struct wire *wire;
  struct str model;      /* part of the name that was given */
  struct script *script; /* scripted providers; owned; NULL: HTTP */
};

/* True for "script:FILE": the caller reads the file and hands in its text. */
bool provider_script_path(struct str name, struct str *path);
/* REIN_INPUT: a provider that does not exist, by name. */
enum rein_code provider_open(struct str name, struct str script_text, struct provider *provider,
                             struct err *err) REIN_CHECKED;
void provider_close(struct provider *provider);
