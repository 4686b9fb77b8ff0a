/* Commands under rules: the handed table, and the kinds of it with other words. */
#include "judging.h"

#include "support/shared.h"

#define CASE "cases/R01-shell-against-allow-and-deny-rules/"

/* The handed policy has lists of rules; ours has one object of them. */
static void handed_policy(struct judged *j, struct buf *made) {
  struct buf file;
  struct json *doc;
  struct err err;
  struct arena arena;
  shared_read(&file, CASE "policy.json");
  arena_init(&arena, 1 << 20);
  assert_int_equal(json_parse(&arena, buf_str(&file), 0, &doc, &err), REIN_OK);
  buf_init(made, 65536);
  buf_lit(made, "{\"rules\":{\"get_time\":\"allow\"");
  static const char *const lists[] = {"allow", "deny"};
  for (size_t i = 0; i < 2; i++)
    for (const struct json *rule = json_get(doc, lists[i])->first; rule; rule = rule->next)
      buf_fmt(made, ",%.*s:\"%s\"", (int)rule->source.n, rule->source.p, lists[i]);
  buf_lit(made, "}}");
  judged_load(j, buf_z(made));
  assert_int_equal(j->code, REIN_OK);
  buf_release(&file);
  arena_release(&arena);
}

/* What the table asks for at least. */
static enum rein_verdict weakest(struct str want) {
  if (str_is(want, "deny")) return REIN_DENY;
  return str_starts(want, STR("run")) ? REIN_ALLOW : REIN_ASK;
}

/* \n, \r and \\ stand for themselves. */
static struct str unescape(char *room, struct str s) {
  size_t n = 0;
  for (size_t i = 0; i < s.n; i++) {
    char c = s.p[i];
    if (c == '\\' && i + 1 < s.n && strchr("nr\\", s.p[i + 1])) {
      c = s.p[++i];
      c = (char)(c == 'n' ? '\n' : c == 'r' ? '\r' : '\\');
    }
    room[n++] = c;
  }
  return (struct str){room, n};
}

static void handed(void **state) {
  (void)state;
  struct judged j;
  struct buf made, rows;
  struct str rest, line, command, want;
  size_t wrong = 0, count = 0;
  shared_read(&rows, CASE "commands.tsv");
  handed_policy(&j, &made);
  for (rest = buf_str(&rows); str_next(&rest, '\n', &line);) {
    char room[1024];
    if (!str_split(line, '\t', &command, &want)) continue;
    struct decision d = judged_command(&j, unescape(room, command));
    bool exact = str_is(want, "run") ? d.verdict == REIN_ALLOW : d.verdict >= weakest(want);
    count++;
    if (exact) continue;
    wrong++;
    print_error("%.*s: want %.*s, got %s (%.*s)\n", (int)command.n, command.p, (int)want.n, want.p,
                verdict_word(d.verdict), (int)d.rule.n, d.rule.p);
  }
  assert_true(count > 70);
  assert_int_equal(wrong, 0);
  arena_release(&j.arena);
  buf_release(&made);
  buf_release(&rows);
}

static const char *const rules =
    "{\"rules\":{\"exec(git diff *)\":\"allow\",\"exec(cat *)\":\"allow\",\"exec(ls *)\":\"allow\","
    "\"exec(make test)\":\"allow\",\"exec(find *)\":\"allow\",\"exec(sort *)\":\"allow\","
    "\"exec(FOO=1 env)\":\"allow\",\"exec(cat 'a b')\":\"ask\",\"exec(head src/**)\":\"allow\","
    "\"exec(rm *)\":\"deny\",\"exec(git push *)\":\"deny\",\"exec(curl *)\":\"deny\","
    "\"exec(LD_PRELOAD=* *)\":\"deny\",\"path(**/.env)\":\"deny\",\"path(out/**)\":\"allow\","
    "\"exec(npm install)\":\"deny\",\"path(secret)\":\"ask\"}}";

static const struct {
  const char *command;
  enum rein_verdict want;
} command_rows[] = {
    {"git diff", REIN_ALLOW},
    {"git diff --stat -w HEAD -- --output=x", REIN_ALLOW},
    {"git diff --outpu=x", REIN_ASK},
    {"cat a b 'c d'", REIN_ALLOW},
    {"cat 'a b'", REIN_ASK},
    {"cat *", REIN_DENY}, /* could be .env */
    {"cat *.md", REIN_ASK},
    {"cat ~/notes", REIN_ASK},
    {"cat ~root/.env", REIN_DENY},
    {"cat a{b,c}", REIN_DENY}, /* could be a/.env */
    {"cat $HOME", REIN_DENY},  /* could be .env */
    {"cat \"$x.md\"", REIN_ASK},
    {"ls && cat a | sort", REIN_ALLOW},
    {"ls; make test", REIN_ALLOW},
    {"make test x", REIN_ASK},
    {"make", REIN_ASK},
    {"timeout 5 cat a", REIN_ALLOW},
    {"timeout -k 3 5 nice -n 3 cat a", REIN_ALLOW},
    {"timeout --what 5 cat a", REIN_ASK},
    {"./timeout 5 cat a", REIN_ASK},
    {"sudo cat a", REIN_ASK},
    {"env A=1 cat a", REIN_ASK},
    {"env cat a", REIN_ALLOW},
    {"env", REIN_ASK},
    {"FOO=1 env", REIN_ALLOW},
    {"FOO=2 env", REIN_ASK},
    {"FOO=1 BAR=2 env", REIN_ASK},
    {"sh -c 'cat a'", REIN_ALLOW},
    {"sh -c 'cat a; python3 x'", REIN_ASK},
    {"bash -c 'cat a'", REIN_ASK},
    {"sh -c \"cat $x\"", REIN_DENY},
    {"sh -c 'sh -c \"rm x\"'", REIN_DENY},
    {"eval 'r''m x'", REIN_DENY},
    {"eval \"$(cat a)\"", REIN_DENY}, /* any command at all */
    {"find . -name '*.c'", REIN_ALLOW},
    {"find . -exec cat {} +", REIN_DENY},
    {"find . -exec rm {} \\;", REIN_DENY},
    {"find . -fprint x", REIN_ASK},
    {"xargs -0 rm < a", REIN_DENY},
    {"xargs -I{} sh -c 'rm {}'", REIN_DENY},
    {"cat a > out/x", REIN_ALLOW},
    {"cat a > out/../x", REIN_ASK},
    {"cat a > out/.git/config", REIN_ASK},
    {"cat a 2>/dev/null 2>&1", REIN_ALLOW},
    {"cat a >& x", REIN_ASK},
    {"cat <<E\nrm x\nE", REIN_ALLOW},
    {"cat <<E\n$(rm x)\nE", REIN_DENY},
    {"cat <<'E'\n$(rm x)\nE", REIN_ALLOW},
    {"cat <<E\nx\nE\nrm x", REIN_DENY},
    {"cat <<E\nrm x", REIN_DENY},
    {"cat a; cat b; cat src/.env", REIN_DENY},
    {"cat --file=.env", REIN_DENY},
    {"cat -f.env", REIN_DENY},
    {"cd sub && cat .env", REIN_DENY},
    {"dd if=.env", REIN_DENY},
    {"cat secret/x", REIN_ASK},
    {"cat < .env", REIN_DENY},
    {"head src/a/b", REIN_ALLOW},
    {"head src/../x", REIN_ASK},
    {"git -C x push", REIN_DENY},
    {"git --git-dir=x --no-pager push origin", REIN_DENY},
    {"git --unknown y push", REIN_DENY},
    {"git stash push", REIN_ASK},
    {"git $x", REIN_DENY},
    {"/usr/bin/git push", REIN_DENY},
    {"$git push", REIN_DENY},
    {"npm --prefix x install", REIN_DENY},
    {"LD_PRELOAD=x cat a", REIN_DENY},
    {"A=1 LD_PRELOAD=x cat a", REIN_DENY},
    {"export A=1; cat a", REIN_ASK},
    {"ls() { rm x; }; ls", REIN_DENY},
    {"ls() { cat x; }; ls", REIN_ASK},
    {"alias ls=rm; ls", REIN_ASK},
    {"case x in a|b) rm x;; esac", REIN_DENY},
    {"for i in a b; do cat a; done", REIN_ALLOW},
    {"for i in a b; do cat $i; done", REIN_DENY},
    {"while ls; do rm x; done", REIN_DENY},
    {"until ls\ndo cat a\ndone", REIN_ALLOW},
    {"if ls; then cat a; elif cat b; then ls; else ls -l; fi", REIN_ALLOW},
    {"if ls; then cat a; else rm b; fi", REIN_DENY},
    {"(cat a; (rm x))", REIN_DENY},
    {"cat a &&", REIN_ALLOW}, /* no command is missing that could run */
    {"cat \"a", REIN_ASK},
    {"cat a; )rm x", REIN_DENY},
    {"cat `echo rm`", REIN_DENY},
    {"cat `rm x`", REIN_DENY},
    {"cat \"`rm \\`ls\\``\"", REIN_DENY},
    {"cat ${x:-$(rm y)}", REIN_DENY},
    {"cat $((1 + $(rm x)))", REIN_DENY},
    {"cat $'r'", REIN_ASK},
    {"[[ a && rm ]]", REIN_DENY},
    {"cat a |& rm", REIN_DENY},
    {"cat a &> x", REIN_ASK},
    {"cat <(rm x)", REIN_DENY},
    {"cat a # rm x", REIN_ALLOW},
    {"cat a#b", REIN_ALLOW},
    {"cat a \\\n b", REIN_ALLOW},
    {"cat a &\\\n& rm x", REIN_DENY},
    {"trap 'rm x' EXIT", REIN_DENY},
    {"[ -f a ] && cat a", REIN_ASK},
    {"command -v rm", REIN_DENY},
    {"exec rm x", REIN_DENY},
    {"time rm x", REIN_DENY},
    {"! rm x", REIN_DENY},
    {"ssh host 'rm x'", REIN_DENY},
    {"watch -n1 rm x", REIN_DENY},
    {"busybox rm x", REIN_DENY},
    {"python3 -c 'x'", REIN_ASK},
    {"", REIN_ASK},
    {"   # nothing", REIN_ASK},
    {"A=1", REIN_ASK},
    {"> out/x", REIN_ALLOW},
    {"> x", REIN_ASK},
    {"cat\ta", REIN_ALLOW},
    {"cat\xc2\xa0"
     "a",
     REIN_ASK},
    {"r\\m x", REIN_DENY},
    {"\"rm\" x", REIN_DENY},
};

static void judged_commands(void **state) {
  (void)state;
  struct judged j;
  size_t wrong = 0;
  judged_load(&j, rules);
  assert_int_equal(j.code, REIN_OK);
  for (size_t i = 0; i < sizeof command_rows / sizeof *command_rows; i++) {
    struct decision d = judged_command(&j, str_of(command_rows[i].command));
    if (d.verdict == command_rows[i].want) continue;
    wrong++;
    print_error("%s: want %s, got %s (%.*s) by part %.*s\n", command_rows[i].command,
                verdict_word(command_rows[i].want), verdict_word(d.verdict), (int)d.rule.n,
                d.rule.p, (int)d.part.n, d.part.p);
  }
  assert_int_equal(wrong, 0);
  arena_release(&j.arena);
}

/* A bare allow covers what is not understood; a deny still stands against it. */
static void bare(void **state) {
  (void)state;
  struct judged j;
  judged_load(&j,
              "{\"rules\":{\"exec\":\"allow\",\"exec(rm *)\":\"deny\",\"exec(dd *)\":\"ask\"}}");
  assert_int_equal(judged_command(&j, STR("x $y | z > w")).verdict, REIN_ALLOW);
  assert_int_equal(judged_command(&j, STR("x 'open")).verdict, REIN_ALLOW);
  assert_int_equal(judged_command(&j, STR("x 'open; rm x")).verdict, REIN_DENY);
  assert_int_equal(judged_command(&j, STR("x; dd if=y")).verdict, REIN_ASK);
  assert_int_equal(judged_command(&j, STR("cat x > .git/hooks/y")).verdict, REIN_ASK);
  arena_release(&j.arena);
}

static void an_argv(void **state) {
  (void)state;
  struct judged j;
  struct decision d;
  judged_load(&j, rules);
  static const struct {
    const char *args;
    enum rein_verdict want;
  } rows[] = {
      {"{\"argv\":[\"cat\",\"a; rm x\"]}", REIN_ALLOW},
      {"{\"argv\":[\"cat\",\"$x\",\"*\"]}", REIN_ALLOW},
      {"{\"argv\":[\"git\",\"diff\",\"--output=x\"]}", REIN_ASK},
      {"{\"argv\":[\"/bin/rm\",\"x\"]}", REIN_DENY},
      {"{\"argv\":[\"sh\",\"-c\",\"rm x\"]}", REIN_DENY},
      {"{\"argv\":[\"cat\",\"x/.env\"]}", REIN_DENY},
      {"{\"argv\":[\"cat\",3]}", REIN_ASK},
      {"{\"argv\":[]}", REIN_ASK},
      {"{\"command\":\"cat a\",\"argv\":[\"rm\",\"x\"]}", REIN_DENY},
      {"{}", REIN_ASK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    assert_int_equal(judged_call(&j, "exec", str_of(rows[i].args), &d), REIN_OK);
    if (d.verdict != rows[i].want) fail_msg("%s: %s", rows[i].args, verdict_word(d.verdict));
  }
  arena_release(&j.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(handed),
      cmocka_unit_test(judged_commands),
      cmocka_unit_test(bare),
      cmocka_unit_test(an_argv),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
