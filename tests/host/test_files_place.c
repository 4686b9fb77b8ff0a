/* Writing, editing and deleting anywhere below the root: what is refused, what
 * survives, and what is left when the process dies or the system fails at any
 * step. The steps are counted by standing before libc's functions. */
#include "swap.h"

#include "support/oom.h"

#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- every step of a write, to die or to fail at --------------------------------- */

static int step_n;               /* 0: nothing is counted */
static int step_end, step_error; /* at that step: this errno; 0: SIGKILL */
static atomic_int steps;
static void (*before_swap)(void); /* another program, at the last moment */

static bool step(void) {
  if (!step_n) return true;
  if (atomic_fetch_add(&steps, 1) + 1 != step_end) return true;
  if (!step_error) kill(getpid(), SIGKILL);
  errno = step_error;
  return false;
}

int fsync(int fd) { /* the machine itself does not die here: nothing is waited for */
  (void)fd;
  return step() ? 0 : -1;
}
int flock(int fd, int how) {
  return step() ? (int)syscall(SYS_flock, fd, how) : -1;
}
int fchmod(int fd, mode_t mode) {
  return step() ? (int)syscall(SYS_fchmod, fd, mode) : -1;
}
int mkdirat(int dir, const char *name, mode_t mode) {
  return step() ? (int)syscall(SYS_mkdirat, dir, name, mode) : -1;
}
int unlinkat(int dir, const char *name, int flags) {
  return step() ? (int)syscall(SYS_unlinkat, dir, name, flags) : -1;
}
int renameat2(int from, const char *a, int to, const char *b, unsigned flags) {
  void (*act)(void) = before_swap;
  before_swap = NULL;
  if (act) act();
  return step() ? (int)syscall(SYS_renameat2, from, a, to, b, flags) : -1;
}
/* Short: half of what was asked for, so that it can end between two parts. */
ssize_t write(int fd, const void *p, size_t n) {
  if (step_n && n > 1) n -= n / 2;
  return step() ? syscall(SYS_write, fd, p, n) : -1;
}

/* ---- words ------------------------------------------------------------------------- */

#define OLD "the old text\n"
#define NEW "the new text, which is longer\n"

static enum rein_code put(struct place *p, const char *path, const char *text,
                          const struct files_want *want) {
  struct files_place at;
  struct files_done done = {0};
  p->err = (struct err){0};
  buf_reset(&p->text);
  enum rein_code code = files_place_open(&p->files, str_of(path), FILES_WRITE, &at, &p->err);
  if (code == REIN_OK) code = files_place_write(&at, str_of(text), want, &done, &p->err);
  files_place_close(&at);
  if (code != REIN_OK) err_put(&p->text, REIN_ENGLISH, &p->err);
  return code;
}

static const struct files_want any = {FILES_ANY, 0}, none = {FILES_NONE, 0};

static struct files_want same(const char *text) {
  return (struct files_want){FILES_SAME, files_hash(str_of(text))};
}

static void puts_file(struct place *p, const char *path, const char *text) {
  if (put(p, path, text, &any) != REIN_OK) fail_msg("%s: %s", path, buf_z(&p->text));
  place_reads(p, path, text);
}

static void refuses(struct place *p, const char *path, const char *part) {
  enum rein_code code = put(p, path, "EVIL", &any);
  if (code != REIN_INPUT || !str_has(buf_str(&p->text), str_of(part)))
    fail_msg("%s: %d, %s", path, code, buf_z(&p->text));
}

static enum rein_code removes(struct place *p, const char *path) {
  struct files_place at;
  p->err = (struct err){0};
  buf_reset(&p->text);
  enum rein_code code = files_place_open(&p->files, str_of(path), FILES_DELETE, &at, &p->err);
  if (code == REIN_OK) code = files_place_delete(&at, &any, &p->err);
  files_place_close(&at);
  if (code != REIN_OK) err_put(&p->text, REIN_ENGLISH, &p->err);
  return code;
}

/* ---- where ---------------------------------------------------------------------------- */

static void writes(void **state) {
  (void)state;
  struct place p;
  char absolute[2 * PATH_MAX];
  place_init(&p);
  puts_file(&p, "a.txt", OLD);
  puts_file(&p, "a.txt", NEW);
  puts_file(&p, "deep/er/한글 🙂.txt", OLD);
  puts_file(&p, "new/./../new//f", OLD);
  puts_file(&p, "../proj/back", OLD);
  PRINT(absolute, "%s/abs", p.root);
  puts_file(&p, absolute, OLD);
  puts_file(&p, ".gitignore", OLD);
  puts_file(&p, "-rf", OLD);
  puts_file(&p, "~", OLD);
  assert_int_equal(place_count(&p, "w/proj"), 8);
  assert_int_equal(place_count(&p, "w"), 1);
  place_release(&p);
}

static void refused(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "outside");
  place_folder(&p, "w/proj-backup");
  place_file(&p, "outside/victim", "safe");
  place_folder(&p, "w/proj/real");
  place_folder(&p, "w/proj/.git");
  place_folder(&p, "w/proj/real/.Git");
  place_link(&p, "../../outside", "w/proj/out");
  place_link(&p, "../../outside/victim", "w/proj/link");
  place_link(&p, "../../outside/new", "w/proj/dangling");
  place_link(&p, "nowhere", "w/proj/hollow");
  place_link(&p, "/etc/hostname", "w/proj/abs");
  place_link(&p, "loop", "w/proj/loop");
  place_link(&p, ".git", "w/proj/innocent");
  refuses(&p, "../proj-backup/x", "is outside the project root");
  refuses(&p, "/etc/x", "is outside");
  refuses(&p, "out/x", "is outside");
  refuses(&p, "out/new/dir/x", "is outside");
  refuses(&p, "link", "is outside");
  refuses(&p, "abs", "is outside");
  refuses(&p, "dangling", "is outside");
  refuses(&p, "hollow", "link to something that is not there");
  refuses(&p, "hollow/x", "links that go in a circle");
  refuses(&p, "loop", "links that go in a circle");
  refuses(&p, "", "is empty");
  refuses(&p, ".", "names a folder");
  refuses(&p, "real", "names a folder");
  refuses(&p, "real/", "names a folder");
  refuses(&p, "x/..", "names a folder");
  refuses(&p, "..", "is outside");
  refuses(&p, ".git/config", "below .git and .rein");
  refuses(&p, ".GIT/new/x", "below .git and .rein");
  refuses(&p, "real/../.git/x", "below .git and .rein");
  refuses(&p, "real/.Git/x", "below .git and .rein");
  refuses(&p, "innocent/x", "below .git and .rein");
  refuses(&p, ".rein", "below .git and .rein");
  assert_int_equal(removes(&p, "innocent/x"), REIN_INPUT);
  assert_int_equal(mkfifo(place_path(&p, "w/proj/pipe"), 0600), 0);
  refuses(&p, "pipe", "neither a file nor a folder");
  assert_int_equal(place_count(&p, "outside"), 1);
  assert_int_equal(place_count(&p, "w/proj-backup"), 0);
  assert_int_equal(place_count(&p, "w/proj"), 10);
  place_release(&p);
}

static void links(void **state) {
  (void)state;
  struct place p;
  struct stat st;
  place_init(&p);
  place_folder(&p, "w/proj/real");
  place_file(&p, "w/proj/real/f", OLD);
  place_file(&p, "w/other", OLD);
  place_link(&p, "real", "w/proj/inlink");
  place_link(&p, "inlink/f", "w/proj/flink");
  place_link(&p, "../other", "w/proj/outlink");
  puts_file(&p, "inlink/g", NEW);
  puts_file(&p, "flink", NEW);
  place_reads(&p, "real/f", NEW);
  assert_int_equal(lstat(place_path(&p, "w/proj/flink"), &st), 0);
  assert_true(S_ISLNK(st.st_mode));
  assert_int_equal(removes(&p, "flink"), REIN_OK);
  assert_int_equal(removes(&p, "outlink"), REIN_OK);
  assert_int_equal(removes(&p, "inlink"), REIN_OK);
  place_reads(&p, "real/f", NEW);
  assert_int_equal(removes(&p, "real"), REIN_INPUT);
  assert_true(str_has(buf_str(&p.text), STR("names a folder")));
  assert_int_equal(removes(&p, "real/g"), REIN_OK);
  assert_int_equal(removes(&p, "real/g"), REIN_INPUT);
  assert_int_equal(place_count(&p, "w/proj/real"), 1);
  assert_int_equal(place_count(&p, "w/proj"), 1);
  assert_int_equal(place_count(&p, "w"), 2);
  place_release(&p);
}

/* 한글 taken apart, as archives from macOS bring it, and composed. */
#define NFD "\xe1\x84\x92\xe1\x85\xa1\xe1\x86\xab"
#define NFC "\xed\x95\x9c"

static void forms(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "w/proj/" NFD);
  place_file(&p, "w/proj/" NFD "/f", OLD);
  puts_file(&p, NFC "/f", NEW);
  puts_file(&p, NFC "/new", NEW);
  assert_int_equal(place_count(&p, "w/proj"), 1);
  assert_int_equal(place_count(&p, "w/proj/" NFD), 2);
  place_folder(&p, "w/proj/both");
  puts_file(&p, "both/" NFC, "c");
  place_file(&p, "w/proj/both/" NFD, "d");
  puts_file(&p, "both/" NFC, "cc");
  puts_file(&p, "both/" NFD, "dd");
  assert_int_equal(removes(&p, "both/" NFD), REIN_OK);
  place_reads(&p, "both/" NFC, "cc");
  assert_int_equal(removes(&p, "both/" NFD), REIN_OK);
  assert_int_equal(place_count(&p, "w/proj/both"), 0);
  place_release(&p);
}

static void dress(void **state) {
  (void)state;
  struct place p;
  struct stat st;
  struct files_place at;
  struct files_done done;
  char other[2 * PATH_MAX];
  place_init(&p);
  place_file(&p, "w/proj/x", OLD);
  PRINT(other, "%s", place_path(&p, "w/proj/y"));
  assert_int_equal(link(place_path(&p, "w/proj/x"), other), 0);
  assert_int_equal(chmod(other, 0750), 0);
  if (geteuid() == 0) assert_int_equal(chown(other, 12, 34), 0);
  assert_int_equal(files_place_open(&p.files, STR("x"), FILES_WRITE, &at, &p.err), REIN_OK);
  assert_int_equal(files_place_write(&at, STR(NEW), &any, &done, &p.err), REIN_OK);
  files_place_close(&at);
  assert_int_equal(done.links, 2);
  assert_false(done.owner_lost);
  place_reads(&p, "x", NEW);
  place_reads(&p, "y", OLD);
  assert_int_equal(stat(place_path(&p, "w/proj/x"), &st), 0);
  assert_int_equal(st.st_mode & 07777, 0750);
  if (geteuid() == 0) assert_true(st.st_uid == 12 && st.st_gid == 34);
  place_release(&p);
}

/* ---- what is there meanwhile -------------------------------------------------------------- */

static void conflicts(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_file(&p, "w/proj/x", OLD);
  struct files_want old = same(OLD), new = same(NEW);
  assert_int_equal(put(&p, "x", NEW, &none), REIN_INPUT);
  assert_int_equal(p.err.text, T_HOST_WRITE_CHANGED);
  assert_int_equal(put(&p, "x", NEW, &new), REIN_INPUT);
  assert_int_equal(p.err.text, T_HOST_WRITE_CHANGED);
  place_reads(&p, "x", OLD);
  assert_int_equal(put(&p, "x", NEW, &old), REIN_OK);
  assert_int_equal(put(&p, "y", NEW, &old), REIN_INPUT);
  assert_int_equal(p.err.text, T_HOST_WRITE_CHANGED);
  assert_int_equal(place_count(&p, "w/proj"), 1);
  place_release(&p);
}

static struct place *other_place;

/* An editor: writes beside and renames, without any lock. */
static void other_saves(void) {
  char from[2 * PATH_MAX];
  place_file(other_place, "w/theirs", "THEIRS");
  PRINT(from, "%s", place_path(other_place, "w/theirs"));
  assert_int_equal(rename(from, place_path(other_place, "w/proj/x")), 0);
}

static void other_saves_twice(void) {
  other_saves();
  before_swap = NULL;
}

/* After the look and before the swap: the other's file is found and put back. */
static void last_moment(void **state) {
  (void)state;
  struct place p;
  struct files_want old = same(OLD);
  place_init(&p);
  other_place = &p;
  place_file(&p, "w/proj/x", OLD);
  before_swap = other_saves_twice;
  assert_int_equal(put(&p, "x", NEW, &old), REIN_INPUT);
  assert_int_equal(p.err.text, T_HOST_WRITE_CHANGED);
  place_reads(&p, "x", "THEIRS");
  assert_int_equal(unlink(place_path(&p, "w/proj/x")), 0);
  before_swap = other_saves;
  assert_int_equal(put(&p, "x", NEW, &none), REIN_INPUT);
  place_reads(&p, "x", "THEIRS");
  assert_int_equal(place_count(&p, "w/proj"), 1);
  place_release(&p);
}

/* Two processes add a line each, over and over, from what they read; a conflict is
 * read again. Every line is there in the end. */
#define ROUNDS 25

static void add_lines(struct place *p, char who) {
  struct buf text;
  buf_init(&text, 1u << 21);
  for (int i = 0; i < ROUNDS;) {
    struct files_place at;
    struct files_done done;
    buf_reset(&text);
    if (files_place_open(&p->files, STR("x"), FILES_EDIT, &at, &p->err)) _exit(2);
    if (files_place_read(&at, 1u << 20, &text, &p->err)) _exit(3);
    struct files_want want = {FILES_SAME, files_hash(buf_str(&text))};
    buf_fmt(&text, "%c%d\n", who, i);
    enum rein_code code = files_place_write(&at, buf_str(&text), &want, &done, &p->err);
    files_place_close(&at);
    if (code == REIN_OK)
      i++;
    else if (p->err.text != T_HOST_WRITE_CHANGED)
      _exit(4);
  }
  _exit(0);
}

static void two_processes(void **state) {
  (void)state;
  struct place p;
  pid_t child[2];
  int status;
  place_init(&p);
  place_file(&p, "w/proj/x", "");
  for (int i = 0; i < 2; i++) {
    child[i] = fork();
    if (child[i] == 0) add_lines(&p, (char)('a' + i));
  }
  for (int i = 0; i < 2; i++) {
    assert_int_equal(waitpid(child[i], &status, 0), child[i]);
    assert_int_equal(status, 0);
  }
  assert_int_equal(place_get(&p, STR("x"), FILES_READ), REIN_OK);
  for (int i = 0; i < 2 * ROUNDS; i++) {
    char line[32];
    PRINT(line, "%c%d\n", 'a' + i % 2, i / 2);
    if (!strstr(buf_z(&p.text), line)) fail_msg("%s is lost", line);
  }
  assert_int_equal(place_count(&p, "w/proj"), 1);
  place_release(&p);
}

/* The folder is locked by one who never lets go: an answer, not a wait for ever.
 * (The lock is refused at once here, in place of five seconds.) */
static void locked_out(void **state) {
  (void)state;
  struct place p;
  struct files_want old = same(OLD);
  place_init(&p);
  place_file(&p, "w/proj/x", OLD);
  int fd = open(place_path(&p, "w/proj"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  assert_int_equal(flock(fd, LOCK_EX), 0);
  if (getenv("REIN_LONG")) {
    assert_int_equal(put(&p, "x", NEW, &old), REIN_INPUT);
    assert_int_equal(p.err.text, T_HOST_PUT_BUSY);
  }
  close(fd);
  assert_int_equal(put(&p, "x", NEW, &old), REIN_OK);
  place_release(&p);
}

/* ---- dying and failing ---------------------------------- */

static enum rein_code counted(struct place *p, const struct files_want *want, int end, int error) {
  atomic_store(&steps, 0);
  step_end = end;
  step_error = error;
  step_n = 1;
  enum rein_code code = put(p, "sub/x", NEW, want);
  step_n = 0;
  return code;
}

/* The old file, the new one, or none where there was none. */
static bool is_new(struct place *p, bool was_there) {
  enum rein_code code = place_get(p, STR("sub/x"), FILES_READ);
  if (code != REIN_OK) assert_false(was_there);
  if (code != REIN_OK) return false;
  bool new = str_is(buf_str(&p->text), NEW);
  if (!new && !(was_there && str_is(buf_str(&p->text), OLD))) fail_msg("torn: %s", buf_z(&p->text));
  return new;
}

static void begin_with(struct place *p, bool there) {
  place_init(p);
  if (!there) return;
  place_folder(p, "w/proj/sub");
  place_file(p, "w/proj/sub/x", OLD);
  assert_int_equal(chmod(place_path(p, "w/proj/sub/x"), 0750), 0);
}

/* Dies at this step; 0: it came through. *new: what is left. */
static int dies_at(const struct files_want *want, bool there, int end, bool *new) {
  struct place p;
  struct stat st;
  int status;
  begin_with(&p, there);
  pid_t child = fork();
  if (child == 0) _exit(counted(&p, want, end, 0) == REIN_OK ? 0 : 1);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(status == 0 || WTERMSIG(status) == SIGKILL);
  *new = is_new(&p, there);
  puts_file(&p, "sub/other", OLD); /* sweeps */
  assert_true(place_count(&p, "w/proj/sub") <= 2);
  if (there) {
    assert_int_equal(stat(place_path(&p, "w/proj/sub/x"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0750);
  }
  place_release(&p);
  return status;
}

static void killed(void **state) {
  (void)state;
  struct files_want old = same(OLD);
  const struct files_want *wants[] = {&none, &any, &old};
  for (int mode = 0; mode < 3; mode++) {
    int olds = 0, news = 0, status = 1;
    for (int end = 1; status != 0; end++) {
      bool new;
      status = dies_at(wants[mode], mode > 0, end, &new);
      *(new ? &news : &olds) += 1;
    }
    print_message("killed at each of %d steps: %d old, %d new\n", olds + news - 1, olds, news - 1);
    assert_true(olds > 5 && news > 1);
  }
}

static void failing(void **state) {
  (void)state;
  static const int errors[] = {EIO, ENOSPC, EACCES};
  struct files_want old = same(OLD);
  for (int mode = 0; mode < 3; mode++)
    for (size_t e = 0; e < 3; e++) {
      const struct files_want *want = mode == 0 ? &none : mode == 1 ? &any : &old;
      int reached = 1;
      for (int end = 1; reached; end++) {
        struct place p;
        begin_with(&p, mode > 0);
        size_t fds = open_fds();
        enum rein_code code = counted(&p, want, end, errors[e]);
        struct buf said = p.text;
        enum text_id text = (enum text_id)p.err.text;
        reached = atomic_load(&steps) >= end;
        assert_int_equal(open_fds(), fds);
        buf_init(&p.text, 1u << 20);
        bool new = is_new(&p, mode > 0);
        /* The disk did not confirm it: new, and said. */
        if (code == REIN_OK || text == T_HOST_WRITE_SYNC)
          assert_true(new);
        else if (new)
          fail_msg("mode %d, step %d: %s", mode, end, said.p);
        buf_release(&said);
        puts_file(&p, "sub/other", OLD);
        assert_true(place_count(&p, "w/proj/sub") <= 2);
        place_release(&p);
      }
    }
}

/* A disk of one megabyte, full in the middle of the write. */
static bool mount_small(const char *path) {
  if (mount("tmpfs", path, "tmpfs", 0, "size=1m") == 0) return true;
  return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
         mount("tmpfs", path, "tmpfs", 0, "size=1m") == 0;
}

static int on_small_disk(struct place *p) {
  static char big[2u << 20];
  struct files files;
  struct err err = {0};
  if (!mount_small(place_path(p, "w/proj"))) return 77;
  memset(big, 'x', sizeof big - 1);
  files_close_root(&p->files);
  int status = 1;
  if (files_open_root(p->root, &files, &err) != REIN_OK) return 2;
  p->files = files;
  if (put(p, "x", OLD, &none) != REIN_OK) return 3;
  struct files_want old = same(OLD);
  if (put(p, "x", big, &old) != REIN_SYSTEM || !strstr(buf_z(&p->text), "No space left")) return 4;
  if (place_get(p, STR("x"), FILES_READ) == REIN_OK && str_is(buf_str(&p->text), OLD) &&
      place_count(p, "w/proj") == 1)
    status = 0;
  (void)umount2(place_path(p, "w/proj"), MNT_DETACH);
  return status;
}

static void full_disk(void **state) {
  (void)state;
  struct place p;
  int status;
  place_init(&p);
  pid_t child = fork();
  if (child == 0) _exit(on_small_disk(&p));
  assert_int_equal(waitpid(child, &status, 0), child);
  (void)umount2(place_path(&p, "w/proj"), MNT_DETACH);
  place_release(&p);
  if (WEXITSTATUS(status) == 77) {
    print_message("mounting a small disk is not permitted here\n");
    skip();
  }
  assert_int_equal(status, 0);
}

static void swapped_folder(void **state) {
  (void)state;
  struct place p;
  static struct swap s;
  place_init(&p);
  place_folder(&p, "outside");
  place_file(&p, "outside/x", "safe");
  place_folder(&p, "w/proj/box");
  place_link(&p, "../../outside", "w/proj/box-link");
  swap_start(&p, &s, "w/proj/box");
  int good = 0, gone = 0;
  for (int i = 0; i < 150 || ((good == 0 || atomic_load(&s.swaps) < 10) && i < 20000); i++) {
    good += put(&p, "box/x", "text", &any) == REIN_OK;
    gone += removes(&p, "box/x") == REIN_OK;
  }
  swap_stop(&s);
  print_message("%d written, %d deleted, %d swaps\n", good, gone, atomic_load(&s.swaps));
  assert_int_equal(place_count(&p, "outside"), 1);
  place_release(&p);
}

static bool scenario(void *ctx) {
  struct place *p = ctx;
  struct files_want old = same(OLD);
  struct files_place at;
  struct buf text;
  place_file(p, "w/proj/x", OLD);
  enum rein_code code = files_place_open(&p->files, STR("new/dir/y"), FILES_WRITE, &at, &p->err);
  files_place_close(&at);
  if (code != REIN_OK) return false;
  buf_init(&text, 1001);
  code = files_place_open(&p->files, STR("x"), FILES_EDIT, &at, &p->err);
  if (code == REIN_OK) code = files_place_read(&at, 1000, &text, &p->err);
  files_place_close(&at);
  buf_release(&text);
  if (code == REIN_OK) code = put(p, "x", NEW, &old);
  return code == REIN_OK && removes(p, "x") == REIN_OK;
}

static void no_memory(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  size_t fds = open_fds();
  assert_true(oom_each(scenario, &p) > 2);
  assert_int_equal(open_fds(), fds);
  place_release(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(writes),         cmocka_unit_test(refused),
      cmocka_unit_test(links),          cmocka_unit_test(forms),
      cmocka_unit_test(dress),          cmocka_unit_test(conflicts),
      cmocka_unit_test(last_moment),    cmocka_unit_test(two_processes),
      cmocka_unit_test(locked_out),     cmocka_unit_test(killed),
      cmocka_unit_test(failing),        cmocka_unit_test(full_disk),
      cmocka_unit_test(swapped_folder), cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
