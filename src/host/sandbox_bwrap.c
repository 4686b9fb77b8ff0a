/* Bubblewrap's command line: namespaces of its own, everything read-only but the root
 * and a private /tmp, secrets and services out of sight. */
#include "host/child_inside.h"

#include "text/text.h"

#include <sys/stat.h>
#include <unistd.h>

#define TMP_BYTES "4294967296" /* of a private /tmp: memory, so not without a bound */

void words_add(struct words *w, const char *word) {
  if (!word || w->n == WORDS_MAX) {
    w->full = true;
    return;
  }
  w->v[w->n++] = word;
  w->v[w->n] = NULL;
}

static void add3(struct words *w, const char *option, const char *from, const char *to) {
  words_add(w, option);
  words_add(w, from);
  words_add(w, to);
}

static void add_tmpfs(struct words *w, const char *where) {
  words_add(w, "--size");
  words_add(w, TMP_BYTES);
  words_add(w, "--tmpfs");
  words_add(w, where);
}

/* An empty, read-only thing of the same kind in its place. */
static void hide(struct words *w, const char *path) {
  struct stat st;
  if (stat(path, &st)) return;
  if (!S_ISDIR(st.st_mode)) {
    add3(w, "--ro-bind", "/dev/null", path);
    return;
  }
  words_add(w, "--tmpfs");
  words_add(w, path);
  words_add(w, "--remount-ro");
  words_add(w, path);
}

static void add_system(struct words *w, bool network) {
  static const char *const first[] = {"--unshare-user",    "--unshare-pid",
                                      "--unshare-ipc",     "--unshare-uts",
                                      "--die-with-parent", "--unshare-cgroup-try"};
  for (size_t i = 0; i < sizeof first / sizeof *first; i++)
    words_add(w, first[i]);
  if (!network) words_add(w, "--unshare-net");
  words_add(w, "--cap-drop");
  words_add(w, "ALL");
  add3(w, "--ro-bind", "/", "/");
  words_add(w, "--dev");
  words_add(w, "/dev");
  words_add(w, "--proc");
  words_add(w, "/proc");
  add_tmpfs(w, "/tmp");
  add_tmpfs(w, "/var/tmp");
  add_tmpfs(w, "/run"); /* where services of the machine listen */
  if (network) add3(w, "--ro-bind-try", "/run/systemd/resolve", "/run/systemd/resolve");
}

/* A folder that holds a mount may be moved away with it; a mount may not. So the
 * folders between the root and `path` become mounts too. */
static void pin(struct words *w, struct child *c, const char *path) {
  struct str root = str_of(c->spec->root), whole = str_of(path), copy;
  if (!str_starts(whole, root) || c->spec->read_only) return;
  for (size_t i = root.n + 1; i < whole.n; i++) {
    if (whole.p[i] != '/') continue;
    if (!arena_str(&c->arena, str_part(whole, 0, i), &copy))
      w->full = true;
    else
      add3(w, "--bind-try", copy.p, copy.p);
  }
}

static void add_kept(struct words *w, struct child *c) {
  for (size_t i = 0; i < c->kept_count; i++) {
    pin(w, c, c->kept[i].path);
    for (size_t k = 0; k < i; k++) /* which the pin has covered again */
      add3(w, "--ro-bind", c->kept[k].path, c->kept[k].path);
    add3(w, "--ro-bind", c->kept[i].path, c->kept[i].path);
  }
}

static void add_list(struct words *w, struct child *c, const char *const *paths, bool hidden) {
  for (size_t i = 0; paths[i]; i++) {
    if (access(paths[i], F_OK)) continue;
    pin(w, c, paths[i]);
    if (hidden)
      hide(w, paths[i]);
    else
      add3(w, "--ro-bind", paths[i], paths[i]);
  }
}

enum rein_code bwrap_words(struct child *c, struct words *w, struct err *err) {
  const struct sandbox *s = c->sandbox;
  const char *root = c->spec->root;
  if (str_is(str_of(root), "/")) return ERR(err, REIN_INPUT, T_HOST_SANDBOX_ROOT);
  words_add(w, s->bwrap);
  add_system(w, s->network && !c->spec->read_only);
  add3(w, c->spec->read_only ? "--ro-bind" : "--bind", root, root);
  add_list(w, c, s->protected, false);
  add_list(w, c, s->hidden, true);
  if (!c->spec->read_only) add_kept(w, c);
  words_add(w, "--");
  return w->full ? ERR(err, REIN_LIMIT, T_HOST_SANDBOX_WORDS) : REIN_OK;
}
