/* Head, tail and error lines of an output that may be endless. */
#include "host/child_out.h"

void child_out_init(struct child_out *out, size_t head_max, size_t tail_max) {
  *out = (struct child_out){.head_max = head_max, .tail_max = tail_max};
  buf_init(&out->head, head_max + 1);
  buf_init(&out->tail, tail_max + 1);
  buf_init(&out->line, CHILD_LINE_BYTES + 8);
  buf_init(&out->errors, CHILD_ERROR_BYTES + CHILD_LINE_BYTES + 8);
}

void child_out_release(struct child_out *out) {
  buf_release(&out->head);
  buf_release(&out->tail);
  buf_release(&out->line);
  buf_release(&out->errors);
}

/* Words by which compilers, test runners and shells say that something is wrong. */
static bool says_error(struct str line) {
  static const char *const words[] = {"error",     "fatal",        "failed",
                                      "failure",   "exception",    "traceback",
                                      "panic",     "assert",       "undefined reference",
                                      "not found", "denied",       "cannot",
                                      "abort",     "segmentation", "오류",
                                      "실패",      "에러",         "예외"};
  char lower[CHILD_LINE_BYTES + 1];
  size_t n = line.n < CHILD_LINE_BYTES ? line.n : CHILD_LINE_BYTES;
  for (size_t i = 0; i < n; i++)
    lower[i] = line.p[i] >= 'A' && line.p[i] <= 'Z' ? (char)(line.p[i] + 32) : line.p[i];
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (str_has((struct str){lower, n}, str_of(words[i]))) return true;
  return false;
}

static void line_ends(struct child_out *out) {
  struct str line = buf_str(&out->line);
  if (line.n && says_error(line)) {
    out->error_lines++;
    if (out->errors.n < CHILD_ERROR_BYTES) {
      buf_put(&out->errors, line);
      buf_c(&out->errors, '\n');
    }
  }
  buf_reset(&out->line);
}

/* Bytes that are in neither head nor tail any more. */
static void lose(struct child_out *out, struct str bytes) {
  out->cut += (int64_t)bytes.n;
  while (bytes.n) {
    size_t n = str_find_char(bytes, '\n');
    size_t room = CHILD_LINE_BYTES - out->line.n;
    buf_put(&out->line, str_part(bytes, 0, n < room ? n : room));
    if (n < bytes.n) line_ends(out);
    bytes = str_part(bytes, n + 1, SIZE_MAX);
  }
}

static void ring_add(struct child_out *out, struct str bytes) {
  if (bytes.n > out->tail_max) {
    /* The ring is older than what passes through it. */
    if (out->tail.n) {
      lose(out, str_part(buf_str(&out->tail), out->tail_at, SIZE_MAX));
      lose(out, str_part(buf_str(&out->tail), 0, out->tail_at));
      buf_reset(&out->tail);
      out->tail_at = 0;
    }
    lose(out, str_part(bytes, 0, bytes.n - out->tail_max));
    bytes = str_part(bytes, bytes.n - out->tail_max, SIZE_MAX);
  }
  size_t free_n = out->tail_max - out->tail.n;
  struct str first = str_part(bytes, 0, free_n);
  buf_put(&out->tail, first);
  bytes = str_part(bytes, first.n, SIZE_MAX);
  while (bytes.n && !out->tail.fail) {
    struct str old = str_part(buf_str(&out->tail), out->tail_at, bytes.n);
    lose(out, old);
    memcpy(out->tail.p + out->tail_at, bytes.p, old.n);
    bytes = str_part(bytes, old.n, SIZE_MAX);
    out->tail_at = (out->tail_at + old.n) % out->tail_max;
  }
}

void child_out_add(struct child_out *out, struct str bytes) {
  out->bytes += (int64_t)bytes.n;
  struct str first = str_part(bytes, 0, out->head_max - out->head.n);
  buf_put(&out->head, first);
  bytes = str_part(bytes, first.n, SIZE_MAX);
  if (bytes.n && out->tail_max) ring_add(out, bytes);
  if (bytes.n && !out->tail_max) lose(out, bytes);
}

void child_out_end(struct child_out *out) {
  if (out->cut && out->line.n) line_ends(out);
}

void child_out_put_tail(const struct child_out *out, struct buf *text) {
  buf_put(text, str_part(buf_str(&out->tail), out->tail_at, SIZE_MAX));
  buf_put(text, str_part(buf_str(&out->tail), 0, out->tail_at));
}

bool child_out_failed(const struct child_out *out) {
  return out->head.fail || out->tail.fail || out->line.fail || out->errors.fail;
}
