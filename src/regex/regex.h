/* JavaScript patterns (no flags but i, matched line by line) on PCRE2.
 *
 * The pattern is translated; what PCRE2 would do differently is either written
 * another way or refused with a reason and a position, never passed silently.
 * Matching has a step limit, so that no pattern can hold a thread.
 * Subjects are UTF-8; "characters" are UTF-16 units as in JavaScript without
 * the u flag where that can be told apart ("^.$" does not match an emoji).
 */
#pragma once

#include "base/buf.h"
#include "base/err.h"

#define REGEX_PATTERN_MAX 4096 /* bytes: a model's pattern; longer is an accident */

struct regex;

enum regex_flags {
  REGEX_IGNORE_CASE = 1 << 0,
  REGEX_NO_JIT = 1 << 1,  /* as where the system forbids it: slower, same answers */
  REGEX_UNICODE = 1 << 2, /* as with the u flag: characters are code points, \p{…} and \u{…}
                           * are known, and a letter's escape that means nothing is an error;
                           * what else that flag alone forbids is taken as without it. Not
                           * together with REGEX_IGNORE_CASE, which a schema never has */
  REGEX_FORMS = 1 << 3    /* regex_look_next finds lines in other Unicode forms as well */
};

/* REIN_INPUT with `at` (byte in the pattern) and a sentence: a syntax error as
 * JavaScript would call it, or a form that is not supported and what to write
 * instead. Thread-safe once made: each thread brings its own scratch. */
enum rein_code regex_new(struct str pattern, unsigned flags, struct regex **regex, struct err *err)
    REIN_CHECKED;
void regex_free(struct regex *regex);

struct regex_scratch; /* match data and stack of one thread */
/* For this regex alone, which must outlive it. */
enum rein_code regex_scratch_new(const struct regex *regex, struct regex_scratch **scratch)
    REIN_CHECKED;
void regex_scratch_free(struct regex_scratch *scratch);

enum regex_hit { REGEX_NO, REGEX_YES, REGEX_GAVE_UP /* step limit */, REGEX_NO_MEMORY };

/* The first match in `line` (well-formed UTF-8; line ends in it are characters
 * like others) that starts at or behind byte `from`, where a character starts;
 * its bytes in *match when not NULL, whole characters also where half a pair
 * matched. Takes at most about a tenth of a second, then gives up. To go on,
 * start behind the match, one character further where it was empty. */
enum regex_hit regex_match(const struct regex *regex, struct regex_scratch *scratch,
                           struct str line, size_t from, struct str *match);
/* What the last match took, in about nanoseconds: for those who match a lot. */
int64_t regex_took(const struct regex_scratch *scratch);
/* Whether the pattern writes a carriage return out (\r, \x0d, \cM, …). */
bool regex_names_cr(const struct regex *regex);

/* A fast first look over whole lines of a file, before they are split, checked
 * and repaired (utf8_repair): lines that it passes over do not match; with
 * REGEX_FORMS not even composed (utf8_form), if it is the pattern composed.
 *
 *   regex_look_at(regex, scratch, text);     // borrowed while it is looked at
 *   while ((at = regex_look_next(regex, scratch, at)) < text.n)
 *     ... the line around `at` may match; go on behind it
 */
bool regex_look_at(const struct regex *regex, struct regex_scratch *scratch, struct str text)
    REIN_CHECKED; /* false: no memory */
/* At or behind `from`, which never goes back; text.n: there is none. */
size_t regex_look_next(const struct regex *regex, struct regex_scratch *scratch, size_t from);
/* Whether it passes over anything at all; with REGEX_UNICODE it never does. */
bool regex_looks(const struct regex *regex);
