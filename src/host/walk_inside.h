/* Between walk.c, which cuts the work into pieces and hands it out, and
 * walk_folder.c, which reads one folder. */
#pragma once

#include "host/ignore.h"
#include "host/walk.h"

#include "base/arena.h"
#include "base/buf.h"

struct item {
  const char *name;   /* terminated */
  unsigned char type; /* DT_ */
};

/* A folder that was read. */
struct branch {
  struct branch *above;
  unsigned holders; /* its pieces, and folders below that use its rules; by walk.c */
  unsigned pieces;  /* its descriptor stays open for them; by walk.c */
  int fd, depth;
  bool rules_lost;
  struct str path;       /* "" the root */
  struct ignore *rules;  /* what is asked, those above included */
  struct ignore *own[2]; /* of its .gitignore, of its .git/info/exclude */
  struct arena memory;   /* names and path */
  struct item *items;    /* sorted, without those that the plan leaves out */
  size_t n, cap;
};

#define WALK_ROOM (32u << 10) /* of getdents */

/* What lies above the root, when the root is a folder of a repository. */
struct outer {
  struct str prefix;    /* the root's path in it, borrowed; empty: it is in none */
  struct ignore *rules; /* see paths that begin with the prefix */
  bool lost;
};
/* 0, or ENOMEM; released in either case. */
int outer_read(struct outer *o, const char *root);
void outer_release(struct outer *o);
/* The rules of one file over those at hand; *own is set where there are any, *lost where
 * the file cannot be read whole. 0, or ENOMEM. */
int rules_add(int dir, const char *name, size_t base, struct ignore **rules, struct ignore **own,
              bool *lost);

/* What all reading shares on one thread. */
struct reader {
  const struct walk_plan *plan;
  const struct outer *outer;
  char *room;      /* WALK_ROOM bytes */
  struct buf path; /* of an entry */
};

/* Reads the folder at fd, which is taken also after a failure. `above` NULL: the
 * root. Fails with a positive errno, ENOMEM included. */
int branch_read(struct reader *r, struct branch *above, struct str path, int fd,
                struct branch **made);
/* The same for a folder on the way to the start: its rules alone. */
int branch_pass(struct reader *r, struct branch *above, struct str path, int fd,
                struct branch **made);
void branch_close(struct branch *b);
void branch_free(struct branch *b); /* NULL is fine; not those above */
/* The path of one of its entries, in r->path; false: no memory. */
bool branch_path(struct reader *r, const struct branch *b, const char *name);
