/* Names that are not there as they are given, and are meant all the same. */
#include "root.h"

#include "support/oom.h"

#define NFD_REPORT "\u1107\u1169\u1100\u1169.txt" /* 보고.txt taken apart */

static void other_forms(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "w/proj/\u1112\u1161\u11ab"); /* 한 */
  place_file(&p, "w/proj/\u1112\u1161\u11ab/" NFD_REPORT, "apart");
  place_file(&p, "w/proj/café", "composed");
  place_folder(&p, "w/proj/both");
  place_file(&p, "w/proj/both/보고.txt", "composed");
  place_file(&p, "w/proj/both/" NFD_REPORT, "apart");
  place_reads(&p, "한/보고.txt", "apart");
  place_reads(&p, "./한//보고.txt", "apart");
  place_reads(&p, "한/../한/" NFD_REPORT, "apart");
  place_reads(&p, "cafe\u0301", "composed");
  place_reads(&p, "both/보고.txt", "composed");
  place_reads(&p, "both/" NFD_REPORT, "apart");
  place_refuses(&p, STR("한/보고서.txt"), "is not there");
  place_refuses(&p, STR("둘/보고.txt"), "is not there");
  place_release(&p);
}

/* Two that could be meant: none is. */
static void two_of_them(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_file(&p, "w/proj/a\u0323\u0307", "one"); /* the dots in either order */
  place_file(&p, "w/proj/a\u0307\u0323", "two");
  place_refuses(&p, STR("\u1ea1\u0307"), "is not there");
  place_file(&p, "w/proj/x\xff", "one");
  place_file(&p, "w/proj/x\xfe", "two");
  place_refuses(&p, STR("x\uFFFD"), "is not there");
  place_release(&p);
}

/* What no text can name: as it was shown. */
static void as_shown(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_file(&p, "w/proj/\xff\xfe.txt", "bytes");
  place_file(&p, "w/proj/a\nb\x1b[31m", "controls");
  place_reads(&p, "\uFFFD\uFFFD.txt", "bytes");
  place_reads(&p, "a\\u{a}b\\u{1b}[31m", "controls");
  place_reads(&p, "a\nb\x1b[31m", "controls");
  place_file(&p, "w/proj/a\\u{a}b\\u{1b}[31m", "exactly so");
  place_reads(&p, "a\\u{a}b\\u{1b}[31m", "exactly so");
  place_release(&p);
}

static void no_way_out(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "outside");
  place_file(&p, "outside/" NFD_REPORT, "CANARY");
  place_file(&p, "w/" NFD_REPORT, "CANARY");
  place_link(&p, "../../outside", "w/proj/out");
  place_link(&p, "../../outside/" NFD_REPORT, "w/proj/" NFD_REPORT);
  place_refuses(&p, STR("보고.txt"), "is outside");
  place_refuses(&p, STR("out/보고.txt"), "is outside");
  place_refuses(&p, STR("../보고.txt"), "is outside");
  place_release(&p);
}

static bool scenario(void *ctx) {
  const struct place *p = ctx;
  struct err err = {0};
  int fd = -1;
  bool ok = files_open(&p->files, STR("한/보고.txt"), FILES_READ, &fd, NULL, &err) == REIN_OK;
  if (fd >= 0) close(fd);
  return ok;
}

static void no_memory(void **state) {
  (void)state;
  struct place p;
  place_init(&p);
  place_folder(&p, "w/proj/\u1112\u1161\u11ab");
  place_file(&p, "w/proj/\u1112\u1161\u11ab/" NFD_REPORT, "apart");
  size_t fds = open_fds();
  assert_true(oom_each(scenario, &p) > 0);
  assert_int_equal(open_fds(), fds);
  place_release(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(other_forms), cmocka_unit_test(two_of_them), cmocka_unit_test(as_shown),
      cmocka_unit_test(no_way_out),  cmocka_unit_test(no_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
