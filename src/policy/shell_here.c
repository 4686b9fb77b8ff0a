/* Here-documents: the word that ends one, and the bodies behind the line. What
 * is put into a body is read; the rest of it is data. */
#include "policy/shell_inside.h"

void reader_here(struct reader *r, bool strips) {
  struct shell_word end;
  size_t equals;
  reader_skip_blanks(r);
  size_t at = r->at;
  reader_word(r, &end, &equals);
  struct str raw = str_part(r->text, at, r->at - at);
  if (!end.fixed || r->at == at || r->here_count == SHELL_HERE_MAX) {
    reader_fail(r);
    return;
  }
  bool quoted = false;
  for (size_t i = 0; i < raw.n; i++)
    quoted |= strchr("\\'\"", raw.p[i]) != NULL;
  r->here[r->here_count++] = (struct here){end.text, strips, quoted};
}

static struct str without_tabs(struct str line) {
  while (line.n && *line.p == '\t')
    line = str_part(line, 1, line.n);
  return line;
}

/* As inside double quotes, but for the quotes themselves. */
static void read_body(struct reader *outer, struct str body) {
  struct reader r = {.all = outer->all, .text = body, .depth = outer->depth + 1};
  if (r.depth > SHELL_DEPTH_MAX) reader_fail(&r);
  for (int c; (c = reader_look(&r)) != END_OF_TEXT;) {
    if (c == '$') {
      reader_dollar(&r, true);
    } else if (c == '`') {
      reader_backtick(&r, true);
    } else {
      reader_take(&r);
      if (c == '\\' && r.at < r.text.n) r.at++;
    }
  }
  if (r.failed) reader_fail(outer);
}

static void read_one(struct reader *r, const struct here *here) {
  size_t from = r->at, end = r->at;
  bool found = false;
  while (!found && r->at < r->text.n) {
    struct str rest = str_part(r->text, r->at, SIZE_MAX), line = rest, behind = STR_NONE;
    (void)str_split(rest, '\n', &line, &behind);
    end = r->at;
    r->at += line.n < rest.n ? line.n + 1 : line.n;
    /* A continued line would hide or make the end, and readers differ on it. */
    if (!here->quoted && str_ends(line, STR("\\"))) reader_unclear(r, T_POLICY_SHELL_GRAMMAR);
    found = str_eq(here->strips ? without_tabs(line) : line, here->end);
  }
  if (!found) {
    reader_fail(r);
    return;
  }
  if (!here->quoted) read_body(r, str_part(r->text, from, end - from));
}

void reader_here_bodies(struct reader *r) {
  for (size_t i = 0; i < r->here_count && reader_well(r); i++)
    read_one(r, &r->here[i]);
  r->here_count = 0;
}
