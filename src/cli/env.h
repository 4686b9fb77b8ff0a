/* The environment, read here and nowhere else in rein. */
#pragma once

#include "base/arena.h"

#include <rein.h>

/* A variable's value; empty when it is not set, or set to nothing. */
struct str env_get(char *const *envp, const char *name);
/* The first that is set of two spellings (https_proxy, HTTPS_PROXY). */
struct str env_either(char *const *envp, const char *first, const char *second);
/* The person's language by LC_ALL, LC_MESSAGES, LANG, as setlocale looks. */
enum rein_lang env_lang(char *const *envp);
/* Where the user's config lies by XDG_CONFIG_HOME or HOME; false: nowhere, or
 * no memory. Terminated. */
bool env_config_path(struct arena *arena, char *const *envp, struct str *path);
/* Where the journal lies by XDG_STATE_HOME or HOME; as above. */
bool env_state_path(struct arena *arena, char *const *envp, struct str *path);
/* The proxy for `url` (its scheme decides), and the hosts that go direct:
 * NO_PROXY and this machine itself, which no proxy can reach. Empty: none. */
struct env_proxy {
  struct str proxy, direct;
};
bool env_proxy_for(struct arena *arena, char *const *envp, struct str url, struct env_proxy *proxy);
