/* A plain rendering of what a text means, to be compared with another reader's:
 *
 *   test_dump FILE   FILE holds texts, each behind its length (4 bytes, little
 *                    endian); one line for each: "no", or the rendering
 *
 * Strings and keys are UTF-16 units in hex, numbers the bits of their double,
 * of twins the last counts, members are sorted. Without FILE it tests itself.
 */
#include "support/test.h"

#include "base/utf8.h"
#include "json/json.h"

#include <stdlib.h>

static void put_units(struct buf *b, struct str text) {
  buf_c(b, 's');
  for (size_t i = 0; i < text.n;) {
    uint32_t cp = 0;
    size_t n = utf8_next(str_part(text, i, 4), &cp);
    if (n == 0) { /* half of a pair */
      n = 3;
      cp = 0xD000 | ((uint32_t)text.p[i + 1] & 0x3F) << 6 | ((uint32_t)text.p[i + 2] & 0x3F);
    }
    i += n;
    if (cp >= 0x10000)
      buf_fmt(b, "%04x%04x", 0xD7C0 + (cp >> 10), 0xDC00 + (cp & 0x3FF));
    else
      buf_fmt(b, "%04x", cp);
  }
}

static void put_number(struct buf *b, const struct json *node) {
  double v = 0;
  if (!json_double(node, &v)) v = node->text.p[0] == '-' ? -__builtin_inf() : __builtin_inf();
  uint64_t bits;
  memcpy(&bits, &v, sizeof bits);
  buf_fmt(b, "n%016llx", (unsigned long long)bits);
}

struct member {
  char *name; /* taken */
  const struct json *value;
  size_t at;
};

static int by_name(const void *a, const void *b) {
  const struct member *left = a, *right = b;
  int order = strcmp(left->name, right->name);
  return order ? order : left->at < right->at ? -1 : 1;
}

static void put(struct buf *b, const struct json *node);

static void put_members(struct buf *b, const struct json *node) {
  struct member *all = mem_zero((node->count + 1) * sizeof *all);
  assert_non_null(all);
  size_t n = 0;
  for (const struct json *child = node->first; child; child = child->next, n++) {
    struct buf name = {.max = 1 << 20};
    put_units(&name, child->key);
    all[n] = (struct member){name.p, child, n};
  }
  qsort(all, n, sizeof *all, by_name);
  buf_c(b, '{');
  for (size_t i = 0; i < n; i++) {
    if (i + 1 < n && strcmp(all[i].name, all[i + 1].name) == 0) continue;
    buf_put(b, str_of(all[i].name));
    buf_c(b, ':');
    put(b, all[i].value);
    buf_c(b, ',');
  }
  buf_c(b, '}');
  for (size_t i = 0; i < n; i++)
    mem_free(all[i].name);
  mem_free(all);
}

static void put(struct buf *b, const struct json *node) {
  switch (node->kind) {
  case JSON_NULL: buf_lit(b, "null"); return;
  case JSON_FALSE: buf_lit(b, "false"); return;
  case JSON_TRUE: buf_lit(b, "true"); return;
  case JSON_NUMBER: put_number(b, node); return;
  case JSON_STRING: put_units(b, node->text); return;
  case JSON_ARRAY:
    buf_c(b, '[');
    for (const struct json *child = node->first; child; child = child->next) {
      put(b, child);
      buf_c(b, ',');
    }
    buf_c(b, ']');
    return;
  case JSON_OBJECT: put_members(b, node); return;
  }
}

static void dump(struct buf *b, struct str text) {
  struct arena arena;
  arena_init(&arena, 64u << 20);
  struct json *doc = NULL;
  char *room;
  if (json_parse(&arena, exact_copy(text, &room), JSON_STRICT, &doc, NULL))
    buf_lit(b, "no");
  else
    put(b, doc);
  mem_free(room);
  arena_release(&arena);
}

static void renders(void **state) {
  (void)state;
  struct buf b = {.max = 1000};
  dump(&b, STR("{\"b\":[1,-0,1e999,\"\\ud83d\",\"😀\"],\"a\":null,\"a\":true}"));
  assert_text(buf_str(&b), "{s0061:true,s0062:[n3ff0000000000000,n8000000000000000,"
                           "n7ff0000000000000,sd83d,sd83dde00,],}");
  buf_reset(&b);
  dump(&b, STR("[1,]"));
  assert_text(buf_str(&b), "no");
  buf_release(&b);
}

static int dump_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return 2;
  unsigned char size[4];
  struct buf text = {.max = 16 << 20}, line = {.max = 256 << 20};
  while (fread(size, 1, 4, f) == 4) {
    size_t n = size[0] | (size_t)size[1] << 8 | (size_t)size[2] << 16 | (size_t)size[3] << 24;
    buf_reset(&text);
    buf_reset(&line);
    char *room = buf_room(&text, n);
    if (!room || fread(room, 1, n, f) != n) return 2;
    buf_grown(&text, n);
    dump(&line, buf_str(&text));
    puts(line.fail ? "failed" : buf_z(&line));
  }
  buf_release(&text);
  buf_release(&line);
  return fclose(f) || fflush(stdout) ? 2 : 0;
}

int main(int argc, char **argv) {
  if (argc == 2) return dump_file(argv[1]);
  const struct CMUnitTest tests[] = {cmocka_unit_test(renders)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
