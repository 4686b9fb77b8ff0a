/* The list of pieces, and the threads that work it off. What is in a folder is
 * walk_folder.c's; the rule that a piece without weight may be handed on early
 * keeps the list short while its first piece takes long.
 */
#include "host/files_inside.h"
#include "host/walk_inside.h"

#include "base/mem.h"
#include "text/text.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define SLICE_MAX 32 /* entries of one piece: large enough to forget the lock */
#define PATH_BYTES_MAX (WALK_DEPTH_MAX * (NAME_MAX + 1) + 2 * PATH_MAX)

enum piece_state { PIECE_WAITING, PIECE_TAKEN, PIECE_DONE };

/* Entries [from, to) of a folder; one that is a folder is a piece of its own,
 * `deeper`, which reads it and puts the pieces that come of it behind itself. */
struct piece {
  struct piece *before, *next;
  enum piece_state state;
  struct branch *branch;
  size_t from, to;
  bool deeper;
  void *got;
  size_t weight;
};

struct chain {
  struct piece *first, *last;
  size_t n;
};

struct walk;

struct worker {
  struct walk *walk;
  unsigned number;
  pthread_t thread;
  struct reader reader;
};

struct walk {
  const struct walk_plan *plan;
  pthread_mutex_t lock;
  pthread_cond_t more;
  struct outer outer;
  struct chain list;
  unsigned waiting; /* threads */
  unsigned hired, most;
  bool full; /* `end` wants no more */
  enum rein_code fail;
  atomic_bool over;
  struct worker workers[WALK_THREADS_MAX];
};

unsigned walk_threads(unsigned threads) {
  long n = threads ? (long)threads : sysconf(_SC_NPROCESSORS_ONLN);
  return n < 1 ? 1 : n > WALK_THREADS_MAX ? WALK_THREADS_MAX : (unsigned)n;
}

static bool is_over(struct walk *w) {
  if (atomic_load_explicit(&w->over, memory_order_relaxed)) return true;
  if (!w->plan->stopped(w->plan->ctx)) return false;
  atomic_store(&w->over, true);
  return true;
}

/* ---- folders and their holders: with the lock -------------------------------------- */

static void branch_let_go(struct branch *b) {
  while (b && --b->holders == 0) {
    struct branch *above = b->above;
    branch_free(b);
    b = above;
  }
}

static void branch_piece_done(struct branch *b) {
  if (--b->pieces == 0) branch_close(b);
  branch_let_go(b);
}

/* ---- pieces ------------------------------------------------------------------------ */

static struct piece *piece_add(struct chain *c, struct branch *b, size_t from, size_t to) {
  struct piece *p = mem_zero(sizeof *p);
  if (!p) return NULL;
  p->branch = b;
  p->from = from;
  p->to = to;
  p->deeper = b->items[from].type == DT_DIR;
  p->before = c->last;
  if (c->last)
    c->last->next = p;
  else
    c->first = p;
  c->last = p;
  c->n++;
  return p;
}

static void chain_free(struct chain *c) {
  while (c->first) {
    struct piece *p = c->first;
    c->first = p->next;
    mem_free(p);
  }
  *c = (struct chain){NULL, NULL, 0};
}

/* A folder's entries in pieces; takes the folder, also when it fails. */
static bool cut(struct branch *b, struct chain *c) {
  size_t at = 0;
  while (at < b->n) {
    size_t to = at + 1;
    if (b->items[at].type != DT_DIR)
      while (to < b->n && to - at < SLICE_MAX && b->items[to].type != DT_DIR)
        to++;
    if (!piece_add(c, b, at, to)) {
      chain_free(c);
      branch_free(b);
      return false;
    }
    at = to;
  }
  b->pieces = b->holders = (unsigned)c->n;
  if (c->n == 0) branch_free(b);
  return true;
}

/* With the lock: puts pieces into the list, behind `place` (NULL: as the first). */
static void put_in(struct walk *w, struct piece *place, struct chain *c) {
  if (!c->first) return;
  struct piece *next = place ? place->next : w->list.first;
  if (c->first->branch->above) c->first->branch->above->holders++;
  c->first->before = place;
  c->last->next = next;
  if (place)
    place->next = c->first;
  else
    w->list.first = c->first;
  if (next)
    next->before = c->last;
  else
    w->list.last = c->last;
}

static void unlink_piece(struct walk *w, struct piece *p) {
  if (p->before)
    p->before->next = p->next;
  else
    w->list.first = p->next;
  if (p->next)
    p->next->before = p->before;
  else
    w->list.last = p->before;
}

/* With the lock: hands on what the piece gave, and forgets it. */
static void piece_end(struct walk *w, struct piece *p, bool wanted) {
  unlink_piece(w, p);
  if (p->got && !w->plan->end(w->plan->ctx, p->got, wanted && !w->full)) w->full = true;
  mem_free(p);
  if (w->full) atomic_store(&w->over, true);
}

/* ---- one piece, on any thread -------------------------------------------------------- */

/* False: no memory. */
static bool visit(struct walk *w, struct worker *me, struct piece *p, struct walk_entry *e,
                  const struct item *item) {
  if (!branch_path(&me->reader, p->branch, item->name)) return false;
  e->path = buf_str(&me->reader.path);
  e->name = str_of(item->name);
  e->dir_fd = p->branch->fd;
  e->is_dir = item->type == DT_DIR;
  e->is_link = item->type == DT_LNK;
  e->is_file = item->type == DT_REG;
  p->weight += w->plan->visit(w->plan->ctx, me->number, p->got, e);
  return true;
}

/* Reads a folder; false: no memory. */
static bool go_deeper(struct walk *w, struct worker *me, struct piece *p, struct chain *c) {
  const struct item *item = &p->branch->items[p->from];
  struct walk_entry e = {.too_deep = p->branch->depth >= WALK_DEPTH_MAX};
  struct branch *b = NULL;
  int fd = -1, flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK;
  if (!e.too_deep) {
    fd = openat(p->branch->fd, item->name, flags);
    e.unreadable = fd < 0;
  }
  if (fd >= 0) {
    if (!branch_path(&me->reader, p->branch, item->name)) {
      (void)close(fd);
      return false;
    }
    int bad = branch_read(&me->reader, p->branch, buf_str(&me->reader.path), fd, &b);
    if (bad == ENOMEM) return false;
    e.unreadable = bad != 0;
    e.rules_lost = b && b->rules_lost;
  }
  if (visit(w, me, p, &e, item)) return !b || cut(b, c);
  branch_free(b);
  return false;
}

static bool work_off(struct walk *w, struct worker *me, struct piece *p, struct chain *c) {
  if (is_over(w)) return true;
  p->got = w->plan->begin(w->plan->ctx);
  if (!p->got) return false;
  if (p->deeper) return go_deeper(w, me, p, c);
  for (size_t i = p->from; i < p->to && !is_over(w); i++) {
    struct walk_entry e = {0};
    if (!visit(w, me, p, &e, &p->branch->items[i])) return false;
  }
  return true;
}

/* ---- threads ------------------------------------------------------------------------- */

/* With the lock: the first piece that nobody has; NULL: none for now, or what
 * lies before it is enough. */
static struct piece *first_waiting(struct walk *w) {
  size_t weight = 0;
  for (struct piece *p = w->list.first; p && weight < w->plan->enough; p = p->next) {
    if (p->state == PIECE_WAITING) return p;
    if (p->state == PIECE_DONE) weight += p->weight;
  }
  return NULL;
}

/* With the lock: waits for work; NULL: there will be none. */
static struct piece *take(struct walk *w) {
  while (w->list.first && !atomic_load(&w->over)) {
    struct piece *p = first_waiting(w);
    if (p) {
      p->state = PIECE_TAKEN;
      return p;
    }
    w->waiting++;
    (void)pthread_cond_wait(&w->more, &w->lock);
    w->waiting--;
  }
  return NULL;
}

static void *thread_main(void *arg);

/* With the lock. Fewer threads than planned do the same work. */
static void hire(struct walk *w) {
  struct worker *worker = &w->workers[w->hired];
  sigset_t all, before;
  *worker = (struct worker){.walk = w, .number = w->hired};
  (void)sigfillset(&all); /* signals are for the thread that waits for them */
  (void)pthread_sigmask(SIG_SETMASK, &all, &before);
  if (pthread_create(&worker->thread, NULL, thread_main, worker) == 0)
    w->hired++;
  else
    w->most = w->hired;
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* With the lock. */
static void finish(struct walk *w, struct piece *p, struct chain *c, bool whole) {
  if (!whole) w->fail = REIN_MEMORY;
  if (w->fail) atomic_store(&w->over, true);
  put_in(w, p, c);
  p->state = PIECE_DONE;
  struct branch *b = p->branch;
  if (p->weight == 0) piece_end(w, p, true);
  while (w->list.first && w->list.first->state == PIECE_DONE)
    piece_end(w, w->list.first, true);
  branch_piece_done(b);
  if (c->n > 1 && w->hired < w->most && !atomic_load(&w->over)) hire(w);
  if (w->waiting) (void)pthread_cond_broadcast(&w->more);
}

static bool worker_init(struct worker *me) {
  me->reader = (struct reader){
      .plan = me->walk->plan, .outer = &me->walk->outer, .room = mem_resize(NULL, WALK_ROOM)};
  buf_init(&me->reader.path, PATH_BYTES_MAX);
  return me->reader.room != NULL;
}

static void worker_release(struct worker *me) {
  mem_free(me->reader.room);
  buf_release(&me->reader.path);
}

static void work(struct worker *me) {
  struct walk *w = me->walk;
  struct piece *p;
  (void)pthread_mutex_lock(&w->lock);
  while ((p = take(w))) {
    struct chain c = {NULL, NULL, 0};
    (void)pthread_mutex_unlock(&w->lock);
    bool whole = work_off(w, me, p, &c);
    (void)pthread_mutex_lock(&w->lock);
    finish(w, p, &c, whole);
  }
  (void)pthread_cond_broadcast(&w->more);
  (void)pthread_mutex_unlock(&w->lock);
}

static void *thread_main(void *arg) {
  struct worker *me = arg;
  if (worker_init(me)) work(me); /* else the others do it */
  worker_release(me);
  return NULL;
}

/* ---- a whole walk -------------------------------------------------------------------- */

/* The rules of the folders above the start; *above is the lowest of them. */
static int pass_down(struct walk *w, struct reader *r, struct str path, struct branch **above) {
  struct str rest = path, name;
  int fd = openat(w->plan->files->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  size_t n = 0;
  while (fd >= 0 && path.n && path_next(&rest, &name)) {
    char one[NAME_MAX + 1];
    struct branch *b;
    int next = -1;
    memcpy(one, name.p, name.n);
    one[name.n] = 0;
    next = openat(fd, one, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    int error = errno, bad = branch_pass(r, *above, str_part(path, 0, n), fd, &b);
    fd = next;
    if (!bad) {
      if (*above) (*above)->holders++;
      *above = b;
    }
    if (bad || next < 0) {
      if (next >= 0) (void)close(next);
      return bad ? bad : error;
    }
    n = (size_t)(name.p + name.n - path.p);
  }
  if (fd >= 0) (void)close(fd);
  return fd >= 0 ? 0 : errno;
}

/* What is wrong with the rules at the start or above it: an entry of its own. */
static int tell_rules(struct walk *w, const struct branch *b) {
  bool lost = false;
  struct walk_entry e = {.path = b->path.n ? b->path : STR("."), .dir_fd = -1, .is_dir = true};
  for (const struct branch *at = b; at && !lost; at = at->above)
    lost = at->rules_lost;
  void *got = lost ? w->plan->begin(w->plan->ctx) : NULL;
  if (!got) return lost ? ENOMEM : 0;
  e.name = e.path;
  e.rules_lost = true;
  (void)w->plan->visit(w->plan->ctx, 0, got, &e);
  if (!w->plan->end(w->plan->ctx, got, true)) atomic_store(&w->over, true);
  return 0;
}

/* Reads the folder where the walk starts, and puts its pieces into the list. */
static int start(struct walk *w, struct reader *r, struct str path, int fd) {
  struct branch *above = NULL, *b = NULL;
  struct chain c = {NULL, NULL, 0};
  int bad = w->plan->ignore ? pass_down(w, r, path, &above) : 0;
  if (bad)
    (void)close(fd);
  else
    bad = branch_read(r, above, path, fd, &b);
  if (b) b->depth = 1;
  if (above) above->holders++;
  if (!bad && (bad = tell_rules(w, b))) branch_free(b);
  if (!bad && !cut(b, &c)) bad = ENOMEM;
  if (!bad) put_in(w, NULL, &c);
  branch_let_go(above);
  return bad;
}

static void end_all(struct walk *w) {
  for (unsigned i = 1; i < w->hired; i++)
    (void)pthread_join(w->workers[i].thread, NULL);
  while (w->list.first) {
    struct piece *p = w->list.first;
    struct branch *b = p->state == PIECE_WAITING ? p->branch : NULL;
    piece_end(w, p, !w->fail);
    if (b) branch_piece_done(b);
  }
}

static enum rein_code walk_below(struct walk *w, struct str path, int fd, struct err *err) {
  struct worker *me = &w->workers[0];
  *me = (struct worker){.walk = w};
  w->hired = 1;
  w->most = walk_threads(w->plan->threads);
  int bad = ENOMEM;
  bool ready = worker_init(me);
  if (ready && w->plan->ignore) ready = outer_read(&w->outer, w->plan->files->root) == 0;
  if (ready)
    bad = start(w, &me->reader, path, fd);
  else
    (void)close(fd);
  if (!bad) {
    work(me);
    end_all(w);
    if (w->fail) bad = ENOMEM;
  }
  worker_release(me);
  outer_release(&w->outer);
  return bad ? path_fail(path.n ? path : STR("."), bad, err) : REIN_OK;
}

enum rein_code walk(const struct walk_plan *plan, struct err *err) {
  struct walk w = {.plan = plan};
  struct buf path;
  struct str from = plan->path.n ? plan->path : STR(".");
  int fd = -1;
  enum rein_code code = files_open(plan->files, from, FILES_DIR, &fd, NULL, err);
  if (code) return code;
  atomic_init(&w.over, false);
  buf_init(&path, PATH_BYTES_MAX);
  code = files_path_of(plan->files, fd, &path);
  if (code) {
    (void)close(fd);
    code = path_fail(from, code == REIN_INPUT ? ENOENT : code == REIN_MEMORY ? ENOMEM : EIO, err);
  } else if (pthread_mutex_init(&w.lock, NULL) != 0) {
    (void)close(fd);
    code = ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  } else {
    (void)pthread_cond_init(&w.more, NULL);
    code = walk_below(&w, str_is(buf_str(&path), ".") ? STR_NONE : buf_str(&path), fd, err);
    (void)pthread_cond_destroy(&w.more);
    (void)pthread_mutex_destroy(&w.lock);
  }
  buf_release(&path);
  return code;
}
