/* What a file carries beside its bytes, across a write: its access list and extended
 * attributes stay, and the folder's default list brings in no rights. */
#include "root.h"

#include <sys/xattr.h>

static void put(struct place *p, const char *path) {
  struct files_place at;
  struct files_done done;
  struct files_want any = {FILES_ANY, 0};
  enum rein_code code = files_place_open(&p->files, str_of(path), FILES_WRITE, &at, &p->err);
  if (code == REIN_OK) code = files_place_write(&at, STR("new"), &any, &done, &p->err);
  files_place_close(&at);
  assert_int_equal(code, REIN_OK);
  assert_false(done.attrs_lost);
}

/* An access list as the kernel takes it: user rw, one more user rw, group r, mask rw. */
#define ACL_ENTRY(tag, bits, id) (tag), 0, (bits), 0, (id), (id), (id), (id)
static const unsigned char acl[] = {2,
                                    0,
                                    0,
                                    0,
                                    ACL_ENTRY(1, 6, 0xff),
                                    ACL_ENTRY(2, 6, 7),
                                    ACL_ENTRY(4, 4, 0xff),
                                    ACL_ENTRY(16, 6, 0xff),
                                    ACL_ENTRY(32, 0, 0xff)};
#define ACCESS "system.posix_acl_access"

static bool rewrite_keeps(struct place *p, const char *path, const char *name, const void *value,
                          size_t n) {
  char got[256], whole[2 * PATH_MAX];
  PRINT(whole, "%s/%s", p->root, path);
  put(p, path);
  ssize_t found = getxattr(whole, name, got, sizeof got);
  return found == (ssize_t)n && memcmp(got, value, n) == 0;
}

static void attributes(void **state) {
  (void)state;
  struct place p;
  struct stat st;
  char x[2 * PATH_MAX], box[2 * PATH_MAX];
  place_init(&p);
  place_file(&p, "w/proj/x", "old");
  place_folder(&p, "w/proj/box");
  PRINT(x, "%s/x", p.root);
  PRINT(box, "%s/box", p.root);
  if (setxattr(x, "user.from", "over there", 10, 0) != 0 ||
      setxattr(x, ACCESS, acl, sizeof acl, 0) != 0) {
    place_release(&p);
    skip();
  }
  assert_true(rewrite_keeps(&p, "x", "user.from", "over there", 10));
  assert_true(rewrite_keeps(&p, "x", ACCESS, acl, sizeof acl));
  assert_int_equal(stat(x, &st), 0);
  assert_int_equal(st.st_mode & 07777, 0660);
  /* A folder's default list is for new files, and not for one that is replaced. */
  place_file(&p, "w/proj/box/old", "old");
  assert_int_equal(chmod(place_path(&p, "w/proj/box/old"), 0660), 0);
  assert_int_equal(setxattr(box, "system.posix_acl_default", acl, sizeof acl, 0), 0);
  assert_false(rewrite_keeps(&p, "box/old", ACCESS, acl, sizeof acl));
  assert_int_equal(stat(place_path(&p, "w/proj/box/old"), &st), 0);
  assert_int_equal(st.st_mode & 07777, 0660);
  put(&p, "box/new");
  assert_true(getxattr(place_path(&p, "w/proj/box/new"), ACCESS, NULL, 0) > 0);
  place_release(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(attributes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
