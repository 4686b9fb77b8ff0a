/* What a run has seen of files: read, written or deleted by its calls. It stands in
 * the results' records, so that a resumed run knows it too; who compares is
 * tools/change.c.
 */
#include "base/mem.h"
#include "driver/run.h"

static struct seen *take_out(struct seen **list, struct str path) {
  for (struct seen **link = list, *s; (s = *link); link = &s->next) {
    if (!str_eq((struct str){s->path, s->n}, path)) continue;
    *link = s->next;
    return s;
  }
  return NULL;
}

static void forget_old(struct seen **list) {
  struct seen **link = list;
  for (size_t i = 0; i < SEEN_MAX && *link; i++)
    link = &(*link)->next;
  mem_free(*link); /* one at most: each is kept alone */
  *link = NULL;
}

bool seen_keep(struct seen **list, const struct event *event) {
  if (event->kind != EVENT_RESULT || !event->seen.n) return true;
  struct seen *s = take_out(list, event->seen);
  if (!s) {
    s = mem_resize(NULL, sizeof *s + event->seen.n);
    if (!s) return false;
    s->n = event->seen.n;
    memcpy(s->path, event->seen.p, s->n);
  }
  s->hash = event->seen_hash;
  s->next = *list;
  *list = s;
  forget_old(list);
  return true;
}

bool seen_copy(const struct run *run, struct arena *arena, const struct call_seen **list) {
  *list = NULL;
  for (const struct seen *s = run->seen; s; s = s->next) {
    struct call_seen *copy = arena_new(arena, struct call_seen);
    if (!copy || !arena_str(arena, (struct str){s->path, s->n}, &copy->path)) return false;
    copy->hash = s->hash;
    copy->next = *list;
    *list = copy;
  }
  return true;
}

void seen_drop(struct seen **list) {
  while (*list) {
    struct seen *s = *list;
    *list = s->next;
    mem_free(s);
  }
}
