/* Completions for bash, zsh and fish, printed from the tables. */
#include "cli/help.h"

static void put_long_names(struct buf *out, const struct command *command) {
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (help_shows(command, (enum option_id)i)) buf_fmt(out, " --%s", option_rows[i].name);
}

static bool has_words(const struct option_row *row) {
  return row->name && row->kind == OPTION_WORD;
}

static void put_bash_words(struct buf *out) {
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    const struct option_row *row = &option_rows[i];
    struct str word;
    if (!has_words(row)) continue;
    buf_fmt(out, "    --%s) COMPREPLY=($(compgen -W '", row->name);
    for (size_t k = 0; option_word(row->arg, k, &word); k++) {
      if (k) buf_c(out, ' ');
      buf_put(out, word);
    }
    buf_lit(out, "' -- \"$cur\")); return ;;\n");
  }
  buf_lit(out, "    --root|-C) COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n"
               "    --config|--log) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n");
}

static void put_bash(struct buf *out) {
  buf_lit(out, "# Printed by `rein help --completion bash`; do not edit.\n"
               "_rein() {\n"
               "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} options\n"
               "  case $prev in\n");
  put_bash_words(out);
  buf_lit(out, "  esac\n  case ${COMP_WORDS[1]} in\n");
  for (size_t i = 1; commands[i]; i++) {
    buf_fmt(out, "    %s) options='", commands[i]->name);
    put_long_names(out, commands[i]);
    buf_lit(out, "' ;;\n");
  }
  buf_lit(out, "    *) options='");
  put_long_names(out, commands[0]);
  buf_lit(out, "' ;;\n  esac\n  if [ \"$COMP_CWORD\" = 1 ]; then options=\"$options");
  for (size_t i = 0; commands[i]; i++)
    buf_fmt(out, " %s", commands[i]->name);
  buf_lit(out, "\"; fi\n"
               "  COMPREPLY=($(compgen -W \"$options\" -- \"$cur\"))\n"
               "}\n"
               "complete -F _rein rein\n");
}

/* A summary inside single quotes, brackets and colons escaped for zsh. */
static void put_quoted(struct buf *out, int id, bool zsh) {
  for (const char *p = text_raw((enum text_id)id, REIN_ENGLISH); *p; p++) {
    if (*p == '\'')
      buf_put(out, zsh ? STR("'\\''") : STR("\\'"));
    else if (zsh && (*p == '[' || *p == ']' || *p == ':'))
      buf_fmt(out, "\\%c", *p);
    else
      buf_c(out, *p);
  }
}

static void put_zsh_option(struct buf *out, const struct option_row *row) {
  struct str word;
  buf_fmt(out, "    '--%s%s[", row->name, row->arg ? "=" : "");
  put_quoted(out, row->summary, true);
  buf_c(out, ']');
  if (row->arg) buf_lit(out, ":value:");
  if (row->kind == OPTION_WORD) {
    buf_c(out, '(');
    for (size_t k = 0; option_word(row->arg, k, &word); k++) {
      if (k) buf_c(out, ' ');
      buf_put(out, word);
    }
    buf_c(out, ')');
  }
  buf_lit(out, "' \\\n");
}

static void put_zsh(struct buf *out) {
  buf_lit(out, "#compdef rein\n# Printed by `rein help --completion zsh`; do not edit.\n"
               "local -a names=(");
  for (size_t i = 0; commands[i]; i++)
    buf_fmt(out, "%s%s", i ? " " : "", commands[i]->name);
  buf_lit(out, ")\n_arguments \\\n");
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (help_shows(commands[0], (enum option_id)i)) put_zsh_option(out, &option_rows[i]);
  buf_lit(out, "    '1:command or task:($names)' \\\n    '*:file:_files'\n");
}

static void put_fish_option(struct buf *out, const struct option_row *row) {
  struct str word;
  buf_fmt(out, "complete -c rein -l %s", row->name);
  if (row->letter) buf_fmt(out, " -s %c", row->letter);
  if (row->arg) buf_lit(out, " -r");
  if (row->kind == OPTION_WORD) {
    buf_lit(out, " -f -a '");
    for (size_t k = 0; option_word(row->arg, k, &word); k++) {
      if (k) buf_c(out, ' ');
      buf_put(out, word);
    }
    buf_c(out, '\'');
  }
  buf_lit(out, " -d '");
  put_quoted(out, row->summary, false);
  buf_lit(out, "'\n");
}

static void put_fish(struct buf *out) {
  buf_lit(out, "# Printed by `rein help --completion fish`; do not edit.\n");
  for (size_t i = 0; commands[i]; i++) {
    buf_fmt(out, "complete -c rein -n __fish_use_subcommand -a %s -d '", commands[i]->name);
    put_quoted(out, commands[i]->summary, false);
    buf_lit(out, "'\n");
  }
  for (size_t i = 0; i < OPTION_COUNT; i++)
    if (help_shows(commands[0], (enum option_id)i)) put_fish_option(out, &option_rows[i]);
}

void page_completion(struct buf *out, struct str shell) {
  if (str_is(shell, "bash"))
    put_bash(out);
  else if (str_is(shell, "zsh"))
    put_zsh(out);
  else
    put_fish(out);
}
