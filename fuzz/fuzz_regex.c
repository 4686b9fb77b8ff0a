/* Any bytes as flags, pattern and subject: no crash, an end, the same answer
 * from PCRE2's JIT and from its interpreter, and a literal that holds.
 */
#include "regex/regex.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SUBJECT_MAX 4096

static enum regex_hit hit_of(const struct regex *regex, struct str line, size_t from,
                             struct str *match) {
  struct regex_scratch *scratch;
  if (regex_scratch_new(regex, &scratch)) return REGEX_NO_MEMORY;
  enum regex_hit hit = regex_match(regex, scratch, line, from, match);
  regex_scratch_free(scratch);
  return hit;
}

/* The first look must not pass over a line that matches once it is repaired. */
static void check_look(const struct regex *regex, struct str raw) {
  struct regex_scratch *scratch = NULL;
  struct buf text;
  buf_init(&text, 4 * SUBJECT_MAX + 4 * REGEX_PATTERN_MAX);
  buf_lit(&text, "one\n");
  size_t start = text.n;
  buf_put(&text, raw);
  size_t end = text.n;
  buf_lit(&text, "\ntwo");
  if (!regex_scratch_new(regex, &scratch) && !text.fail) {
    assert(regex_look_at(regex, scratch, buf_str(&text)));
    size_t at = regex_look_next(regex, scratch, start);
    assert(at >= start && at <= end);
  }
  regex_scratch_free(scratch);
  buf_release(&text);
}

static void compare(struct str pattern, unsigned flags, struct str line, size_t from) {
  struct regex *fast = NULL, *plain = NULL;
  struct err err = {0};
  enum rein_code code = regex_new(pattern, flags, &fast, &err);
  assert(code == REIN_OK || (err.code == code && err.at <= pattern.n));
  enum rein_code same = regex_new(pattern, flags | REGEX_NO_JIT, &plain, NULL);
  assert(code == same);
  if (code) return;
  struct str match = STR_NONE, other = STR_NONE;
  enum regex_hit hit = hit_of(fast, line, from, &match);
  enum regex_hit again = hit_of(plain, line, from, &other);
  if (hit == REGEX_YES) {
    assert(match.p >= line.p && match.p + match.n <= line.p + line.n);
  }
  if (hit <= REGEX_YES && again <= REGEX_YES) {
    assert(hit == again);
    assert(hit == REGEX_NO || (match.p == other.p && match.n == other.n));
  }
  regex_free(fast);
  regex_free(plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2 || size > REGEX_PATTERN_MAX + SUBJECT_MAX) return 0;
  struct str text = {(const char *)data + 2, size - 2}, pattern, subject;
  if (!str_split(text, '\n', &pattern, &subject)) pattern = text, subject = STR_NONE;
  struct buf line; /* lines are well-formed: their reader sees to that */
  buf_init(&line, 4 * SUBJECT_MAX + 4 * REGEX_PATTERN_MAX);
  utf8_repair(&line, subject);
  struct str one = {buf_z(&line), line.n};
  static const unsigned modes[] = {0, REGEX_IGNORE_CASE, REGEX_UNICODE};
  unsigned flags = modes[data[0] % 3];
  if (!line.fail) compare(pattern, flags, one, data[1] % 8);
  struct regex *regex = NULL;
  bool plain = !line.fail && !memchr(subject.n ? subject.p : "", '\n', subject.n);
  if (plain && !regex_new(pattern, flags, &regex, NULL) && hit_of(regex, one, 0, NULL) == REGEX_YES)
    check_look(regex, subject);
  regex_free(regex);
  buf_release(&line);
  return 0;
}
