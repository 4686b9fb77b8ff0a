/* The list of wires, and where a wire's address is joined. */
#include "wire/wires.h"

const struct wire *const wires[] = {&wire_anthropic, &wire_openai, &wire_chat, NULL};

const struct wire *wire_by_name(struct str name) {
  for (size_t i = 0; wires[i]; i++)
    if (str_is(name, wires[i]->name)) return wires[i];
  return NULL;
}

void wire_url(struct buf *out, const struct wire *wire, struct str base) {
  struct str path = str_of(wire->path), version = STR("/v1");
  if (base.n == 0) base = str_of(wire->base_url);
  while (str_ends(base, STR("/")))
    base.n--;
  if (str_ends(base, path)) base.n -= path.n;
  if (str_starts(path, STR("/v1/")) && str_ends(base, version)) base.n -= version.n;
  buf_put(out, base);
  buf_put(out, path);
}
