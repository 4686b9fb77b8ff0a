/* Takes the parts of a call out of its arguments, by the row's lists of names. */
#include "policy/subject.h"

#include "policy/path.h"

/* Room for all parts of one kind, allocated when the first comes. */
static void *more(struct arena *arena, struct subject *s, void **list, size_t *count, size_t size) {
  if (*count == SUBJECT_PARTS_MAX) {
    s->odd = true;
    return NULL;
  }
  if ((*count & (*count - 1)) == 0) {
    char *grown = arena_alloc_array(arena, size, *count ? 2 * *count : 1);
    if (!grown) return NULL;
    if (*count) memcpy(grown, *list, *count * size);
    *list = grown;
  }
  return (char *)*list + (*count)++ * size;
}

typedef bool (*part_fn)(struct arena *arena, struct subject *s, const struct json *node);

static bool add_path(struct arena *arena, struct subject *s, const struct json *node) {
  void *list = s->paths;
  struct str *path = more(arena, s, &list, &s->path_count, sizeof *path);
  s->paths = list;
  if (!path) return s->odd;
  return path_clean(arena, s->root, node->text, path);
}

static bool add_host(struct arena *arena, struct subject *s, struct str url) {
  void *list = s->hosts;
  struct url_host *host = more(arena, s, &list, &s->host_count, sizeof *host);
  s->hosts = list;
  if (!host) return s->odd;
  return host_of_url(arena, url, host);
}

static bool add_url(struct arena *arena, struct subject *s, const struct json *node) {
  return add_host(arena, s, node->text);
}

/* Each text, or each text of a list. */
static bool each(struct arena *arena, struct subject *s, const struct json *node, part_fn add) {
  if (json_is(node, JSON_STRING)) return add(arena, s, node);
  if (!json_is(node, JSON_ARRAY)) {
    s->odd |= node && !json_is(node, JSON_NULL);
    return true;
  }
  for (const struct json *n = node->first; n; n = n->next) {
    if (!json_is(n, JSON_STRING))
      s->odd = true;
    else if (!add(arena, s, n))
      return false;
  }
  return true;
}

static enum rein_code read_argv(struct arena *arena, struct subject *s, const struct json *node,
                                struct shell *shell) {
  struct str *words = arena_array(arena, struct str, node->count + 1);
  size_t n = 0;
  if (!words) return REIN_MEMORY;
  for (const struct json *word = node->first; word; word = word->next) {
    s->odd |= !json_is(word, JSON_STRING);
    words[n++] = json_text(word);
  }
  return shell_argv(arena, words, n, shell);
}

static enum rein_code add_command(struct arena *arena, struct subject *s, const struct json *node) {
  void *list = s->shells;
  bool text = json_is(node, JSON_STRING);
  if (!text && !json_is(node, JSON_ARRAY)) {
    s->odd |= node && !json_is(node, JSON_NULL);
    return REIN_OK;
  }
  struct shell *shell = more(arena, s, &list, &s->shell_count, sizeof *shell);
  s->shells = list;
  if (!shell) return s->odd ? REIN_OK : REIN_MEMORY;
  return text ? shell_read(arena, node->text, shell) : read_argv(arena, s, node, shell);
}

static const struct json *member(const struct json *args, struct str name) {
  if (!json_is(args, JSON_OBJECT)) return NULL;
  for (const struct json *m = args->first; m; m = m->next)
    if (str_eq(m->key, name)) return m;
  return NULL;
}

static bool read_each(struct arena *arena, struct subject *s, const char *names,
                      const struct json *args, part_fn add) {
  struct str rest = str_of(names), name;
  while (str_next(&rest, ',', &name))
    if (!each(arena, s, member(args, str_trim(name)), add)) return false;
  return true;
}

static bool read_hosts(struct arena *arena, struct subject *s, const char *hosts) {
  struct str rest = str_of(hosts), name, url;
  struct buf b;
  bool ok = true;
  buf_init(&b, 4096);
  while (ok && str_next(&rest, ',', &name)) {
    buf_reset(&b);
    buf_lit(&b, "https://");
    buf_put(&b, str_trim(name));
    ok = !b.fail && arena_str(arena, buf_str(&b), &url) && add_host(arena, s, url);
  }
  buf_release(&b);
  return ok;
}

enum rein_code subject_read(struct arena *arena, const struct rein_tool *row,
                            const struct json *args, struct str root, struct subject *subject) {
  struct str rest = str_of(row->commands), name;
  unsigned touches = row->touches ? row->touches : REIN_WRITES | REIN_OUTSIDE;
  *subject = (struct subject){
      .row = row, .tool = str_of(row->name), .root = root, .writes = touches & REIN_WRITES};
  if (!read_each(arena, subject, row->paths, args, add_path) ||
      !read_each(arena, subject, row->urls, args, add_url) ||
      !read_hosts(arena, subject, row->hosts))
    return REIN_MEMORY;
  while (str_next(&rest, ',', &name)) {
    enum rein_code code = add_command(arena, subject, member(args, str_trim(name)));
    if (code) return code;
  }
  return REIN_OK;
}
