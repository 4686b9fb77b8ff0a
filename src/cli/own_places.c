/* Where rein's own files lie by options and environment: config, journal, log. Neither
 * a command nor a file tool is to see or change them, wherever the root is. */
#include "cli/own_places.h"

#include "cli/env.h"

#include <limits.h>
#include <stdlib.h>

/* The bytes of a path before its last name; the slash of the root stays. */
static size_t folder_of(struct str path, size_t n) {
  while (n > 0 && path.p[n - 1] != '/')
    n--;
  while (n > 1 && path.p[n - 1] == '/')
    n--;
  return n;
}

/* Links resolved, as far as it is there; nothing where not even the working folder
 * is. False: no memory. */
static bool real_place(struct cli *cli, struct str path, struct buf *real) {
  char whole[PATH_MAX];
  struct str text;
  size_t n = path.n;
  for (;; n = folder_of(path, n)) {
    if (!arena_str(&cli->arena, n ? str_part(path, 0, n) : STR("."), &text)) return false;
    if (realpath(text.p, whole)) break;
    if (n == 0) return true;
  }
  struct str rest = str_part(path, n, path.n);
  if (str_starts(rest, STR("/"))) rest = str_part(rest, 1, rest.n);
  buf_put(real, str_of(whole));
  if (rest.n && whole[1]) buf_c(real, '/');
  buf_put(real, rest);
  return !real->fail;
}

static bool add_place(struct cli *cli, const char **list, size_t *n, struct str path,
                      const char *behind) {
  struct str text;
  struct buf b;
  if (!path.n || *n + 1 >= OWN_PLACES_MAX) return true;
  buf_init(&b, 4 * PATH_MAX);
  bool ok = real_place(cli, path, &b);
  bool any = b.n > 0;
  buf_put(&b, str_of(behind));
  ok = ok && !b.fail && arena_str(&cli->arena, buf_str(&b), &text);
  buf_release(&b);
  if (ok && any) list[(*n)++] = text.p;
  return ok;
}

/* The folder that a file of ours lies in. */
static bool own_folder(struct cli *cli, struct own_places *o, struct str file) {
  struct str folder, name;
  if (!str_split_last(file, '/', &folder, &name)) return true;
  return add_place(cli, o->hidden, &o->hidden_n, folder, "") &&
         add_place(cli, o->kept, &o->kept_n, folder, "/");
}

bool own_places(struct cli *cli, struct own_places *o) {
  struct str config = STR_NONE, state = STR_NONE;
  struct str store = cli_value(cli, OPTION_ID_STORE)->text;
  struct str named[] = {cli_value(cli, OPTION_ID_CONFIG)->text, cli_value(cli, OPTION_ID_LOG)->text,
                        store};
  (void)env_config_path(&cli->arena, cli->envp, &config);
  (void)env_state_path(&cli->arena, cli->envp, &state);
  if (!own_folder(cli, o, config) || !own_folder(cli, o, state)) return false;
  for (size_t i = 0; i < sizeof named / sizeof *named; i++)
    if (!add_place(cli, o->kept, &o->kept_n, named[i], "")) return false;
  return add_place(cli, o->kept, &o->kept_n, store, "-wal") &&
         add_place(cli, o->kept, &o->kept_n, store, "-shm") &&
         add_place(cli, o->kept, &o->kept_n, store, "-lock");
}
