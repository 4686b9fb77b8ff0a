/* Patterns as JavaScript means them: the handed cases, what is refused and how,
 * limits, memory. With "--batch" it answers tests/regex/test_node.py instead.
 */
#include "regex/regex.h"

#include "base/mem.h"
#include "text/text.h"

#include "support/oom.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "batch.h"

static char *read_line(size_t *n) {
  char *line = NULL;
  size_t cap = 0;
  ssize_t got = getline(&line, &cap, stdin);
  if (got <= 0) {
    free(line);
    return NULL;
  }
  *n = (size_t)got;
  return line;
}

static void batch_answer(const struct regex *regex, struct regex_scratch *scratch,
                         struct str subject) {
  struct str match = STR_NONE;
  /* A piece of its own, so that the sanitizer sees each byte read beyond it. */
  char *own = malloc(subject.n > 0 ? subject.n : 1);
  if (subject.n > 0)
    memcpy(own, subject.p, subject.n);
  enum regex_hit hit = regex_match(regex, scratch, (struct str){own, subject.n}, 0, &match);
  size_t from = hit == REGEX_YES ? (size_t)(match.p - own) : 0;
  if (hit == REGEX_YES)
    printf("%zu,%zu ", from, from + match.n);
  else
    printf(hit == REGEX_NO ? "- " : "? ");
  free(own);
}

static void batch_case(unsigned flags, const struct str *text, size_t n) {
  struct err err = {0};
  struct regex *regex;
  struct regex_scratch *scratch = NULL;
  if (regex_new(text[0], flags, &regex, &err)) {
    struct buf sentence;
    buf_init(&sentence, 4096);
    err_put(&sentence, REIN_ENGLISH, &err);
    printf("! %llu %s", (unsigned long long)err.at, buf_z(&sentence));
    buf_release(&sentence);
  } else if (regex_scratch_new(regex, &scratch) == REIN_OK) {
    for (size_t i = 1; i < n; i++)
      batch_answer(regex, scratch, text[i]);
  }
  putchar('\n');
  regex_scratch_free(scratch);
  regex_free(regex);
}

#define BATCH_TEXTS_MAX 64

int batch_run(void) {
  size_t head_n;
  for (char *head; (head = read_line(&head_n)) != NULL; free(head)) {
    struct str text[BATCH_TEXTS_MAX];
    size_t n = 0, total = 0;
    char *at = head + 1;
    while (n < BATCH_TEXTS_MAX && *at && *at != '\n') {
      text[n].n = strtoul(at, &at, 10);
      total += text[n++].n;
      at += *at == ' ';
    }
    char *bytes = malloc(total + 1), *next = bytes;
    if (fread(bytes, 1, total, stdin) != total)
      return 1;
    for (size_t i = 0; i < n; i++) {
      text[i].p = next;
      next += text[i].n;
    }
    batch_case((unsigned)(head[0] - '0'), text, n);
    free(bytes);
  }
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "--batch") == 0)
    return batch_run();
  return 0;
}
