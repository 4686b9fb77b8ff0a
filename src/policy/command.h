/* Patterns of commands against commands. A pattern is words: the program, and
 * what may stand behind it.
 *
 *   git diff          this alone         git diff *     with any operands
 *   cat a*.md         one operand so     FOO=1 git log  with this assignment
 *
 * For an allow rule the words must be these, in this order; a `*` that stands
 * alone takes operands, and the options that harmless.def calls harmless. A rule
 * that asks or denies reads as widely as it can: the program by its last name,
 * its words anywhere in this order, and what is not known counts as a match.
 */
#pragma once

#include "policy/shell.h"

#define PATTERN_WORDS_MAX 64

/* The pattern's words, quotes taken off ('a b' is one); false in *fine: something
 * in it that no single command can be. */
enum rein_code command_pattern(struct arena *arena, struct str pattern, struct str **words,
                               size_t *count, bool *fine) REIN_CHECKED;
/* *fits: what an allow rule asks. */
enum rein_code command_allowed(struct arena *arena, const struct str *pattern, size_t count,
                               const struct shell_command *command, bool *fits) REIN_CHECKED;
bool command_caught(const struct str *pattern, size_t count, const struct shell_command *command);
