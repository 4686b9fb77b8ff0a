/* Any bytes as a pack, and behind a zero byte as the arguments of each of its tools:
 * an address stays below its own, with steps that lead nowhere else; a body is JSON.
 */
#include "pack/template.h"

#include <stdlib.h>

#define ROOM (64u << 20)

static void check_path(struct str path) {
  struct str step, rest = str_part(path, 0, str_find_char(path, '?'));
  for (size_t i = 0; i < path.n; i++)
    if ((unsigned char)path.p[i] < 0x20) abort();
  while (str_next(&rest, '/', &step))
    if (str_is(step, ".") || str_is(step, "..")) abort();
}

static void fill(struct arena *arena, const struct pack_request *r, const struct fill_from *from) {
  static const struct body_extra none;
  struct buf out;
  struct json *made;
  struct err err;
  buf_init(&out, ROOM);
  if (template_path(&out, r, STR_NONE, from, &err) == REIN_OK) check_path(buf_str(&out));
  buf_reset(&out);
  if (r->body && template_body(&out, r->body, &none, from, &err) == REIN_OK && out.n &&
      json_parse(arena, buf_str(&out), JSON_STRICT, &made, &err) == REIN_INPUT)
    abort();
  buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct arena arena;
  struct pack *pack;
  struct json *args;
  struct err err;
  struct str all = {(const char *)data, size}, text = all, rest = STR("{}");
  (void)str_split(all, '\0', &text, &rest);
  arena_init(&arena, ROOM);
  if (pack_load(&arena, text, &pack, &err) == REIN_OK &&
      json_parse(&arena, rest, JSON_UNIQUE, &args, &err) == REIN_OK && args->kind == JSON_OBJECT)
    for (size_t i = 0; i < pack->tool_count; i++)
      for (size_t k = 0; k < pack->tools[i].request_count; k++)
        fill(&arena, &pack->tools[i].requests[k], &(struct fill_from){pack, args, STR("f")});
  arena_release(&arena);
  return 0;
}
