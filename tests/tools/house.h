/* What the tests of tools share: a temporary root, a call run through its row,
 * what it answered. A house per test, so that each runs alone. */
#pragma once

#include "base/mem.h"
#include "base/utf8.h"
#include "json/write.h"
#include "tools/call.h"
#include "tools/tools.h"

#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ANSWER_MAX 65536

struct house {
  char top[512];  /* the temporary folder */
  char root[600]; /* the project in it */
  struct files files;
  struct call_house house;
  struct buf answer; /* of the last call */
  bool is_error;
  enum rein_code code;
};

/* a and b one after the other into `to`; plain, since gcc's sanitizer build
 * takes snprintf into a member for a write to NULL. */
static size_t house_join(char *to, size_t cap, const char *a, const char *b) {
  size_t a_n = strlen(a), b_n = strlen(b);
  if (a_n + b_n >= cap) abort();
  memmove(to, a, a_n);
  memcpy(to + a_n, b, b_n + 1);
  return a_n + b_n;
}

__attribute__((unused)) static void house_build(struct house *h, const char *root) {
  memset(h, 0, sizeof *h);
  const char *tmp = getenv("TMPDIR");
  house_join(h->top, sizeof h->top, tmp ? tmp : P_tmpdir, "/rein-tools-XXXXXX");
  if (!mkdtemp(h->top)) fail_msg("no temporary folder %s", h->top);
  size_t at_root = house_join(h->root, sizeof h->root, h->top, "/");
  house_join(h->root, sizeof h->root, h->root, root);
  for (char *at = h->root + at_root; (at = strchr(at, '/')); at++) {
    *at = 0;
    mkdir(h->root, 0755);
    *at = '/';
  }
  mkdir(h->root, 0755);
  buf_init(&h->answer, 128u << 20);
}

__attribute__((unused)) static void house_open(struct house *h) {
  struct err err = {0};
  assert_int_equal(files_open_root(h->root, &h->files, &err), REIN_OK);
  h->house.files = &h->files;
}

__attribute__((unused)) static int house_remove(const char *path, const struct stat *st, int type,
                                                struct FTW *ftw) {
  (void)st, (void)type, (void)ftw;
  return remove(path);
}

__attribute__((unused)) static void house_drop(struct house *h) {
  if (h->house.files) files_close_root(&h->files);
  buf_release(&h->answer);
  nftw(h->top, house_remove, 16, FTW_DEPTH | FTW_PHYS);
}

/* A file below the root, folders on the way made. */
__attribute__((unused)) static void house_file(struct house *h, const char *path, struct str text) {
  char full[2048];
  snprintf(full, sizeof full, "%s/%s", h->root, path);
  for (char *at = full + strlen(h->root) + 1; (at = strchr(at, '/')); at++) {
    *at = 0;
    mkdir(full, 0755);
    *at = '/';
  }
  int fd = open(full, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  assert_true(fd >= 0);
  while (text.n) {
    ssize_t n = write(fd, text.p, text.n);
    assert_true(n > 0);
    text = str_part(text, (size_t)n, text.n);
  }
  close(fd);
}

/* What a file below `top` holds; false: it is not there. */
__attribute__((unused)) static bool house_holds(struct house *h, const char *path,
                                                const char *text) {
  char full[2048], got[4096];
  snprintf(full, sizeof full, "%s/%s", h->top, path);
  int fd = open(full, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  ssize_t n = read(fd, got, sizeof got - 1);
  close(fd);
  if (n < 0) return false;
  got[n] = 0;
  return !text || !strcmp(got, text);
}

/* Runs the shared case's make.sh in the temporary folder; false: no cases here. */
__attribute__((unused)) static bool house_case(struct house *h, const char *name) {
  char script[1024];
  const char *shared = getenv("REIN_SHARED");
  snprintf(script, sizeof script, "%s/cases/%s/make.sh", shared ? shared : "../shared", name);
  if (access(script, R_OK)) return false;
  char *full = realpath(script, NULL);
  pid_t child = fork();
  if (child == 0) {
    if (!chdir(h->top)) execl("/bin/sh", "sh", full, (char *)NULL);
    _exit(127);
  }
  free(full);
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  return true;
}

__attribute__((unused)) static char *house_shared(const char *name, size_t *n) {
  char path[1024];
  const char *shared = getenv("REIN_SHARED");
  snprintf(path, sizeof path, "%s/cases/%s", shared ? shared : "../shared", name);
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  char *text = malloc(1u << 20);
  assert_non_null(text);
  *n = fread(text, 1, (1u << 20) - 1, f);
  text[*n] = 0;
  fclose(f);
  return text;
}

/* Calls the tool; the answer is in h->answer, its truth in h->is_error. */
__attribute__((unused)) static void house_call(struct house *h, const char *tool, struct str args) {
  struct err err = {0};
  struct rein_call *call = NULL;
  const struct rein_tool *row = builtin_tool(tool);
  assert_non_null(row);
  buf_reset(&h->answer);
  h->is_error = false;
  h->code = call_new(row, &h->house, args, &call, &err);
  if (h->code) return;
  h->code = (enum rein_code)row->run(call);
  assert_true(call->answered == (h->code == REIN_OK));
  buf_put(&h->answer, buf_str(&call->result));
  h->is_error = call->is_error;
  call_free(call);
  if (!h->code) {
    assert_true(h->answer.n > 0);
    assert_true(utf8_valid(buf_str(&h->answer)));
  }
}

/* Arguments as name and text, the last name NULL. */
__attribute__((unused)) static const char *house_say(struct house *h, const char *tool, ...) {
  struct buf args;
  buf_init(&args, 8u << 20);
  struct json_out w = json_out(&args);
  json_open(&w, '{');
  va_list list;
  va_start(list, tool);
  for (const char *name; (name = va_arg(list, const char *));) {
    json_key(&w, name);
    json_put_text(&w, str_of(va_arg(list, const char *)));
  }
  va_end(list);
  json_close(&w, '}');
  house_call(h, tool, buf_str(&args));
  buf_release(&args);
  return buf_z(&h->answer);
}

__attribute__((unused)) static const char *house_json(struct house *h, const char *tool,
                                                      const char *args) {
  house_call(h, tool, str_of(args));
  return buf_z(&h->answer);
}

#define assert_has(text, part) assert_non_null(strstr((text), (part)))
#define assert_has_not(text, part) assert_null(strstr((text), (part)))

/* A call that is told to stop before it begins: an error that says so. */
__attribute__((unused)) static void house_cancelled(struct house *h, const char *tool,
                                                    struct str args) {
  struct rein_call *call = NULL;
  struct err err = {0};
  const struct rein_tool *row = builtin_tool(tool);
  assert_int_equal(call_new(row, &h->house, args, &call, &err), REIN_OK);
  atomic_store(&call->cancelled, true);
  assert_int_equal(row->run(call), REIN_OK);
  assert_true(call->is_error);
  assert_non_null(strstr(buf_z(&call->result), "cancelled"));
  call_free(call);
}
