/* Exchanges for pool threads: the thread sleeps while the loop's thread carries
 * its exchange. Everything shared is guarded by the http's lock.
 *
 * A thread that gives up must not leave the loop with pointers to its own
 * memory: it hands the wait over, and the loop's side frees it.
 */
#include "host/http_inside.h"

#include "base/mem.h"
#include "text/text.h"

#include <time.h>

#define LOOK_MS 50 /* how long a cancel may go unseen */

enum wait_state {
  WAIT_QUEUED,  /* the loop has not seen it */
  WAIT_RUNS,    /* an exchange is under way; call is set */
  WAIT_ENDED,   /* the thread's to free */
  WAIT_GIVEN_UP /* the loop's to free; nothing of the thread's may be touched */
};

struct http_wait {
  struct http *http;
  struct http_wait *next, *prev;
  enum wait_state state;
  pthread_cond_t ended;
  struct http_call *call;
  struct http_guard guard;            /* stands before the request's own */
  const struct http_request *request; /* these three are the thread's */
  struct http_result *result;
  struct err *err;
  enum rein_code code;
};

static void unlink_wait(struct http_wait *wait) {
  if (wait->prev)
    wait->prev->next = wait->next;
  else
    wait->http->waits = wait->next;
  if (wait->next) wait->next->prev = wait->prev;
}

static void wait_free(struct http_wait *wait) {
  (void)pthread_cond_destroy(&wait->ended);
  mem_free(wait);
}

/* Called with the lock. */
static void wait_ends(struct http_wait *wait, enum rein_code code) {
  unlink_wait(wait);
  wait->code = code;
  wait->state = WAIT_ENDED;
  (void)pthread_cond_signal(&wait->ended);
}

/* ---- The loop's side: an answer comes -------------------------------------------- */

/* Locks, and gives the result to write to; NULL: nobody waits any more. */
static struct http_result *lock_result(struct http_wait *wait) {
  (void)pthread_mutex_lock(&wait->http->lock);
  return wait->state == WAIT_RUNS ? wait->result : NULL;
}

static void on_status(void *ctx, int status) {
  struct http_wait *wait = ctx;
  struct http_result *result = lock_result(wait);
  if (result) result->status = status;
  (void)pthread_mutex_unlock(&wait->http->lock);
}

static void on_header(void *ctx, struct str name, struct str value) {
  struct http_wait *wait = ctx;
  struct http_result *result = lock_result(wait);
  if (result) {
    buf_put(result->headers, name);
    buf_lit(result->headers, ": ");
    buf_put(result->headers, value);
    buf_c(result->headers, '\n');
  }
  (void)pthread_mutex_unlock(&wait->http->lock);
}

static void on_bytes(void *ctx, struct str bytes) {
  struct http_wait *wait = ctx;
  struct http_result *result = lock_result(wait);
  if (result) buf_put(result->body, bytes);
  (void)pthread_mutex_unlock(&wait->http->lock);
}

/* The thread's guard lives as long as it waits. */
static bool may(void *ctx, const struct http_place *place) {
  struct http_wait *wait = ctx;
  bool yes = false;
  if (lock_result(wait)) {
    const struct http_guard *guard = wait->request->guard;
    yes = guard->may(guard->ctx, place);
  }
  (void)pthread_mutex_unlock(&wait->http->lock);
  return yes;
}

static enum rein_code code_of(const struct http_result *result) {
  return result->headers->fail ? result->headers->fail : result->body->fail;
}

static void on_end(void *ctx, enum http_end end, struct str why) {
  struct http_wait *wait = ctx;
  struct http *http = wait->http;
  struct http_result *result = lock_result(wait);
  wait->call = NULL;
  if (result) {
    size_t n = why.n < sizeof result->why - 1 ? why.n : sizeof result->why - 1;
    if (n) memcpy(result->why, why.p, n);
    result->why[n] = '\0';
    result->end = end;
    wait_ends(wait, code_of(result));
  }
  (void)pthread_mutex_unlock(&http->lock);
}

/* ---- The loop's side: the thread began or gave up ------------------------------------ */

/* Called with the lock: the request is good as long as the thread is held. */
static void wait_begins(struct http_wait *wait) {
  struct http_request request = *wait->request;
  struct http_answer answer = {on_status, on_header, on_bytes, on_end, wait};
  size_t room = wait->result->body->max;
  if (request.body_max == 0 || request.body_max > room) request.body_max = room;
  wait->guard = (struct http_guard){may, wait};
  if (request.guard) request.guard = &wait->guard;
  enum rein_code code = http_start(wait->http, &request, &answer, &wait->call, wait->err);
  if (code == REIN_OK)
    wait->state = WAIT_RUNS;
  else
    wait_ends(wait, code);
}

static void look(void *ctx) {
  struct http *http = ctx;
  (void)pthread_mutex_lock(&http->lock);
  for (struct http_wait *wait = http->waits, *next; wait && !http->closed; wait = next) {
    next = wait->next;
    if (wait->state == WAIT_QUEUED) wait_begins(wait);
    if (wait->state != WAIT_GIVEN_UP) continue;
    http_abort(wait->call);
    unlink_wait(wait);
    wait_free(wait);
  }
  (void)pthread_mutex_unlock(&http->lock);
}

void http_waits_close(struct http *http) {
  (void)pthread_mutex_lock(&http->lock);
  http->closed = true;
  while (http->waits) {
    struct http_wait *wait = http->waits;
    http_abort(wait->call);
    if (wait->state != WAIT_GIVEN_UP) {
      wait_ends(wait, ERR(wait->err, REIN_CANCELLED, T_HOST_CLOSED));
      continue;
    }
    unlink_wait(wait);
    wait_free(wait);
  }
  (void)pthread_mutex_unlock(&http->lock);
}

/* ---- The thread's side ------------------------------------------------------------ */

static enum rein_code wait_new(struct http *http, struct http_wait **wait) {
  struct http_wait *w = mem_zero(sizeof *w);
  if (!w) return REIN_MEMORY;
  pthread_condattr_t attr;
  int bad = pthread_condattr_init(&attr);
  if (!bad) {
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    bad = pthread_cond_init(&w->ended, &attr);
    (void)pthread_condattr_destroy(&attr);
  }
  if (bad) {
    mem_free(w);
    return REIN_MEMORY;
  }
  w->http = http;
  *wait = w;
  return REIN_OK;
}

/* False: the http is closed. */
static bool wait_queue(struct http_wait *wait) {
  struct http *http = wait->http;
  (void)pthread_mutex_lock(&http->lock);
  bool open = !http->closed;
  if (open) {
    wait->next = http->waits;
    if (wait->next) wait->next->prev = wait;
    http->waits = wait;
  }
  (void)pthread_mutex_unlock(&http->lock);
  return open;
}

/* True once it has ended; false after LOOK_MS. */
static bool wait_a_while(struct http_wait *wait) {
  struct http *http = wait->http;
  struct timespec at;
  (void)clock_gettime(CLOCK_MONOTONIC, &at);
  at.tv_nsec += LOOK_MS * 1000000L;
  if (at.tv_nsec >= 1000000000) {
    at.tv_sec++;
    at.tv_nsec -= 1000000000;
  }
  (void)pthread_mutex_lock(&http->lock);
  int late = 0;
  while (wait->state != WAIT_ENDED && !late)
    late = pthread_cond_timedwait(&wait->ended, &http->lock, &at);
  bool ended = wait->state == WAIT_ENDED;
  (void)pthread_mutex_unlock(&http->lock);
  return ended;
}

/* True: handed over to the loop; false: it had ended meanwhile. */
static bool wait_give_up(struct http_wait *wait) {
  struct http *http = wait->http;
  (void)pthread_mutex_lock(&http->lock);
  bool given = wait->state != WAIT_ENDED;
  if (given) wait->state = WAIT_GIVEN_UP;
  (void)pthread_mutex_unlock(&http->lock);
  /* Not posted (no memory, or closing): the next look, or http_free, frees it. */
  if (given) (void)!loop_post(http->loop, look, http);
  return given;
}

enum rein_code http_wait(struct http *http, const struct http_request *request,
                         bool (*cancelled)(void *ctx), void *ctx, struct http_result *result,
                         struct err *err) {
  struct http_wait *wait;
  if (wait_new(http, &wait) != REIN_OK) return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  result->status = 0;
  result->end = HTTP_BROKEN;
  result->why[0] = '\0';
  wait->request = request;
  wait->result = result;
  wait->err = err;
  if (!wait_queue(wait)) {
    wait_free(wait);
    return ERR(err, REIN_CANCELLED, T_HOST_CLOSED);
  }
  enum rein_code code = loop_post(http->loop, look, http);
  bool stop = code != REIN_OK;
  while (!stop && !wait_a_while(wait))
    stop = cancelled && cancelled(ctx);
  if (stop && wait_give_up(wait)) {
    if (code == REIN_OK) code = REIN_CANCELLED;
  } else {
    code = wait->code;
    wait_free(wait);
  }
  if (code == REIN_CANCELLED) return ERR(err, code, T_HOST_CLOSED);
  if (code == REIN_MEMORY) return ERR(err, code, T_HOST_NO_MEMORY);
  if (code == REIN_LIMIT) return ERR(err, code, T_HOST_HEADERS_BIG);
  return code;
}
