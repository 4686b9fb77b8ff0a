/* How fast the reader is: megabytes a second over texts of three kinds, beside
 * memchr over the same bytes. Not part of the checks; numbers in docs are its.
 *
 *   json [FILE…]    files instead of the made texts
 */
#include "base/buf.h"
#include "json/json.h"

#include <stdio.h>
#include <time.h>

#define ROUND_S 0.4 /* long enough for a steady figure */

/* Of this process alone: what else the machine does then costs less. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double rate(struct str text, bool (*once)(struct str text)) {
  double began = now(), spent;
  size_t rounds = 0;
  do {
    if (!once(text)) return 0;
    rounds++;
    spent = now() - began;
  } while (spent < ROUND_S);
  return (double)text.n * (double)rounds / spent / 1e6;
}

static bool read_once(struct str text) {
  struct arena arena;
  struct json *doc;
  arena_init(&arena, (size_t)1 << 30);
  enum rein_code code = json_parse(&arena, text, JSON_STRICT, &doc, NULL);
  arena_release(&arena);
  return code == REIN_OK;
}

static volatile size_t sink;

static bool scan_once(struct str text) {
  sink += str_find_char(text, '\x01');
  return true;
}

static void show(const char *name, struct str text) {
  double ours = rate(text, read_once), scan = rate(text, scan_once);
  printf("%-24s %9zu bytes  %7.0f MB/s  (memchr %.0f MB/s)\n", name, text.n, ours, scan);
}

/* Records as an interface sends them: short keys, numbers, short texts. */
static void make_records(struct buf *b) {
  buf_c(b, '[');
  for (int i = 0; i < 5000; i++)
    buf_fmt(b,
            "%s{\"id\":%d,\"name\":\"user %d\",\"active\":%s,\"score\":%d.%02d,\"tags\":[\"alpha\","
            "\"beta\"],\"address\":{\"city\":\"Seoul\",\"zip\":\"%05d\"},\"note\":null}",
            i ? "," : "", i * 7919, i, i % 2 ? "true" : "false", i % 100, i % 97, i);
  buf_c(b, ']');
}

/* A file's text inside a string, as a tool result carries it. */
static void make_text(struct buf *b) {
  buf_lit(b, "{\"content\":\"");
  for (int i = 0; i < 20000; i++)
    buf_fmt(b, "  int value_%d = compute(%d, \\\"name\\\"); /* a comment of a line */\\n", i,
            i * 3);
  buf_lit(b, "\"}");
}

static void make_korean(struct buf *b) {
  buf_c(b, '[');
  for (int i = 0; i < 20000; i++)
    buf_fmt(b, "%s\"도구가 돌려준 %d번째 결과는 한국어 문장입니다.\"", i ? "," : "", i);
  buf_c(b, ']');
}

/* A delta of a stream: many small documents, one parse each. */
static bool read_small(struct str text) {
  for (int i = 0; i < 100; i++)
    if (!read_once(text)) return false;
  return true;
}

static int show_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return perror(path), 1;
  struct buf b;
  buf_init(&b, (size_t)1 << 30);
  for (char *room; (room = buf_room(&b, 65536));) {
    size_t n = fread(room, 1, 65536, f);
    buf_grown(&b, n);
    if (n == 0) break;
  }
  fclose(f);
  show(path, buf_str(&b));
  buf_release(&b);
  return 0;
}

int main(int argc, char **argv) {
  int bad = 0;
  for (int i = 1; i < argc; i++)
    bad |= show_file(argv[i]);
  if (argc > 1) return bad;
  static void (*const make[])(struct buf *) = {make_records, make_text, make_korean};
  static const char *const name[] = {"records", "text in a string", "Korean strings"};
  for (int i = 0; i < 3; i++) {
    struct buf b;
    buf_init(&b, (size_t)1 << 30);
    make[i](&b);
    show(name[i], buf_str(&b));
    buf_release(&b);
  }
  struct str delta = STR("{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":"
                         "\"text_delta\",\"text\":\"Hello, world\"}}");
  printf("%-24s %9zu bytes  %7.0f MB/s\n", "a delta of a stream", delta.n,
         rate(delta, read_small) * 100);
  return 0;
}
