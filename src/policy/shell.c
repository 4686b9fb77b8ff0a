/* Commands: lists, pipelines, groups, conditions, loops, functions. The tree is
 * not kept, only what can run: so "a && b" and "a; b" are the same here. */
#include "policy/shell_inside.h"

#define WORDS_MAX 4096 /* of one command */
#define PLAIN_MAX 16   /* longer than any reserved word */

/* ---- characters --------------------------------------------------------------- */

bool reader_well(const struct reader *r) {
  return !r->failed && r->all->code == REIN_OK;
}

void reader_unclear(struct reader *r, enum text_id why) {
  if (!r->all->shell->unclear) r->all->shell->unclear = why;
}

void reader_fail(struct reader *r) {
  r->failed = true;
  reader_unclear(r, T_POLICY_SHELL_GRAMMAR);
}

int reader_look(struct reader *r) {
  if (!reader_well(r)) return END_OF_TEXT;
  if (++r->all->steps > SHELL_STEPS_MAX) reader_fail(r);
  while (r->at + 1 < r->text.n && r->text.p[r->at] == '\\' && r->text.p[r->at + 1] == '\n')
    r->at += 2;
  return r->at < r->text.n && reader_well(r) ? (unsigned char)r->text.p[r->at] : END_OF_TEXT;
}

void reader_take(struct reader *r) {
  r->at++;
}

int reader_look_behind(struct reader *r) {
  if (reader_look(r) == END_OF_TEXT) return END_OF_TEXT;
  size_t at = r->at++;
  int c = reader_look(r);
  r->at = at;
  return c;
}

bool reader_take_if(struct reader *r, char c) {
  if (reader_look(r) != c) return false;
  reader_take(r);
  return true;
}

void reader_skip_blanks(struct reader *r) {
  while (reader_look(r) == ' ' || reader_look(r) == '\t')
    reader_take(r);
}

/* A comment runs to the end of the line, whatever stands in it. */
static void skip_comment(struct reader *r) {
  if (reader_look(r) != '#') return;
  while (r->at < r->text.n && r->text.p[r->at] != '\n')
    r->at++;
}

static void skip_lines(struct reader *r) {
  for (;;) {
    reader_skip_blanks(r);
    skip_comment(r);
    if (reader_look(r) != '\n') return;
    reader_take(r);
    reader_here_bodies(r);
  }
}

bool shell_delimits(int c) {
  switch (c) {
  case END_OF_TEXT:
  case ' ':
  case '\t':
  case '\n':
  case ';':
  case '&':
  case '|':
  case '<':
  case '>':
  case '(':
  case ')': return true;
  }
  return false;
}

/* The word that stands here, when it is one of plain characters; not taken. */
static struct str peek(struct reader *r, char room[PLAIN_MAX]) {
  size_t at = r->at, n = 0;
  for (int c; n < PLAIN_MAX && !shell_delimits(c = reader_look(r)); n++) {
    room[n] = (char)c;
    reader_take(r);
  }
  bool whole = n < PLAIN_MAX;
  r->at = at;
  return (struct str){room, whole ? n : 0};
}

static bool stands(struct reader *r, const char *word) {
  char room[PLAIN_MAX];
  return str_is(peek(r, room), word);
}

static void take_plain(struct reader *r, const char *word) {
  for (; *word; word++)
    if (!reader_take_if(r, *word)) reader_fail(r);
}

static bool take_word(struct reader *r, const char *word) {
  if (!stands(r, word)) return false;
  take_plain(r, word);
  return true;
}

static void want_word(struct reader *r, const char *word) {
  skip_lines(r);
  if (!take_word(r, word)) reader_fail(r);
}

/* ---- keeping -------------------------------------------------------------------- */

struct shell_command *shell_add(struct reading *all) {
  struct shell *shell = all->shell;
  if (shell->count == SHELL_COMMANDS_MAX) {
    if (!shell->unclear) shell->unclear = T_POLICY_SHELL_LARGE;
    return NULL;
  }
  struct shell_command *c = arena_new(all->arena, struct shell_command);
  if (!c) {
    all->code = REIN_MEMORY;
    return NULL;
  }
  *shell->end = c;
  shell->end = &c->next;
  shell->count++;
  return c;
}

/* One more element; NULL: no memory, or too many. Doubles at powers of two. */
static void *grow(struct reader *r, void **list, size_t *count, size_t size) {
  size_t n = *count;
  if (n == WORDS_MAX) {
    reader_fail(r);
    return NULL;
  }
  if ((n & (n - 1)) == 0) {
    char *more = arena_alloc_array(r->all->arena, size, n ? 2 * n : 1);
    if (!more) {
      r->all->code = REIN_MEMORY;
      return NULL;
    }
    if (n) memcpy(more, *list, n * size);
    *list = more;
  }
  (*count)++;
  return (char *)*list + n * size;
}

struct parts {
  void *words, *assigns, *redirects;
  size_t word_n, assign_n, redirect_n;
};

static void finish(struct reader *r, const struct parts *p) {
  if (!reader_well(r) || p->word_n + p->assign_n + p->redirect_n == 0) return;
  struct shell_command *c = shell_add(r->all);
  if (!c) return;
  c->words = p->words;
  c->count = p->word_n;
  c->assigns = p->assigns;
  c->assign_count = p->assign_n;
  c->redirects = p->redirects;
  c->redirect_count = p->redirect_n;
}

/* ---- redirections ------------------------------------------------------------------ */

static bool is_number(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if (s.p[i] < '0' || s.p[i] > '9') return false;
  return s.n > 0;
}

/* bash's <(…) and >(…): the commands in it run, whatever becomes of the rest. */
static void process(struct reader *r) {
  reader_take(r);
  reader_unclear(r, T_POLICY_SHELL_BASH);
  reader_list(r);
  if (!reader_take_if(r, ')')) reader_fail(r);
}

static void take_target(struct reader *r, struct parts *p, bool writes, bool descriptor) {
  struct shell_word target;
  size_t equals;
  reader_skip_blanks(r);
  size_t at = r->at;
  reader_word(r, &target, &equals);
  if (!reader_well(r) || r->at == at) {
    reader_fail(r);
    return;
  }
  r->all->shell->plain = false;
  bool number = target.fixed && (is_number(target.text) || str_is(target.text, "-"));
  if (descriptor && number) return;
  if (descriptor) reader_unclear(r, T_POLICY_SHELL_BASH);
  if (target.fixed && str_is(target.text, "/dev/null")) return;
  struct shell_redirect *kept = grow(r, &p->redirects, &p->redirect_n, sizeof *kept);
  if (kept) *kept = (struct shell_redirect){target, writes};
}

static void redirect(struct reader *r, struct parts *p) {
  bool writes = reader_look(r) == '>';
  reader_take(r);
  if (reader_look(r) == '(') {
    process(r);
  } else if (!writes && reader_take_if(r, '<')) {
    r->all->shell->plain = false;
    reader_here(r, reader_take_if(r, '-'));
  } else if (reader_take_if(r, '&')) {
    take_target(r, p, writes, true);
  } else {
    bool both = !writes && reader_take_if(r, '>');
    if (writes && !reader_take_if(r, '>')) (void)reader_take_if(r, '|');
    take_target(r, p, writes || both, false);
  }
}

/* "2>": digits right before < or >. */
static bool skip_descriptor(struct reader *r) {
  size_t at = r->at;
  while (reader_look(r) >= '0' && reader_look(r) <= '9')
    reader_take(r);
  int c = reader_look(r);
  if (r->at > at && (c == '<' || c == '>')) return true;
  r->at = at;
  return c == '<' || c == '>';
}

static void redirects_behind(struct reader *r) {
  struct parts p = {0};
  for (reader_skip_blanks(r); reader_well(r) && skip_descriptor(r); reader_skip_blanks(r))
    redirect(r, &p);
  finish(r, &p);
}

/* ---- commands ----------------------------------------------------------------------- */

static void command(struct reader *r);

static void simple(struct reader *r) {
  struct parts p = {0};
  struct shell_word word;
  size_t equals;
  while (reader_well(r)) {
    reader_skip_blanks(r);
    skip_comment(r);
    if (skip_descriptor(r)) {
      redirect(r, &p);
      continue;
    }
    if (reader_look(r) == '(') {
      bool name = p.word_n == 1 && !p.assign_n && !p.redirect_n;
      reader_take(r);
      reader_skip_blanks(r);
      if (!name || !reader_take_if(r, ')')) reader_fail(r);
      reader_unclear(r, T_POLICY_SHELL_DEFINES);
      skip_lines(r);
      command(r); /* the body may run under any name; its words are judged here */
      break;
    }
    if (shell_delimits(reader_look(r))) break;
    reader_word(r, &word, &equals);
    bool assigns = !p.word_n && equals < word.text.n;
    struct shell_word *kept = assigns ? grow(r, &p.assigns, &p.assign_n, sizeof word)
                                      : grow(r, &p.words, &p.word_n, sizeof word);
    if (kept) *kept = word;
  }
  finish(r, &p);
}

static void read_if(struct reader *r) {
  do {
    reader_list(r);
    want_word(r, "then");
    reader_list(r);
  } while (reader_well(r) && take_word(r, "elif"));
  if (take_word(r, "else")) reader_list(r);
  want_word(r, "fi");
}

static void read_loop(struct reader *r) {
  reader_list(r);
  want_word(r, "do");
  reader_list(r);
  want_word(r, "done");
}

static void skip_words(struct reader *r) {
  struct shell_word word;
  size_t equals;
  for (reader_skip_blanks(r); reader_well(r) && !shell_delimits(reader_look(r));
       reader_skip_blanks(r)) {
    if (reader_look(r) == '#') return;
    reader_word(r, &word, &equals);
  }
}

static void read_for(struct reader *r) {
  struct shell_word word;
  size_t equals;
  reader_skip_blanks(r);
  reader_word(r, &word, &equals);
  r->all->shell->plain = false;
  if (!word.fixed || !word.text.n) reader_fail(r);
  skip_lines(r);
  if (take_word(r, "in")) skip_words(r);
  reader_skip_blanks(r);
  (void)reader_take_if(r, ';');
  want_word(r, "do");
  reader_list(r);
  want_word(r, "done");
}

/* One "pattern | pattern) commands ;;"; false: it was the last. */
static bool read_branch(struct reader *r) {
  struct shell_word word;
  size_t equals;
  skip_lines(r);
  if (!reader_well(r) || take_word(r, "esac")) return false;
  (void)reader_take_if(r, '(');
  do {
    reader_skip_blanks(r);
    size_t at = r->at;
    reader_word(r, &word, &equals);
    if (r->at == at) reader_fail(r);
    reader_skip_blanks(r);
  } while (reader_well(r) && reader_take_if(r, '|'));
  if (!reader_take_if(r, ')')) reader_fail(r);
  reader_list(r);
  skip_lines(r);
  if (take_word(r, "esac")) return false;
  if (!reader_take_if(r, ';') || !reader_take_if(r, ';')) reader_fail(r);
  return reader_well(r);
}

static void read_case(struct reader *r) {
  struct shell_word word;
  size_t equals;
  reader_skip_blanks(r);
  size_t at = r->at;
  reader_word(r, &word, &equals);
  if (r->at == at) reader_fail(r);
  want_word(r, "in");
  while (read_branch(r)) {}
}

static void read_group(struct reader *r) {
  reader_list(r);
  want_word(r, "}");
}

static void subshell(struct reader *r) {
  reader_take(r);
  reader_list(r);
  if (!reader_take_if(r, ')')) reader_fail(r);
}

static const struct compound {
  const char *word;
  void (*read)(struct reader *r);
} compounds[] = {{"if", read_if},   {"while", read_loop}, {"until", read_loop},
                 {"for", read_for}, {"case", read_case},  {"{", read_group}};

/* Words that end what a list stands in; and those only bash knows. */
static const char *const closing[] = {"then", "elif", "else", "fi", "do",
                                      "done", "esac", "}",    "in", NULL};
static const char *const of_bash[] = {"[[", "function", "select", "coproc", "((", NULL};

static bool stands_one_of(struct reader *r, const char *const *words) {
  char room[PLAIN_MAX];
  struct str word = peek(r, room);
  for (size_t i = 0; words[i]; i++)
    if (str_is(word, words[i])) return true;
  return false;
}

static void command(struct reader *r) {
  while (take_word(r, "!"))
    reader_skip_blanks(r);
  if (stands_one_of(r, of_bash)) reader_unclear(r, T_POLICY_SHELL_BASH);
  if (reader_look(r) == '(') {
    if (reader_look_behind(r) == '(') reader_unclear(r, T_POLICY_SHELL_BASH);
    subshell(r);
    redirects_behind(r);
    return;
  }
  for (size_t i = 0; i < sizeof compounds / sizeof *compounds; i++) {
    if (!take_word(r, compounds[i].word)) continue;
    compounds[i].read(r);
    redirects_behind(r);
    return;
  }
  simple(r);
}

/* Takes ";", "&", "&&", "|", "||"; false: none stands here, or ";;". */
static bool take_separator(struct reader *r) {
  int c = reader_look(r);
  if (c == ';') {
    if (reader_look_behind(r) == ';') return false;
    reader_take(r);
    return true;
  }
  if (c != '&' && c != '|') return false;
  reader_take(r);
  if (c == '&' && reader_look(r) == '>') reader_unclear(r, T_POLICY_SHELL_BASH);
  if (!reader_take_if(r, (char)c) && c == '|' && reader_look(r) == '&') reader_fail(r);
  return true;
}

void reader_list(struct reader *r) {
  if (++r->depth > SHELL_DEPTH_MAX) {
    reader_unclear(r, T_POLICY_SHELL_LARGE);
    r->failed = true;
  }
  for (bool may_begin = true; reader_well(r);) {
    size_t line = r->at;
    skip_lines(r);
    may_begin |= memchr(r->text.p + line, '\n', r->at - line) != NULL;
    int c = reader_look(r);
    if (c == END_OF_TEXT || c == ')' || stands_one_of(r, closing)) break;
    if (c == ';' && reader_look_behind(r) == ';') break;
    size_t at = r->at;
    if (!may_begin) reader_fail(r);
    command(r);
    reader_skip_blanks(r);
    skip_comment(r);
    may_begin = take_separator(r);
    if (r->at == at) reader_fail(r);
  }
  r->depth--;
}

/* ---- texts ---------------------------------------------------------------------------- */

void reader_text(struct reading *all, struct str text, int depth) {
  struct reader r = {.all = all, .text = text, .depth = depth};
  if (text.n > SHELL_TEXT_MAX) {
    if (!all->shell->unclear) all->shell->unclear = T_POLICY_SHELL_LARGE;
    r.failed = true;
  } else {
    reader_list(&r);
    if (reader_well(&r) && (r.at < text.n || r.here_count)) reader_fail(&r);
  }
  if (r.failed && all->code == REIN_OK) shell_guess(all, text);
}

/* Between words there may be anything that ends one; what a quote holds may be
 * a text for another shell, so quotes end words too. */
void shell_guess(struct reading *all, struct str text) {
  static const char cuts[] = " \t\r\n;&|<>(){}'\"`$=,";
  struct shell_word *words = NULL;
  size_t n = 0, from = 0;
  text = str_part(text, 0, SHELL_TEXT_MAX);
  for (size_t i = 0; i < text.n; i++)
    n += strchr(cuts, text.p[i]) != NULL; /* ANY_TEXT is the end of that list */
  words = arena_array(all->arena, struct shell_word, n + 1);
  struct shell_command *c = words ? shell_add(all) : NULL;
  if (!words) all->code = REIN_MEMORY;
  if (!c) return;
  c->guess = true;
  c->words = words;
  for (size_t i = 0; i <= text.n; i++) {
    if (i < text.n && !strchr(cuts, text.p[i])) continue;
    struct str word = str_part(text, from, i - from);
    from = i + 1;
    while (word.n && *word.p == '\\')
      word = str_part(word, 1, word.n);
    if (word.n) words[c->count++] = (struct shell_word){word, true, false};
  }
}

static bool is_plain_word(const struct shell_word *w, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!w[i].fixed) return false;
  return true;
}

/* What is not there when all is read: wrappers' commands, a cd before others. */
static void look_through(struct reading *all) {
  struct shell *shell = all->shell;
  for (struct shell_command *c = shell->first; c && all->code == REIN_OK; c = c->next) {
    shell->plain &= is_plain_word(c->words, c->count) && is_plain_word(c->assigns, c->assign_count);
    if (!c->guess) wrap_look(all, c);
  }
  shell->plain &= !shell->unclear;
}

static struct reading begin(struct arena *arena, struct shell *shell) {
  *shell = (struct shell){.plain = true};
  shell->end = &shell->first;
  return (struct reading){.arena = arena, .shell = shell};
}

enum rein_code shell_read(struct arena *arena, struct str text, struct shell *shell) {
  struct reading all = begin(arena, shell);
  if (text.n && memchr(text.p, ANY_TEXT, text.n)) shell->unclear = T_POLICY_SHELL_GRAMMAR;
  reader_text(&all, text, 0);
  look_through(&all);
  return all.code;
}

enum rein_code shell_argv(struct arena *arena, const struct str *words, size_t count,
                          struct shell *shell) {
  struct reading all = begin(arena, shell);
  struct shell_command *c = shell_add(&all);
  if (c) c->words = arena_array(arena, struct shell_word, count + 1);
  if (!c || !c->words) return REIN_MEMORY;
  for (; c->count < count; c->count++)
    c->words[c->count] = (struct shell_word){words[c->count], true, false};
  look_through(&all);
  return all.code;
}
