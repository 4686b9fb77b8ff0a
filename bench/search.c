/* search_files in this process, timed: for bench/search, which starts it once a
 * measurement and compares with a search program.
 *
 *   search ROOT ARGUMENTS-AS-JSON ROUNDS [threads]
 *
 * Prints a line a round: nanoseconds, hits; then the last answer to stderr. What
 * a round takes is all that the tool does: pattern, walk, threads, answer.
 */
#include "base/mem.h"
#include "tools/call.h"
#include "tools/tools.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int hits_of(const struct rein_call *call) {
  int n = 0;
  struct str rest = buf_str(&call->result), line;
  while (str_next(&rest, '\n', &line))
    n += line.n && line.p[0] != '[';
  return n;
}

static bool round_once(const struct call_house *house, const char *args, bool last) {
  struct err err = {0};
  struct rein_call *call = NULL;
  int64_t began = now_ns();
  if (call_new(builtin_tool("search_files"), house, str_of(args), &call, &err)) return false;
  bool good = call->row->run(call) == REIN_OK && !call->is_error;
  int64_t took = now_ns() - began;
  printf("%" PRId64 " %d\n", took, hits_of(call));
  if (last) fprintf(stderr, "%s\n", buf_z(&call->result));
  call_free(call);
  return good;
}

int main(int argc, char **argv) {
  struct err err = {0};
  struct files files;
  if (argc < 4 || files_open_root(argv[1], &files, &err)) return 2;
  struct call_house house = {.files = &files};
  if (argc > 4) house.walk_threads = (unsigned)strtoul(argv[4], NULL, 10);
  bool good = true;
  for (long left = strtol(argv[3], NULL, 10); left > 0 && good; left--)
    good = round_once(&house, argv[2], left == 1);
  files_close_root(&files);
  return good ? 0 : 1;
}
