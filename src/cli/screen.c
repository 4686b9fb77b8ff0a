/* Writes to stdout and stderr, whole, whatever the system takes at a time. */
#include "cli/screen.h"

#include "base/utf8.h"
#include "cli/ends.h"
#include "cli/env.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINE_BYTES_MAX (16u << 20) /* the longest line of talk: a record in the log's form */
#define COLUMNS_USUAL 80
#define AT_ONCE 4096 /* PIPE_BUF: what a pipe takes without waiting, once it takes anything */

/* Waits until fd takes something: 0, or EINTR when a signal came first. A pager
 * that shows one page, a terminal that was stopped: nothing says for how long,
 * and a write would not give way to Ctrl+C. */
static int wait_for(struct screen *screen, int fd) {
  struct pollfd fds[2] = {{.fd = fd, .events = POLLOUT}};
  if (poll(fds, 1, 0) != 0) return 0; /* what is wrong with it, the write says */
  if (screen->signum) return EINTR;
  struct ends ends;
  ends_open(&ends);
  fds[1] = (struct pollfd){.fd = ends.fd, .events = POLLIN};
  for (bool takes = false; !takes && !screen->signum;) {
    int n = poll(fds, 2, -1);
    if (n < 0 && errno != EINTR) break;
    takes = n > 0 && fds[0].revents;
    if (n > 0 && fds[1].revents) screen->signum = ends_take(&ends);
  }
  ends_close(&ends);
  return screen->signum ? EINTR : 0;
}

/* 0, or the errno. */
static int write_all(struct screen *screen, int fd, struct str s) {
  while (s.n) {
    int failed = wait_for(screen, fd);
    if (failed) return failed;
    ssize_t n = write(fd, s.p, s.n < AT_ONCE ? s.n : AT_ONCE);
    if (n < 0 && errno != EINTR && errno != EAGAIN) return errno;
    if (n > 0) s = str_part(s, (size_t)n, SIZE_MAX);
  }
  return 0;
}

/* What stderr refuses is lost: there is nowhere left to say it. */
static void write_err(struct screen *screen, struct str s) {
  (void)write_all(screen, STDERR_FILENO, s);
}

void screen_open(struct screen *screen, char *const *envp, const struct secrets *secrets) {
  struct str term = env_get(envp, "TERM");
  *screen = (struct screen){.secrets = secrets};
  screen->out_tty = isatty(STDOUT_FILENO);
  screen->err_tty = isatty(STDERR_FILENO);
  screen->moves = screen->err_tty && term.n && !str_is(term, "dumb");
  screen->colour = screen->moves && env_get(envp, "NO_COLOR").n == 0;
}

static void wipe(struct screen *screen) {
  if (!screen->drawn) return;
  write_err(screen, STR("\r\x1b[K"));
  screen->drawn = false;
}

void screen_answer(struct screen *screen, struct str bytes) {
  if (!bytes.n) return;
  if (screen->out_tty) wipe(screen);
  if (!screen->out_errno) screen->out_errno = write_all(screen, STDOUT_FILENO, bytes);
  screen->answer_open = bytes.p[bytes.n - 1] != '\n';
  if (screen->out_tty) screen->mid_line = screen->answer_open;
}

void screen_end_answer(struct screen *screen) {
  if (screen->answer_open) screen_answer(screen, STR("\n"));
}

/* Talk must not run on in a line of the answer, nor in an open question. */
static void begin_talk(struct screen *screen) {
  wipe(screen);
  if (!screen->mid_line || !screen->err_tty) return;
  write_err(screen, STR("\n"));
  screen->mid_line = false;
  if (screen->out_tty) screen->answer_open = false;
}

static void talk(struct screen *screen, struct str before, struct str line, struct str after) {
  struct buf masked, b;
  buf_init(&masked, LINE_BYTES_MAX);
  buf_init(&b, LINE_BYTES_MAX);
  begin_talk(screen);
  secrets_mask(screen->secrets, &masked, line);
  buf_put(&b, before);
  utf8_show(&b, buf_str(&masked), true); /* words of providers and arguments are in it */
  buf_put(&b, after);
  bool failed = masked.fail || b.fail;
  write_err(screen, failed ? STR("rein: no memory for a line of text\n") : buf_str(&b));
  buf_release(&masked);
  buf_release(&b);
}

void screen_talk(struct screen *screen, struct str line) {
  talk(screen, STR_NONE, line, STR("\n"));
}

void screen_faint(struct screen *screen, struct str line) {
  if (screen->colour)
    talk(screen, STR("\x1b[2m"), line, STR("\x1b[0m\n"));
  else
    screen_talk(screen, line);
}

void screen_ask(struct screen *screen, struct str text) {
  talk(screen, STR_NONE, text, STR_NONE);
  screen->mid_line = screen->err_tty;
}

void screen_asked(struct screen *screen) {
  screen->mid_line = false;
}

void screen_status(struct screen *screen, struct str text) {
  if (!screen->moves || screen->mid_line) return;
  wipe(screen);
  if (!text.n) return;
  struct buf b;
  buf_init(&b, LINE_BYTES_MAX);
  if (screen->colour) buf_lit(&b, "\x1b[2m");
  /* One column stays free: a full last column makes some terminals wrap. */
  size_t room = screen_columns(screen) - 1;
  while (utf8_width(text) > room)
    text = utf8_head(text, utf8_count(text) - 1);
  buf_put(&b, text);
  if (screen->colour) buf_lit(&b, "\x1b[0m");
  if (!b.fail) write_err(screen, buf_str(&b));
  screen->drawn = !b.fail;
  buf_release(&b);
}

size_t screen_columns(const struct screen *screen) {
  struct winsize size;
  if (!screen->err_tty || ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2)
    return COLUMNS_USUAL;
  return size.ws_col;
}
