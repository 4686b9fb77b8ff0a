/* Buffers, arenas, hashes, wiping: ceilings, failing heap, nothing lost. */
#include "support/test.h"

#include "base/arena.h"
#include "base/hash.h"
#include "support/oom.h"

static void buffer_grows(void **state) {
  (void)state;
  struct buf b;
  buf_init(&b, 4096);
  assert_string_equal(buf_z(&b), "");
  buf_lit(&b, "n=");
  buf_num(&b, -42);
  buf_c(&b, ' ');
  buf_fmt(&b, "%s %.*s %zu", "fmt", 2, "abc", (size_t)9);
  assert_text(buf_str(&b), "n=-42 fmt ab 9");
  assert_int_equal(b.p[b.n], 0);
  buf_cut(&b, 2);
  assert_string_equal(buf_z(&b), "n=");
  buf_cut(&b, 9);
  assert_int_equal(b.n, 2);
  for (int i = 0; i < 1000; i++)
    buf_c(&b, 'x');
  assert_int_equal(b.n, 1002);
  buf_reset(&b);
  assert_string_equal(buf_z(&b), "");
  buf_release(&b);
  buf_release(&b);
  struct buf none = {0};
  buf_release(&none);
}

static void buffer_has_a_ceiling(void **state) {
  (void)state;
  struct buf b;
  buf_init(&b, 8);
  buf_lit(&b, "12345678");
  assert_int_equal(b.fail, REIN_OK);
  buf_c(&b, '9');
  assert_int_equal(b.fail, REIN_LIMIT);
  buf_put(&b, STR_NONE);
  buf_lit(&b, "");
  assert_text(buf_str(&b), "12345678");
  buf_cut(&b, 0);
  buf_c(&b, 'x'); /* it stays failed until reset */
  assert_int_equal(b.n, 0);
  buf_reset(&b);
  buf_c(&b, 'x');
  assert_text(buf_str(&b), "x");
  assert_null(buf_room(&b, SIZE_MAX));
  assert_int_equal(b.fail, REIN_LIMIT);
  buf_release(&b);
  buf_init(&b, SIZE_MAX); /* no ceiling but the address space */
  buf_lit(&b, "y");
  assert_int_equal(b.fail, REIN_OK);
  assert_null(buf_room(&b, SIZE_MAX));
  buf_release(&b);
}

static bool fills_buffer(void *ctx) {
  (void)ctx;
  struct buf b;
  buf_init(&b, 100000);
  for (int i = 0; i < 2000; i++)
    buf_fmt(&b, "%d,", i);
  bool well = b.fail == REIN_OK;
  assert_true(well || b.fail == REIN_MEMORY);
  if (well) assert_int_equal(b.n, 8890);
  if (b.p) assert_int_equal(b.p[b.n], 0);
  buf_release(&b);
  return well;
}

static bool fills_arena(void *ctx) {
  (void)ctx;
  struct arena a;
  arena_init(&a, 1 << 20);
  bool well = true;
  for (size_t i = 1; i < 200 && well; i++) {
    char *p = arena_alloc(&a, i * 7);
    well = p != NULL;
    if (!well) break;
    for (size_t k = 0; k < i * 7; k++)
      assert_int_equal(p[k], 0);
    memset(p, 0xAA, i * 7);
    assert_int_equal((uintptr_t)p % _Alignof(max_align_t), 0);
  }
  struct str copy = STR_NONE;
  well = well && arena_str(&a, STR("text"), &copy);
  if (well) assert_string_equal(copy.p, "text");
  assert_false(a.full);
  arena_release(&a);
  return well;
}

static void put_all_ways(struct buf *b) {
  buf_lit(b, "one");
  buf_c(b, ',');
  buf_num(b, -17);
  buf_fmt(b, "<%s|%5d>", "\xea\xb0\x80", 42);
  char *room = buf_room(b, 3);
  if (room) memcpy(room, "abc", 3);
  if (room) buf_grown(b, 3);
  buf_cut(b, b->n - 1);
  buf_c(b, '.');
}

static void buffer_counts(void **state) {
  struct buf kept, counted;
  (void)state;
  buf_init(&kept, 100);
  buf_init_count(&counted, 100);
  for (int i = 0; i < 3; i++) {
    put_all_ways(&kept);
    put_all_ways(&counted);
    assert_int_equal(counted.n, kept.n);
  }
  buf_reset(&counted);
  assert_int_equal(counted.n, 0);
  for (int i = 0; i < 101; i++)
    buf_c(&counted, 'x');
  assert_int_equal(counted.n, 100);
  assert_int_equal(counted.fail, REIN_LIMIT);
  buf_release(&counted);
  buf_release(&kept);
}

static void every_allocation_fails(void **state) {
  (void)state;
  assert_true(oom_each(fills_buffer, NULL) > 10);
  assert_true(oom_each(fills_arena, NULL) > 10);
}

static void arena_has_a_ceiling(void **state) {
  (void)state;
  struct arena a;
  arena_init(&a, 10000);
  size_t got = 0;
  while (arena_alloc(&a, 100))
    got += 100;
  assert_true(a.full);
  assert_true(a.used <= 10000);
  assert_true(got > 8000); /* the ceiling is used, not only approached */
  arena_release(&a);
  assert_true(arena_alloc(&a, 9000) != NULL); /* it can be used again */
  assert_null(arena_alloc(&a, SIZE_MAX));
  assert_null(arena_alloc(&a, SIZE_MAX - 20));
  assert_null(arena_alloc_array(&a, SIZE_MAX / 2, 3));
  assert_non_null(arena_alloc(&a, 0));
  arena_release(&a);
  struct arena none = {0};
  assert_null(arena_alloc(&none, 1));
  arena_release(&none);
}

static void arena_keeps_its_block(void **state) {
  (void)state;
  struct arena a;
  arena_init(&a, 1 << 20);
  char *first = arena_alloc(&a, 16);
  assert_non_null(arena_alloc(&a, 5000)); /* a block of its own */
  char *second = arena_alloc(&a, 16);
  assert_ptr_equal(second, first + 16);
  /* Blocks of both kinds in turn: the leak checker sees one that is lost. */
  for (int i = 0; i < 50; i++)
    assert_non_null(arena_alloc(&a, i % 3 ? 700 : 9000));
  arena_release(&a);
}

static void hashes(void **state) {
  (void)state;
  assert_true(hash_str(STR("a")) != hash_str(STR("b")));
  assert_true(hash_str(STR("")) == hash_str(STR_NONE));
  assert_true(hash_add(hash_add(HASH_START, STR("ab")), STR("c")) ==
              hash_add(HASH_START, STR("abc")));
  assert_true(hash_num(HASH_START, 1) != hash_num(HASH_START, UINT64_C(1) << 56));
  /* Texts that differ in one byte differ in about half of the hash's bits. */
  int bits = 0;
  for (int c = 0; c < 256; c++) {
    char one[2] = {'x', (char)c}, other[2] = {'x', (char)(c ^ 1)};
    bits += __builtin_popcountll(hash_str((struct str){one, 2}) ^ hash_str((struct str){other, 2}));
  }
  assert_in_range(bits, 256 * 30, 256 * 34);
}

static void wipes(void **state) {
  (void)state;
  char secret[] = "sk-key";
  mem_wipe(secret, sizeof secret);
  for (size_t i = 0; i < sizeof secret; i++)
    assert_int_equal(secret[i], 0);
  mem_wipe(NULL, 0);
  mem_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(buffer_grows),
      cmocka_unit_test(buffer_has_a_ceiling),
      cmocka_unit_test(buffer_counts),
      cmocka_unit_test(every_allocation_fails),
      cmocka_unit_test(arena_has_a_ceiling),
      cmocka_unit_test(arena_keeps_its_block),
      cmocka_unit_test(hashes),
      cmocka_unit_test(wipes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
