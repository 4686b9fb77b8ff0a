/* Read strictly and written whole: a lock while it changes, a temporary file, a
 * rename, so that neither two programs nor a crash lose what was there. */
#include "cli/kept.h"

#include "cli/env.h"
#include "json/write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading --------------------------------------------------------------------- */

static bool find(struct cli *cli, struct str *path) {
  struct str runs, folder, name;
  struct buf b;
  if (!env_state_path(&cli->arena, cli->envp, &runs)) return false;
  if (!str_split_last(runs, '/', &folder, &name)) return false;
  buf_init(&b, 2 * 4096);
  buf_put(&b, folder);
  buf_lit(&b, "/kept.json");
  bool ok = !b.fail && arena_str(&cli->arena, buf_str(&b), path);
  buf_release(&b);
  return ok;
}

static bool read_entry(const struct json *node, struct kept_entry *e) {
  const struct json *content = json_get(node, "trusts"), *root = json_get(node, "root");
  const struct json *tool = json_get(node, "tool"), *args = json_get(node, "args");
  *e = (struct kept_entry){.trust = content != NULL,
                           .root = json_text(root),
                           .tool = json_text(tool),
                           .args = json_text(args),
                           .content = json_text(content)};
  if (!json_is(root, JSON_STRING)) return false;
  if (content) return json_is(content, JSON_STRING) && !tool && !args;
  return json_is(tool, JSON_STRING) && json_is(args, JSON_STRING);
}

static int read_all(struct cli *cli, struct kept *kept, struct str text) {
  struct json *doc;
  struct err err = {0};
  enum rein_code code = json_parse(&cli->arena, text, JSON_UNIQUE, &doc, &err);
  if (code == REIN_MEMORY) return cli_no_memory(cli);
  if (code || !json_is(doc, JSON_ARRAY) || doc->count > KEPT_MAX)
    return cli_usage(cli, T_CLI_KEPT_BROKEN, kept->path);
  kept->v = arena_array(&cli->arena, struct kept_entry, doc->count + 1);
  if (!kept->v) return cli_no_memory(cli);
  for (const struct json *node = doc->first; node; node = node->next)
    if (!read_entry(node, &kept->v[kept->n++]))
      return cli_usage(cli, T_CLI_KEPT_BROKEN, kept->path);
  return 0;
}

int kept_load(struct cli *cli, struct kept *kept) {
  struct str text;
  struct err err = {0};
  struct stat st;
  *kept = (struct kept){0};
  if (!find(cli, &kept->path)) return 0; /* no place: nothing was kept */
  if (lstat(kept->path.p, &st) && (errno == ENOENT || errno == ENOTDIR)) return 0;
  if (cli_read_file(cli, kept->path, KEPT_BYTES_MAX, &text, &err)) return cli_fail(cli, &err);
  return read_all(cli, kept, text);
}

/* ---- writing ---------------------------------------------------------------------- */

static void put_all(struct buf *out, const struct kept *kept, size_t without) {
  struct json_out w = json_out(out);
  json_open(&w, '[');
  for (size_t i = 0; i < kept->n; i++) {
    const struct kept_entry *e = &kept->v[i];
    if (i + 1 == without) continue;
    buf_lit(out, "\n");
    json_open(&w, '{');
    json_key(&w, "root");
    json_put_text(&w, e->root);
    json_key(&w, e->trust ? "trusts" : "tool");
    json_put_text(&w, e->trust ? e->content : e->tool);
    if (!e->trust) json_key(&w, "args");
    if (!e->trust) json_put_text(&w, e->args);
    json_close(&w, '}');
  }
  json_close(&w, ']');
  buf_c(out, '\n');
}

static bool write_whole(int fd, struct str text) {
  while (text.n) {
    ssize_t n = write(fd, text.p, text.n);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    text = str_part(text, (size_t)n, text.n);
  }
  return fsync(fd) == 0;
}

static int replace(const char *path, struct str text) {
  char made[4096 + 8];
  if (snprintf(made, sizeof made, "%s.new", path) >= (int)sizeof made) return ENAMETOOLONG;
  int fd = open(made, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return errno;
  int failed = write_whole(fd, text) ? 0 : errno;
  (void)close(fd);
  if (!failed && rename(made, path)) failed = errno;
  if (failed) (void)unlink(made);
  return failed;
}

/* The folders on the way, for the user alone. */
static void make_folders(char *path) {
  for (char *p = path + 1; *p; p++) {
    if (*p != '/') continue;
    *p = '\0';
    (void)mkdir(path, 0700);
    *p = '/';
  }
}

/* Held until the descriptor is closed; -1 and errno. */
static int lock(const char *path) {
  char name[4096 + 8];
  if (snprintf(name, sizeof name, "%s.lock", path) >= (int)sizeof name) {
    errno = ENAMETOOLONG;
    return -1;
  }
  make_folders(name);
  int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd >= 0 && flock(fd, LOCK_EX)) {
    (void)close(fd);
    return -1;
  }
  return fd;
}

static int add(struct cli *cli, struct kept *kept, const struct kept_entry *more) {
  struct kept_entry *v = arena_array(&cli->arena, struct kept_entry, kept->n + 1);
  if (!v) return cli_no_memory(cli);
  for (size_t i = 0; i < kept->n; i++)
    v[i] = kept->v[i];
  v[kept->n++] = *more;
  kept->v = v;
  return 0;
}

static int write_kept(struct cli *cli, const struct kept *kept, size_t without) {
  struct buf b;
  buf_init(&b, KEPT_BYTES_MAX);
  put_all(&b, kept, without);
  int failed = b.fail ? ENOMEM : replace(kept->path.p, buf_str(&b));
  buf_release(&b);
  return failed ? cli_usage(cli, T_CLI_KEPT_FAILED, kept->path, str_of(strerror(failed))) : 0;
}

/* Reads again under the lock, adds `more` (NULL none), leaves `without` out. */
static int change(struct cli *cli, const struct kept_entry *more, size_t without, bool all) {
  struct kept kept;
  struct str path;
  if (!find(cli, &path)) return cli_usage(cli, T_CLI_NO_STATE);
  int fd = lock(path.p);
  if (fd < 0) return cli_usage(cli, T_CLI_KEPT_FAILED, path, str_of(strerror(errno)));
  int exit = kept_load(cli, &kept);
  if (all) kept.n = 0;
  if (!exit && more) exit = add(cli, &kept, more);
  if (!exit) exit = write_kept(cli, &kept, without);
  (void)close(fd);
  return exit;
}

int kept_grant(struct cli *cli, struct str root, struct str tool, struct str args) {
  return change(cli, &(struct kept_entry){.root = root, .tool = tool, .args = args}, 0, false);
}

int kept_trust(struct cli *cli, struct str root, struct str content) {
  struct kept_entry e = {.trust = true, .root = root, .content = content};
  return change(cli, &e, 0, false);
}

int kept_revoke(struct cli *cli, size_t number) {
  return change(cli, NULL, number, number == 0);
}
