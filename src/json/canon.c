/* One spelling for all texts that mean the same, and sorted members, on which
 * it and the search for twins rest.
 */
#include "json/inside.h"

#include "base/mem.h"
#include "json/write.h"

static void merge(const struct json **to, const struct json **from, size_t low, size_t middle,
                  size_t high) {
  size_t left = low, right = middle;
  for (size_t i = low; i < high; i++) {
    bool take_left =
        left < middle && (right == high || str_cmp(from[left]->key, from[right]->key) <= 0);
    to[i] = take_left ? from[left++] : from[right++];
  }
}

/* Bottom-up merge sort: stable, never worse than n log n, whoever chose the
 * keys. libc's qsort has none of these and its own way to the heap. */
const struct json **json_sorted(const struct json *object) {
  size_t n = object->count;
  if (n == 0 || n > SIZE_MAX / 2 / sizeof(struct json *)) return NULL;
  const struct json **all = mem_resize(NULL, 2 * n * sizeof *all);
  if (!all) return NULL;
  const struct json **from = all, **to = all + n;
  size_t i = 0;
  for (const struct json *member = object->first; member; member = member->next)
    from[i++] = member;
  for (size_t width = 1; width < n; width *= 2) {
    for (size_t low = 0; low < n; low += 2 * width) {
      size_t middle = low + width < n ? low + width : n;
      size_t high = middle + width < n ? middle + width : n;
      merge(to, from, low, middle, high);
    }
    const struct json **swap = from;
    from = to;
    to = swap;
  }
  if (from != all) memcpy(all, from, n * sizeof *all);
  return all;
}

static void canon(struct buf *out, const struct json *node, bool trim);

static void canon_object(struct buf *out, const struct json *node, bool trim) {
  const struct json **sorted = json_sorted(node);
  if (!sorted && node->count > 0) {
    if (!out->fail) out->fail = REIN_MEMORY;
    return;
  }
  buf_c(out, '{');
  for (size_t i = 0; i < node->count; i++) {
    if (i > 0) buf_c(out, ',');
    json_quote(out, sorted[i]->key);
    buf_c(out, ':');
    canon(out, sorted[i], trim);
  }
  buf_c(out, '}');
  mem_free(sorted);
}

static void canon_array(struct buf *out, const struct json *node, bool trim) {
  buf_c(out, '[');
  for (const struct json *child = node->first; child; child = child->next) {
    if (child != node->first) buf_c(out, ',');
    canon(out, child, trim);
  }
  buf_c(out, ']');
}

/* Recursion is bounded by the reader's JSON_DEPTH_MAX. */
static void canon(struct buf *out, const struct json *node, bool trim) {
  if (out->fail) return;
  switch (node->kind) {
  case JSON_NULL: buf_lit(out, "null"); return;
  case JSON_FALSE: buf_lit(out, "false"); return;
  case JSON_TRUE: buf_lit(out, "true"); return;
  case JSON_NUMBER: json_canon_number(out, node->text); return;
  case JSON_STRING: json_quote(out, trim ? str_trim(node->text) : node->text); return;
  case JSON_ARRAY: canon_array(out, node, trim); return;
  case JSON_OBJECT: canon_object(out, node, trim); return;
  }
}

void json_canon(struct buf *out, const struct json *node, bool trim) {
  if (node) canon(out, node, trim);
}
