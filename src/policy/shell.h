/* The shell reader: a text for `sh -c`, or an argv, to the simple commands that
 * it can run, with their words, assignments and redirections.
 *
 * It follows POSIX as dash reads it. What only bash knows, what is no grammar,
 * and what changes the meaning of later words is said in `unclear`, and nothing
 * of such a text is allowed by a rule with a pattern. Words keep what is written;
 * where the shell will put something in (an expansion, a glob, a tilde) stands
 * ANY_TEXT. Wrappers (env, timeout, sh -c, find -exec …) are looked through:
 * what they run follows as a command of its own. Where it is not certain what
 * runs, a command marked `guess` holds the words, for rules that deny.
 *
 *   struct shell shell;
 *   if (shell_read(&arena, STR("git diff | sh"), &shell)) return REIN_MEMORY;
 *   for (struct shell_command *c = shell.first; c; c = c->next) ...
 *
 * Reads no files, knows no environment, starts nothing.
 */
#pragma once

#include "base/arena.h"
#include "policy/glob.h"
#include "text/text.h"

#define SHELL_TEXT_MAX 65536    /* bytes; longer texts belong into a file */
#define SHELL_DEPTH_MAX 24      /* of what stands within another: recursion ends here */
#define SHELL_COMMANDS_MAX 1000 /* of one text, looked-through ones included */
#define SHELL_STEPS_MAX 2000000 /* characters looked at, quoted ones again per level */
#define SHELL_HERE_MAX 16       /* here-documents begun on one line */

struct shell_word {
  struct str text; /* without quotes; ANY_TEXT where something is put in */
  bool fixed;      /* nothing is */
  bool splits;     /* what is put in may become several words, or none */
};

struct shell_redirect {
  struct shell_word target;
  bool writes;
};

struct shell_command {
  struct shell_command *next;
  struct shell_word *words; /* the program first; none: assignments or redirections alone */
  size_t count;
  struct shell_word *assigns; /* NAME=VALUE */
  size_t assign_count;
  struct shell_redirect *redirects; /* of files; /dev/null and descriptors are left out */
  size_t redirect_count;
  bool guess;   /* any of the words may be a program */
  bool neutral; /* a wrapper that adds nothing: the command after it is judged in its place */
  bool moved;   /* it may run in another folder */
};

struct shell {
  struct shell_command *first, **end;
  size_t count;
  enum text_id unclear; /* why it is not fully understood; T_NONE: it is */
  bool plain;           /* one reading: no redirection, nothing put in, understood */
  bool moved;           /* a cd stands in it */
};

/* Both: REIN_OK or REIN_MEMORY; all else is `unclear`. The text is borrowed. */
enum rein_code shell_read(struct arena *arena, struct str text, struct shell *shell) REIN_CHECKED;
enum rein_code shell_argv(struct arena *arena, const struct str *words, size_t count,
                          struct shell *shell) REIN_CHECKED;
