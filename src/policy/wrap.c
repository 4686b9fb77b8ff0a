/* Looks through programs that run what stands behind them (wrap.def), and marks
 * builtins that change what later words mean. */
#include "policy/shell_inside.h"

enum how {
  HOW_NEUTRAL,     /* the rest is a command, run as it stands */
  HOW_RUNS,        /* the same with other rights, or in another place */
  HOW_XARGS,       /* more words come, from its input */
  HOW_SHELL,       /* -c TEXT, read as dash does */
  HOW_OTHER_SHELL, /* the same, with a grammar of its own */
  HOW_EVAL,        /* its words joined are a text */
  HOW_TRAP,        /* its first operand is a text */
  HOW_FIND,        /* -exec … ; */
  HOW_GUESS,       /* somewhere behind it stands what it runs */
};

static const struct wrapper {
  const char *name;
  enum how how;
  const char *valued, *flags, *longs;
  size_t operands;
} wrappers[] = {
#define WRAP(name, how, valued, flags, longs, operands)                                            \
  {name, HOW_##how, valued, flags, longs, operands},
#include "policy/wrap.def"
#undef WRAP
};

/* After one of these a word may be another program, or a program find another world. */
static const char *const changing[] = {"alias",   "unalias", "export", "readonly", "local",
                                       "typeset", "declare", "unset",  "hash",     "enable",
                                       "shopt",   "trap",    ".",      "source",   NULL};
static const char *const moving[] = {"cd", "pushd", "popd", NULL};

static struct str base_name(struct str program) {
  struct str before, name = program;
  (void)str_split_last(program, '/', &before, &name);
  return name;
}

static bool is_one_of(struct str word, const char *const *words) {
  for (size_t i = 0; words[i]; i++)
    if (str_is(word, words[i])) return true;
  return false;
}

static void unclear(struct reading *all, enum text_id why) {
  if (!all->shell->unclear) all->shell->unclear = why;
}

/* ---- options ------------------------------------------------------------------- */

static bool has_letter(const char *letters, char c) {
  return c && strchr(letters, c) != NULL;
}

/* How many words a long option takes; 0: it is not known. */
static size_t long_words(const struct wrapper *w, struct str word) {
  struct str rest = str_of(w->longs), known, name = word, value;
  bool joined = str_split(word, '=', &name, &value);
  while (str_next(&rest, ' ', &known)) {
    char last = known.n ? known.p[known.n - 1] : '\0';
    bool next = last == ':', carries = next || last == '=';
    if (!str_eq(name, str_part(known, 0, known.n - carries))) continue;
    if (joined) return carries ? 1 : 0;
    return next ? 2 : 1;
  }
  return 0;
}

/* The same of a cluster of letters; `c` stops at -c and says so. */
static size_t short_words(const struct wrapper *w, struct str word, bool *c) {
  bool shell = w->how == HOW_SHELL || w->how == HOW_OTHER_SHELL;
  for (size_t i = 1; i < word.n; i++) {
    if (shell && word.p[i] == 'c') {
      *c = true;
      continue;
    }
    if (has_letter(w->flags, word.p[i])) continue;
    if (!has_letter(w->valued, word.p[i])) return 0;
    return i + 1 == word.n ? 2 : 1;
  }
  return 1;
}

/* Where its operands begin; 0: not known. */
static size_t skip_options(const struct wrapper *w, const struct shell_command *cmd, bool *c) {
  size_t i = 1;
  while (i < cmd->count) {
    const struct shell_word *word = &cmd->words[i];
    if (!word->fixed) return 0;
    struct str t = word->text;
    if (str_is(t, "--")) return i + 1;
    if (t.n < 2 || t.p[0] != '-') return i;
    size_t n = t.p[1] == '-' ? long_words(w, t) : short_words(w, t, c);
    if (!n) return 0;
    i += n;
  }
  return i;
}

/* ---- what it runs ---------------------------------------------------------------- */

static void guess(struct reading *all, const struct shell_command *cmd) {
  struct buf text;
  buf_init(&text, SHELL_TEXT_MAX);
  for (size_t i = 1; i < cmd->count; i++) {
    buf_c(&text, ' ');
    buf_put(&text, cmd->words[i].text);
  }
  struct str kept;
  if (text.fail == REIN_MEMORY || !arena_str(all->arena, buf_str(&text), &kept))
    all->code = REIN_MEMORY;
  else
    shell_guess(all, kept);
  buf_release(&text);
}

static struct shell_command *inner(struct reading *all, struct shell_command *cmd, size_t from,
                                   size_t to) {
  struct shell_command *in = shell_add(all);
  if (!in) return NULL;
  in->words = cmd->words + from;
  in->count = to - from;
  in->moved = cmd->moved;
  return in;
}

static bool is_assign(struct str word) {
  size_t n = str_find_char(word, '=');
  for (size_t i = 0; i < n && n < word.n; i++) {
    char c = word.p[i];
    bool digit = c >= '0' && c <= '9';
    if (!(c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (digit && i)))
      return false;
  }
  return n > 0 && n < word.n;
}

static const char any_text = ANY_TEXT;
static const struct shell_word any_words = {{&any_text, 1}, false, true};

/* xargs: more words follow. */
static void add_any(struct reading *all, struct shell_command *in) {
  struct shell_word *words = arena_array(all->arena, struct shell_word, in->count + 1);
  if (!words) {
    all->code = REIN_MEMORY;
    return;
  }
  memcpy(words, in->words, in->count * sizeof *words);
  words[in->count++] = any_words;
  in->words = words;
}

/* Where the command begins behind assignments and operands; 0: not known. */
static size_t skip_operands(const struct wrapper *w, const struct shell_command *cmd, size_t at,
                            size_t *assigns) {
  size_t from = at;
  while (at < cmd->count && is_assign(cmd->words[at].text))
    at++;
  *assigns = at - from;
  for (size_t i = 0; i < w->operands && at < cmd->count; i++)
    if (!cmd->words[at++].fixed) return 0;
  return at;
}

static bool has_path(const struct shell_command *cmd) {
  return str_find_char(cmd->words[0].text, '/') < cmd->words[0].text.n;
}

static void not_known(struct reading *all, const struct shell_command *cmd) {
  unclear(all, T_POLICY_SHELL_WRAPPER);
  guess(all, cmd);
}

static void look_command(struct reading *all, const struct wrapper *w, struct shell_command *cmd) {
  bool c = false;
  size_t assigns = 0, from = skip_options(w, cmd, &c);
  size_t at = from ? skip_operands(w, cmd, from, &assigns) : 0;
  if (!at) {
    not_known(all, cmd);
    return;
  }
  if (at >= cmd->count) return; /* runs nothing: a command like any other */
  struct shell_command *in = inner(all, cmd, at, cmd->count);
  if (!in) return;
  in->assigns = cmd->words + from;
  in->assign_count = assigns;
  cmd->neutral = w->how == HOW_NEUTRAL && !has_path(cmd) && !cmd->assign_count;
  if (w->how == HOW_XARGS) add_any(all, in);
}

static void look_text(struct reading *all, struct shell_command *cmd, const struct shell_word *text,
                      bool neutral) {
  if (!text->fixed) unclear(all, T_POLICY_SHELL_TEXT);
  cmd->neutral = neutral && text->fixed && !cmd->assign_count;
  reader_text(all, text->text, 1);
}

static void look_shell(struct reading *all, const struct wrapper *w, struct shell_command *cmd) {
  bool c = false;
  size_t at = skip_options(w, cmd, &c);
  if (w->how == HOW_OTHER_SHELL) unclear(all, T_POLICY_SHELL_BASH);
  if (!at)
    not_known(all, cmd);
  else if (c && at < cmd->count)
    look_text(all, cmd, &cmd->words[at], w->how == HOW_SHELL && !has_path(cmd));
}

static void look_eval(struct reading *all, struct shell_command *cmd) {
  struct buf text;
  struct shell_word joined = {.fixed = true};
  buf_init(&text, SHELL_TEXT_MAX);
  for (size_t i = 1; i < cmd->count; i++) {
    if (i > 1) buf_c(&text, ' ');
    buf_put(&text, cmd->words[i].text);
    joined.fixed &= cmd->words[i].fixed;
  }
  if (text.fail == REIN_MEMORY || !arena_str(all->arena, buf_str(&text), &joined.text))
    all->code = REIN_MEMORY;
  if (text.fail) unclear(all, T_POLICY_SHELL_LARGE);
  buf_release(&text);
  if (all->code == REIN_OK) look_text(all, cmd, &joined, true);
}

/* {} becomes a path that find met. */
static void fill_braces(struct reading *all, struct shell_command *in) {
  struct shell_word *words = arena_array(all->arena, struct shell_word, in->count);
  if (!words) {
    all->code = REIN_MEMORY;
    return;
  }
  for (size_t i = 0; i < in->count; i++)
    words[i] = str_has(in->words[i].text, STR("{}")) ? any_words : in->words[i];
  in->words = words;
}

/* -exec, -execdir, -ok, -okdir, up to ";" or "+". */
static void look_find(struct reading *all, struct shell_command *cmd) {
  static const char *const runs[] = {"-exec", "-execdir", "-ok", "-okdir", NULL};
  static const char *const ends[] = {";", "+", NULL};
  for (size_t i = 1; i < cmd->count; i++) {
    if (!is_one_of(cmd->words[i].text, runs)) continue;
    size_t from = ++i;
    while (i < cmd->count && !is_one_of(cmd->words[i].text, ends))
      i++;
    struct shell_command *in = from < i ? inner(all, cmd, from, i) : NULL;
    if (in) fill_braces(all, in);
  }
}

static void look(struct reading *all, const struct wrapper *w, struct shell_command *cmd) {
  switch (w->how) {
  case HOW_NEUTRAL:
  case HOW_RUNS:
  case HOW_XARGS: look_command(all, w, cmd); break;
  case HOW_SHELL:
  case HOW_OTHER_SHELL: look_shell(all, w, cmd); break;
  case HOW_EVAL: look_eval(all, cmd); break;
  case HOW_TRAP:
    if (cmd->count > 1) look_text(all, cmd, &cmd->words[1], false);
    break;
  case HOW_FIND: look_find(all, cmd); break;
  case HOW_GUESS:
    if (cmd->count > 1) guess(all, cmd);
    break;
  }
}

/* What it adds is looked at in its turn, so nothing recurses here; texts in
 * texts end with SHELL_COMMANDS_MAX. */
void wrap_look(struct reading *all, struct shell_command *cmd) {
  if (!cmd->count || cmd->guess) return;
  struct str name = base_name(cmd->words[0].text);
  if (!cmd->words[0].fixed) return;
  if (is_one_of(name, changing)) unclear(all, T_POLICY_SHELL_DEFINES);
  all->shell->moved |= is_one_of(name, moving);
  for (size_t i = 0; i < sizeof wrappers / sizeof *wrappers; i++)
    if (str_is(name, wrappers[i].name)) look(all, &wrappers[i], cmd);
}
