/* A sandbox's life, and what can be known of it before a command runs. The filter is
 * sandbox_filter.c's, the namespaces sandbox_bwrap.c's. */
#include "host/sandbox_inside.h"

#include "base/mem.h"
#include "host/guard_image.h"
#include "text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DATA_MB_DEFAULT 8192 /* one process' writable memory: a big link step needs 4 GiB */
#define LIST_MAX 1024        /* names of one list: more is a mistake */

static const char *const words[] = {"full", "helper", "off"};

const char *sandbox_word(enum sandbox_level level) {
  return words[level];
}

bool sandbox_read_word(struct str word, enum sandbox_level *level) {
  for (int i = 0; i < 3; i++)
    if (str_is(word, words[i])) {
      *level = (enum sandbox_level)i;
      return true;
    }
  return false;
}

enum sandbox_level sandbox_level(const struct sandbox *sandbox) {
  return sandbox->level;
}

bool sandbox_network(const struct sandbox *sandbox) {
  return sandbox->network || sandbox->level == SANDBOX_OFF;
}

/* ---- names of the environment ---------------------------------------------------- */

static bool is_word(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* False: no name of a variable. */
static bool upper_name(struct str name, char *upper, size_t cap) {
  if (name.n == 0 || name.n > cap) return false;
  for (size_t i = 0; i < name.n; i++) {
    char c = name.p[i];
    if (!is_word(c)) return false;
    upper[i] = c >= 'a' && c <= 'z' ? (char)(c - 32) : c;
  }
  return true;
}

bool sandbox_env_ok(struct str name) {
  static const char *const exact[] = {
      "ENV",      "IFS",     "PATH",         "PS4",       "PAGER",     "EDITOR",   "VISUAL",
      "BROWSER",  "CDPATH",  "SHELLOPTS",    "TMPDIR",    "BASHOPTS",  "PERL5OPT", "RUBYOPT",
      "PERL5LIB", "RUBYLIB", "NODE_OPTIONS", "MAKEFLAGS", "GLOBIGNORE"};
  static const char *const begin[] = {"BASH_", "LD_",    "GIT_", "REIN_", "PYTHON",
                                      "SSH_",  "GCONV_", "AWS_", "DYLD_"};
  static const char *const part[] = {"KEY",        "TOKEN",      "SECRET", "PASSWORD", "PASSWD",
                                     "PASSPHRASE", "CREDENTIAL", "COOKIE", "AUTH"};
  char upper[256];
  if (!upper_name(name, upper, sizeof upper)) return false;
  struct str u = {upper, name.n};
  bool bad = false;
  for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
    bad |= str_is(u, exact[i]);
  for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
    bad |= str_starts(u, str_of(begin[i]));
  for (size_t i = 0; i < sizeof part / sizeof *part; i++)
    bad |= str_has(u, str_of(part[i]));
  return !bad;
}

/* ---- life -------------------------------------------------------------------------- */

static unsigned landlock_abi(unsigned most) {
  long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, 1);
  if (abi < 0) return 0;
  return most && (unsigned)abi > most ? most : (unsigned)abi;
}

static const char *find_bwrap(void) {
  static const char *const places[] = {"/usr/bin/bwrap", "/usr/local/bin/bwrap", "/bin/bwrap"};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (access(places[i], X_OK) == 0) return places[i];
  return NULL;
}

static bool copy_list(struct arena *arena, const char *const *from, size_t room,
                      const char ***copy) {
  size_t n = 0;
  while (from && from[n] && n < LIST_MAX)
    n++;
  const char **list = arena_array(arena, const char *, n + room + 1);
  for (size_t i = 0; list && i < n; i++) {
    struct str text;
    if (!arena_str(arena, str_of(from[i]), &text)) return false;
    list[i] = text.p;
  }
  *copy = list;
  return list != NULL;
}

/* Where programs keep keys. */
static const char *const secrets[] = {
    ".ssh",
    ".aws",
    ".gnupg",
    ".azure",
    ".kube",
    ".docker",
    ".netrc",
    ".git-credentials",
    ".pypirc",
    ".npmrc",
    ".config/rein",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".local/share/keyrings",
    ".password-store",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".thunderbird",
    ".local/state/rein",
    ".anthropic",
    ".claude",
    ".codex",
    ".gemini",
    ".cargo/credentials.toml",
    ".config/op",
    ".vault-token",
    ".terraform.d",
    ".bash_history",
};
#define SECRETS (sizeof secrets / sizeof *secrets)

static bool add_secrets(struct sandbox *s, const char *home) {
  size_t n = 0;
  if (!home || home[0] != '/') return true;
  while (s->hidden[n])
    n++;
  for (size_t i = 0; i < SECRETS; i++) {
    struct buf b;
    struct str text;
    buf_init(&b, 8192);
    buf_put(&b, str_of(home));
    buf_c(&b, '/');
    buf_put(&b, str_of(secrets[i]));
    bool ok = !b.fail && arena_str(&s->arena, buf_str(&b), &text);
    buf_release(&b);
    if (!ok) return false;
    s->hidden[n++] = text.p;
  }
  return true;
}

static bool take(struct sandbox *s, const struct sandbox_options *o) {
  s->level = o->level;
  s->network = o->network;
  int64_t mb = o->data_mb ? o->data_mb : DATA_MB_DEFAULT;
  s->data_bytes = mb == REIN_OFF ? 0 : mb << 20;
  s->abi = landlock_abi(o->landlock_max);
  s->bwrap = find_bwrap();
  return copy_list(&s->arena, o->env, 0, &s->env) &&
         copy_list(&s->arena, o->hidden, SECRETS, &s->hidden) &&
         copy_list(&s->arena, o->protected, 0, &s->protected) && add_secrets(s, o->home);
}

enum rein_code sandbox_new(const struct sandbox_options *options, struct sandbox **sandbox,
                           struct err *err) {
  struct sandbox *s = mem_zero(sizeof *s);
  if (!s || pthread_mutex_init(&s->lock, NULL) != 0) {
    mem_free(s);
    return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
  }
  s->holders = 1;
  s->image = -1;
  arena_init(&s->arena, SANDBOX_BYTES_MAX);
  if (take(s, options)) {
    *sandbox = s;
    return REIN_OK;
  }
  sandbox_free(s);
  return ERR(err, REIN_MEMORY, T_HOST_NO_MEMORY);
}

struct sandbox *sandbox_hold(struct sandbox *sandbox) {
  (void)pthread_mutex_lock(&sandbox->lock);
  sandbox->holders++;
  (void)pthread_mutex_unlock(&sandbox->lock);
  return sandbox;
}

void sandbox_free(struct sandbox *sandbox) {
  if (!sandbox) return;
  (void)pthread_mutex_lock(&sandbox->lock);
  size_t left = --sandbox->holders;
  (void)pthread_mutex_unlock(&sandbox->lock);
  if (left > 0) return;
  if (sandbox->image >= 0) close(sandbox->image);
  mem_free(sandbox->filter);
  arena_release(&sandbox->arena);
  (void)pthread_mutex_destroy(&sandbox->lock);
  mem_free(sandbox);
}

/* ---- what it takes ------------------------------------------------------------------ */

/* True: the kernel says outright that this user gets no namespace. */
static bool namespaces_closed(void) {
  static const char *const switches[] = {"/proc/sys/user/max_user_namespaces",
                                         "/proc/sys/kernel/unprivileged_userns_clone"};
  bool closed = false;
  for (size_t i = 0; i < 2 && !closed; i++) {
    char text[16] = "";
    int fd = open(switches[i], O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    ssize_t n = read(fd, text, sizeof text - 1);
    close(fd);
    closed = n > 0 && text[0] == '0' && (i == 0 || geteuid() != 0);
  }
  return closed;
}

enum rein_code sandbox_check(const struct sandbox *s, struct err *err) {
  struct num_text room;
  struct str level = str_of(sandbox_word(s->level));
  if (s->level == SANDBOX_OFF) return REIN_OK;
  if (s->abi < LANDLOCK_ABI_MIN)
    return ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_LANDLOCK, level, str_num(&room, s->abi));
  if (s->level == SANDBOX_HELPER) return REIN_OK;
  if (!s->bwrap) return ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_BWRAP);
  if (namespaces_closed()) return ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_CLOSED);
  return REIN_OK;
}

static bool make_image(int *image) {
  struct str bytes = guard_image();
  int fd = memfd_create("rein-guard", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return false;
  while (bytes.n) {
    ssize_t n = write(fd, bytes.p, bytes.n);
    if (n <= 0 && errno == EINTR) continue;
    if (n <= 0) break;
    bytes = str_part(bytes, (size_t)n, SIZE_MAX);
  }
  int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (bytes.n || fcntl(fd, F_ADD_SEALS, seals)) {
    close(fd);
    return false;
  }
  /* Read-only from here: a file that is open for writing cannot be executed. */
  char path[64];
  struct num_text room;
  struct buf b;
  buf_init(&b, sizeof path);
  buf_lit(&b, "/proc/self/fd/");
  buf_put(&b, str_num(&room, fd));
  *image = b.fail ? -1 : open(buf_z(&b), O_RDONLY | O_CLOEXEC);
  buf_release(&b);
  close(fd);
  return *image >= 0;
}

static enum rein_code make(struct sandbox *s, struct err *err) {
  if (s->image < 0 && !make_image(&s->image))
    return ERR(err, REIN_SYSTEM, T_HOST_SANDBOX_IMAGE, str_of(strerror(errno)));
  enum rein_code code = REIN_OK;
  if (s->level != SANDBOX_OFF) code = filter_build(s, &s->filter, &s->filter_count, err);
  s->made = code == REIN_OK;
  return code;
}

enum rein_code sandbox_make(struct sandbox *sandbox, struct err *err) {
  enum rein_code code = sandbox_check(sandbox, err);
  if (code) return code;
  (void)pthread_mutex_lock(&sandbox->lock);
  if (!sandbox->made) code = make(sandbox, err);
  (void)pthread_mutex_unlock(&sandbox->lock);
  return code;
}
