/* The event-stream reader: any bytes, whole and in two ways of cutting, give
 * the same events. The first byte says how to cut. */
#include "rpc/sse.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static void note(struct buf *out, const struct sse_event *e) {
  buf_num(out, (int64_t)e->name.n);
  buf_put(out, e->name);
  buf_num(out, (int64_t)e->data.n);
  buf_put(out, e->data);
  buf_num(out, (int64_t)e->id.n);
  buf_put(out, e->id);
  buf_c(out, e->open ? 'o' : '.');
}

static void read_all(struct buf *out, struct str in, size_t piece) {
  struct sse s;
  struct sse_event e;
  sse_init(&s);
  for (size_t at = 0; at < in.n; at += piece) {
    sse_feed(&s, str_part(in, at, piece));
    while (sse_next(&s, &e))
      note(out, &e);
  }
  sse_end(&s);
  while (sse_next(&s, &e))
    note(out, &e);
  if (sse_next(&s, &e)) abort();
  buf_num(out, (int64_t)s.fail);
  sse_release(&s);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
  struct buf whole, cut;
  if (size == 0) return 0;
  struct str in = {(const char *)data + 1, size - 1};
  size_t pieces[] = {1, 1 + data[0]};
  buf_init(&whole, 64u << 20);
  buf_init(&cut, 64u << 20);
  read_all(&whole, in, in.n ? in.n : 1);
  for (size_t i = 0; i < 2; i++) {
    buf_reset(&cut);
    read_all(&cut, in, pieces[i]);
    if (!str_eq(buf_str(&whole), buf_str(&cut))) abort();
  }
  buf_release(&whole);
  buf_release(&cut);
  return 0;
}
