/* The inside of the shell reader: shell.c reads commands, shell_word.c words and
 * what is put into them, shell_here.c here-documents; wrap.c looks through
 * wrappers when all is read.
 */
#pragma once

#include "policy/shell.h"

struct here {
  struct str end; /* the line that ends it */
  bool strips;    /* leading tabs are left out: <<- */
  bool quoted;    /* nothing is put into it */
};

/* What readers of one text and of the texts in it share. */
struct reading {
  struct arena *arena;
  struct shell *shell;
  size_t steps;
  enum rein_code code; /* memory */
};

struct reader {
  struct reading *all;
  struct str text;
  size_t at;
  int depth;
  bool failed; /* no grammar: what follows is not known */
  struct here here[SHELL_HERE_MAX];
  size_t here_count;
};

#define END_OF_TEXT (-1)
/* The next character, continued lines joined; not taken. */
int reader_look(struct reader *r);
/* The one behind it. */
int reader_look_behind(struct reader *r);
void reader_take(struct reader *r);
bool reader_take_if(struct reader *r, char c);
void reader_skip_blanks(struct reader *r);
void reader_fail(struct reader *r);
void reader_unclear(struct reader *r, enum text_id why);
bool reader_well(const struct reader *r);
bool shell_delimits(int c);

/* Commands until something that cannot begin one: ")", a reserved word such as
 * "fi", ";;", or the end. shell.c */
void reader_list(struct reader *r);
/* A text of its own (of `…`, eval, sh -c) into the same shell. shell.c */
void reader_text(struct reading *all, struct str text, int depth);

/* A word; *equals: where the "=" of an assignment stands in it, else its length.
 * shell_word.c */
void reader_word(struct reader *r, struct shell_word *word, size_t *equals);
/* Skips what a "$" or "`" puts in, reading the commands in it. */
void reader_dollar(struct reader *r, bool quoted);
void reader_backtick(struct reader *r, bool quoted);

/* The word behind <<, and the bodies behind the end of the line. shell_here.c */
void reader_here(struct reader *r, bool strips);
void reader_here_bodies(struct reader *r);

/* A new command at the end of the list; NULL: none left, which is said. */
struct shell_command *shell_add(struct reading *all);
/* All words of the text, cut at whatever could cut them, as one guess. */
void shell_guess(struct reading *all, struct str text);
/* wrap.c */
void wrap_look(struct reading *all, struct shell_command *command);
