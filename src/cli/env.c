/* Looks things up in the environment that main was given. */
#include "cli/env.h"

#include "base/buf.h"

#define PATH_BYTES_MAX 4096    /* PATH_MAX of Linux */
#define DIRECT_BYTES_MAX 65536 /* a NO_PROXY longer than this is an accident */

struct str env_get(char *const *envp, const char *name) {
  struct str wanted = str_of(name), key, value;
  for (size_t i = 0; envp[i]; i++)
    if (str_split(str_of(envp[i]), '=', &key, &value) && str_eq(key, wanted)) return value;
  return STR_NONE;
}

struct str env_either(char *const *envp, const char *first, const char *second) {
  struct str value = env_get(envp, first);
  return value.n ? value : env_get(envp, second);
}

enum rein_lang env_lang(char *const *envp) {
  struct str locale = env_either(envp, "LC_ALL", "LC_MESSAGES");
  if (!locale.n) locale = env_get(envp, "LANG");
  struct str word = str_part(locale, 0, 2);
  bool ends = locale.n == 2 || (locale.n > 2 && memchr("_.@", locale.p[2], 3)); /* not kok_IN */
  return str_is(word, "ko") && ends ? REIN_KOREAN : REIN_ENGLISH;
}

/* Keeps what was built in the arena, terminated; frees the buffer. */
static bool keep(struct arena *arena, struct buf *b, struct str *out) {
  bool ok = !b->fail && arena_str(arena, buf_str(b), out);
  buf_release(b);
  return ok;
}

/* A place of the user's by the XDG rules: a relative path in the variable is to
 * be ignored. */
static bool user_path(struct arena *arena, char *const *envp, const char *variable,
                      const char *below_home, const char *rest, struct str *path) {
  struct str xdg = env_get(envp, variable), home = env_get(envp, "HOME");
  struct buf b;
  buf_init(&b, PATH_BYTES_MAX);
  if (str_starts(xdg, STR("/"))) {
    buf_put(&b, xdg);
  } else if (home.n) {
    buf_put(&b, home);
    buf_put(&b, str_of(below_home));
  } else {
    return false;
  }
  buf_put(&b, str_of(rest));
  return keep(arena, &b, path);
}

bool env_config_path(struct arena *arena, char *const *envp, struct str *path) {
  return user_path(arena, envp, "XDG_CONFIG_HOME", "/.config", "/rein/config.json", path);
}

bool env_state_path(struct arena *arena, char *const *envp, struct str *path) {
  return user_path(arena, envp, "XDG_STATE_HOME", "/.local/state", "/rein/runs.db", path);
}

bool env_proxy_for(struct arena *arena, char *const *envp, struct str url,
                   struct env_proxy *proxy) {
  bool plain = str_starts(url, STR("http://"));
  struct str hosts = env_either(envp, "no_proxy", "NO_PROXY");
  struct buf b;
  *proxy = (struct env_proxy){0};
  proxy->proxy = plain ? env_either(envp, "http_proxy", "HTTP_PROXY")
                       : env_either(envp, "https_proxy", "HTTPS_PROXY");
  if (!proxy->proxy.n) proxy->proxy = env_either(envp, "all_proxy", "ALL_PROXY");
  if (!proxy->proxy.n) return true;
  buf_init(&b, DIRECT_BYTES_MAX);
  buf_put(&b, hosts);
  if (hosts.n) buf_c(&b, ',');
  buf_lit(&b, "localhost,127.0.0.1,::1");
  return keep(arena, &b, &proxy->direct);
}
