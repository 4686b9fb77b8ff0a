/* Two readings of one pattern: as narrow as it says for allow, as wide as it can
 * be for the rest. Which options are harmless is data (harmless.def). */
#include "policy/command.h"

#include "policy/path.h"
#include "policy/shell_inside.h"

static const struct harmless {
  const char *command, *flags, *valued, *words;
} harmless[] = {
#define HARMLESS(command, flags, valued, words) {command, flags, valued, words},
#include "policy/harmless.def"
#undef HARMLESS
};

/* ---- the pattern ------------------------------------------------------------- */

/* Read by the shell reader itself, so that quotes mean what they mean there; a
 * star that stands in the open is the pattern's own. */
static bool put_pattern(struct buf *out, struct str pattern) {
  char quote = '\0';
  for (size_t i = 0; i < pattern.n; i++) {
    char c = pattern.p[i];
    if (quote ? c == quote : c == '\'' || c == '"') quote = quote ? '\0' : c;
    if (c == '*' && !quote)
      buf_lit(out, "'*'");
    else
      buf_c(out, pattern.p[i]);
  }
  return !out->fail;
}

/* All words of the one command, when it is one and plain. */
static enum rein_code keep_words(struct arena *arena, const struct shell *shell, struct str **words,
                                 size_t *count, bool *fine) {
  const struct shell_command *c = shell->first;
  *fine = shell->plain && !shell->unclear && c && !c->next && !c->guess;
  if (!*fine || c->assign_count + c->count > PATTERN_WORDS_MAX) return REIN_OK;
  *words = arena_array(arena, struct str, c->assign_count + c->count);
  if (!*words) return REIN_MEMORY;
  for (size_t i = 0; i < c->assign_count; i++)
    (*words)[(*count)++] = c->assigns[i].text;
  for (size_t i = 0; i < c->count; i++) {
    *fine = *fine && c->words[i].fixed;
    (*words)[(*count)++] = c->words[i].text;
  }
  return REIN_OK;
}

enum rein_code command_pattern(struct arena *arena, struct str pattern, struct str **words,
                               size_t *count, bool *fine) {
  struct shell shell = {.plain = true};
  struct reading all = {.arena = arena, .shell = &shell};
  struct buf text;
  struct str kept;
  shell.end = &shell.first;
  *words = NULL;
  *count = 0;
  *fine = false;
  buf_init(&text, SHELL_TEXT_MAX);
  bool ok = put_pattern(&text, pattern) && arena_str(arena, buf_str(&text), &kept);
  buf_release(&text);
  if (!ok) return REIN_MEMORY;
  reader_text(&all, kept, 0);
  return all.code ? all.code : keep_words(arena, &shell, words, count, fine);
}

static bool is_star(struct str word) {
  return str_is(word, "*") || str_is(word, "**");
}

/* Leading NAME=VALUE words. */
static size_t count_assigns(const struct str *pattern, size_t count) {
  size_t n = 0;
  while (n < count && pattern[n].n && pattern[n].p[0] != '-' && pattern[n].p[0] != '=' &&
         str_find_char(pattern[n], '=') < str_find_char(pattern[n], '/') &&
         str_find_char(pattern[n], '=') < pattern[n].n)
    n++;
  return n;
}

/* ---- harmless options ------------------------------------------------------------ */

static const struct harmless *find_harmless(const struct shell_command *c, size_t *words) {
  const struct harmless *best = NULL;
  *words = 1;
  for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
    if (!c->words[0].text.n || *harmless[i].command != *c->words[0].text.p) continue;
    struct str rest = str_of(harmless[i].command), word;
    size_t n = 0;
    bool fits = true;
    while (fits && str_next(&rest, ' ', &word)) {
      fits = n < c->count && c->words[n].fixed && str_eq(c->words[n].text, word);
      n++;
    }
    if (!fits || (best && n <= *words)) continue;
    best = &harmless[i];
    *words = n;
  }
  return best;
}

/* How many words the listed option takes; 0: it is not listed. */
static size_t listed(const struct harmless *row, struct str word) {
  struct str rest = str_of(row->words), known, name = word, value;
  bool joined = str_split(word, '=', &name, &value);
  while (str_next(&rest, ' ', &known)) {
    if (!known.n) continue;
    char last = known.p[known.n - 1];
    bool carries = last == ':' || last == '=';
    if (!str_eq(name, str_part(known, 0, known.n - carries))) continue;
    if (joined) return carries && str_starts(word, STR("--")) ? 1 : 0;
    return last == ':' ? 2 : 1;
  }
  return 0;
}

static size_t clustered(const struct harmless *row, struct str word) {
  for (size_t i = 1; i < word.n; i++) {
    char c = word.p[i];
    if (c && strchr(row->flags, c)) continue;
    if (!c || !strchr(row->valued, c)) return 0;
    return i + 1 == word.n ? 2 : 1;
  }
  return 1;
}

/* How many words a star takes when it takes this option; 0: it does not. */
static size_t option_words(const struct harmless *row, struct str word) {
  size_t n = row ? listed(row, word) : 0;
  return !n && row && word.p[1] != '-' ? clustered(row, word) : n;
}

/* Which words a star may take. */
static void mark_operands(const struct shell_command *c, bool *open) {
  size_t words;
  const struct harmless *row = find_harmless(c, &words);
  bool ended = false;
  for (size_t i = 1; i < c->count; i++) {
    struct str t = c->words[i].text;
    open[i] = c->words[i].fixed;
    bool option = open[i] && !ended && t.n > 1 && t.p[0] == '-';
    ended |= option && str_is(t, "--");
    if (!option || ended) continue;
    size_t n = i >= words ? option_words(row, t) : 0;
    open[i] = n > 0;
    if (n == 2 && ++i < c->count) open[i] = c->words[i].fixed;
  }
}

/* ---- allow ------------------------------------------------------------------------ */

static bool climbs(struct str path) {
  struct str name;
  while (str_next(&path, '/', &name))
    if (str_is(name, "..")) return true;
  return false;
}

/* A star takes no "..", so that what begins with a folder stays in it. */
static bool word_fits(struct str pattern, const struct shell_word *word) {
  if (!word->fixed || (!glob_is_plain(pattern) && climbs(word->text))) return false;
  return glob_fits(pattern, word->text, GLOB_PATH);
}

/* An option that is not harmless is taken by a word that spells it alone. */
static bool word_takes(struct str pattern, const struct shell_word *word, bool open) {
  bool option = word->text.n > 1 && word->text.p[0] == '-';
  bool spells = glob_is_plain(pattern) || pattern.p[0] == '-';
  return word_fits(pattern, word) && (open || !option || spells);
}

/* Words against words; the last star tried takes more when what follows fails. */
static bool words_fit(const struct str *p, size_t pn, const struct shell_command *c,
                      const bool *open) {
  size_t i = 1, j = 1, star = SIZE_MAX, back = 0;
  while (j < c->count) {
    bool is = i < pn && is_star(p[i]);
    if (is) {
      star = i++;
      back = j;
    } else if (i < pn && word_takes(p[i], &c->words[j], open[j])) {
      i++;
      j++;
    } else if (star != SIZE_MAX && open[back]) {
      i = star + 1;
      j = ++back;
    } else {
      return false;
    }
  }
  while (i < pn && is_star(p[i]))
    i++;
  return i == pn;
}

/* Each assignment is one that the pattern names, and the reverse. */
static bool assigns_fit(const struct str *p, size_t n, const struct shell_command *c) {
  if (n != c->assign_count) return false;
  for (size_t i = 0; i < n; i++)
    if (!c->assigns[i].fixed || !glob_fits(p[i], c->assigns[i].text, GLOB_FLAT)) return false;
  return true;
}

enum rein_code command_allowed(struct arena *arena, const struct str *pattern, size_t count,
                               const struct shell_command *c, bool *fits) {
  size_t n = count_assigns(pattern, count);
  *fits = false;
  if (c->guess || !c->count || n == count || !assigns_fit(pattern, n, c)) return REIN_OK;
  const struct str *p = pattern + n;
  bool program = is_star(*p) ? c->words[0].fixed : word_fits(*p, &c->words[0]);
  if (!program) return REIN_OK;
  bool *open = arena_array(arena, bool, c->count);
  if (!open) return REIN_MEMORY;
  mark_operands(c, open);
  *fits = words_fit(p, count - n, c, open);
  return REIN_OK;
}

/* ---- ask and deny ------------------------------------------------------------------ */

static struct str last_name(struct str program) {
  struct str before, name = program;
  (void)str_split_last(program, '/', &before, &name);
  return name;
}

/* ./x and a/../x are x. */
static bool path_meets(struct str pattern, struct str text) {
  struct arena room;
  struct str clean, wanted;
  if (str_find_char(text, '/') == text.n && str_find_char(pattern, '/') == pattern.n) return false;
  arena_init(&room, 1 << 18);
  bool fits = path_clean(&room, STR_NONE, text, &clean) && path_pattern(&room, pattern, &wanted) &&
              glob_fits(wanted, clean, GLOB_FLAT);
  arena_release(&room);
  return fits;
}

static bool meets(struct str pattern, const struct shell_word *word) {
  struct str name, value;
  if (word->text.n > MATCHED_MAX || is_star(pattern)) return true;
  if (glob_fits(pattern, word->text, GLOB_FLAT) || path_meets(pattern, word->text)) return true;
  return str_split(word->text, '=', &name, &value) && value.n > 0 &&
         (glob_fits(pattern, value, GLOB_FLAT) || path_meets(pattern, value));
}

static bool program_meets(struct str pattern, const struct shell_word *word) {
  if (is_star(pattern)) return true;
  return glob_fits(last_name(pattern), last_name(word->text), GLOB_FLAT) ||
         glob_fits(pattern, word->text, GLOB_FLAT);
}

/* How many words one of git's own options takes; 0: it is not known. */
static size_t git_option(struct str t) {
  static const char *const valued[] = {
      "-C",          "-c",           "--git-dir",      "--work-tree",
      "--namespace", "--config-env", "--super-prefix", NULL};
  static const char *const flags[] = {"--no-pager",          "-p", "--paginate", "-P", "--bare",
                                      "--no-optional-locks", NULL};
  struct str name = t, value;
  bool joined = str_starts(t, STR("--")) && str_split(t, '=', &name, &value);
  for (size_t k = 0; valued[k]; k++)
    if (str_is(name, valued[k])) return joined ? 1 : 2;
  for (size_t k = 0; flags[k]; k++)
    if (str_is(t, flags[k])) return 1;
  return 0;
}

/* Where git's subcommand stands; 0: it is not known, or another program. */
static size_t subcommand_of(const struct shell_command *c, size_t from) {
  if (!str_is(last_name(c->words[from].text), "git")) return 0;
  for (size_t i = from + 1, n; i < c->count; i += n) {
    struct str t = c->words[i].text;
    if (!c->words[i].fixed) return 0;
    if (!t.n || t.p[0] != '-') return i;
    n = git_option(t);
    if (!n || (n == 2 && i + 1 < c->count && !c->words[i + 1].fixed)) return 0;
  }
  return 0;
}

/* From word j on, those of the pattern from i on in their order. */
static bool in_order(const struct str *p, size_t pn, size_t i, const struct shell_command *c,
                     size_t j) {
  for (; i < pn; i++) {
    if (is_star(p[i])) continue;
    while (j < c->count && !meets(p[i], &c->words[j]))
      j++;
    if (j == c->count) return false;
    j += !c->words[j].splits; /* one that splits may be the next word, too */
  }
  return true;
}

/* The pattern's words in their order, anything in between. */
static bool caught_at(const struct str *p, size_t pn, const struct shell_command *c, size_t from) {
  if (!program_meets(p[0], &c->words[from])) return false;
  bool pins = !c->guess && pn > 1 && p[1].n && p[1].p[0] != '-';
  size_t sub = pins ? subcommand_of(c, from) : 0;
  if (!sub) return in_order(p, pn, 1, c, from + !c->words[from].splits);
  return meets(p[1], &c->words[sub]) && in_order(p, pn, 2, c, sub + 1);
}

static bool assign_caught(struct str pattern, const struct shell_command *c) {
  struct str name = str_part(pattern, 0, str_find_char(pattern, '='));
  for (size_t i = 0; i < c->assign_count; i++)
    if (glob_fits(pattern, c->assigns[i].text, GLOB_FLAT)) return true;
  for (size_t i = 0; c->guess && i < c->count; i++)
    if (glob_fits(name, c->words[i].text, GLOB_FLAT)) return true;
  return false;
}

bool command_caught(const struct str *pattern, size_t count, const struct shell_command *c) {
  size_t n = count_assigns(pattern, count), starts = c->guess ? c->count : 1;
  for (size_t i = 0; i < n; i++)
    if (!assign_caught(pattern[i], c)) return false;
  if (n == count) return n > 0;
  if (!c->count) return is_star(pattern[n]);
  for (size_t i = 0; i < starts; i++)
    if (caught_at(pattern + n, count - n, c, i)) return true;
  return false;
}
