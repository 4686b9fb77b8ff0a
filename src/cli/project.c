/* It takes a policy and nothing else: what a folder brings must not choose a
 * model, an address or a log. */
#include "cli/project.h"

#include <errno.h>
#include <unistd.h>

#define PROJECT_BYTES_MAX (1u << 20)
static const struct str place = {".rein/config.json", 17};

/* Reads to the end; the errno, 0 fine. */
static int read_whole(int fd, struct buf *b) {
  for (;;) {
    char *room = buf_room(b, 65536);
    ssize_t n = room ? read(fd, room, 65536) : -1;
    if (!room) return EFBIG;
    if (n < 0 && errno != EINTR) return errno;
    if (n == 0) return 0;
    if (n > 0) buf_grown(b, (size_t)n);
  }
}

/* Nothing of that name: another spelling of it is another file. */
static bool is_absent(const struct err *err) {
  return err->text == T_HOST_PATH_ABSENT || err->text == T_HOST_PATH_NEAR ||
         err->text == T_HOST_PATH_NO_FOLDER;
}

int project_read(struct cli *cli, const struct setup *setup, struct str *text) {
  struct err err = {0};
  struct buf b;
  int fd, exit = 0;
  *text = STR_NONE;
  if (files_open(&setup->files, place, FILES_READ, &fd, NULL, &err))
    return is_absent(&err) ? 0 : cli_fail(cli, &err);
  buf_init(&b, PROJECT_BYTES_MAX);
  int failed = read_whole(fd, &b);
  if (failed)
    exit = failed == EFBIG ? cli_usage(cli, T_CLI_PROJECT_BIG, place)
                           : cli_usage(cli, T_CLI_CANNOT_READ, place, str_of(strerror(failed)));
  else if (!arena_str(&cli->arena, buf_str(&b), text))
    exit = cli_no_memory(cli);
  (void)close(fd);
  buf_release(&b);
  return exit;
}

bool project_trusted(const struct kept *kept, struct str root, struct str text) {
  for (size_t i = 0; i < kept->n; i++)
    if (kept->v[i].trust && str_eq(kept->v[i].root, root) && str_eq(kept->v[i].content, text))
      return true;
  return false;
}

static int take_grants(struct cli *cli, struct setup *setup, const struct kept *kept,
                       struct str root) {
  struct policy_grant *v = arena_array(&cli->arena, struct policy_grant, kept->n + 1);
  if (!v) return cli_no_memory(cli);
  setup->policy.grants = v;
  for (size_t i = 0; i < kept->n; i++)
    if (!kept->v[i].trust && str_eq(kept->v[i].root, root))
      v[setup->policy.grant_count++] = (struct policy_grant){kept->v[i].tool, kept->v[i].args};
  return 0;
}

static enum rein_code load(struct cli *cli, struct str text, struct policy *policy,
                           struct err *err) {
  struct json *doc;
  enum rein_code code = json_parse(&cli->arena, text, JSON_COMMENTS | JSON_UNIQUE, &doc, err);
  if (code) return code;
  if (!json_is(doc, JSON_OBJECT)) return ERR(err, REIN_INPUT, T_CLI_CONFIG_NOT_OBJECT);
  for (const struct json *m = doc->first; m; m = m->next)
    if (!str_is(m->key, "policy") && !str_is(m->key, "$schema"))
      return ERR(err, REIN_INPUT, T_CLI_PROJECT_KEY, m->key);
  code = policy_load(&cli->arena, json_get(doc, "policy"), policy, err);
  return code ? code : setup_check_tests(cli, policy, err);
}

int project_apply(struct cli *cli, struct setup *setup) {
  struct kept kept;
  struct str text, root = str_of(setup->files.root);
  struct policy own;
  struct err err = {0};
  int exit = kept_load(cli, &kept);
  if (!exit) exit = take_grants(cli, setup, &kept, root);
  if (!exit) exit = project_read(cli, setup, &text);
  if (exit || !text.n) return exit;
  bool trusted = project_trusted(&kept, root, text);
  enum rein_code code = load(cli, text, &own, &err);
  if (!code) code = policy_join(&cli->arena, &setup->policy, &own, trusted, &err);
  if (code == REIN_INPUT) {
    cli_say_at(cli, place, &err);
    return 2;
  }
  if (code) return cli_fail(cli, &err);
  if (!trusted) cli_say(cli, T_CLI_PROJECT_CONFIG, place);
  return 0;
}
