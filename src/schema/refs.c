/* Follows $ref and $dynamicRef: to a part of the same document, to a document
 * that was handed over, to one of the drafts' own. Nothing else is known here,
 * and nothing is fetched.
 */
#include "schema/compile.h"
#include "schema/uri.h"

/* The text of a draft's own schema, parsed into the arena. */
static struct resource *own_document(struct compile *c, struct str uri) {
  struct json *json;
  struct str text = own_schema_text(uri);
  if (text.n == 0) return NULL;
  if (json_parse(c->arena, text, JSON_STRICT, &json, NULL)) {
    compile_full(c);
    return NULL;
  }
  return index_document(c, json, uri, SCHEMA_DRAFT_2020);
}

static struct resource *known_document(const struct compile *c, struct str uri) {
  for (const struct uri_name *name = c->uris; name; name = name->next)
    if (str_eq(name->uri, uri)) return name->resource;
  return NULL;
}

static struct str without_hash(struct str uri) {
  return str_ends(uri, STR("#")) ? str_part(uri, 0, uri.n - 1) : uri;
}

/* Under the address it was handed over with, else under its own $id. */
static struct resource *handed_document(struct compile *c, struct str uri, unsigned draft) {
  const struct schema_options *o = c->options;
  const struct schema_document *found = NULL;
  for (size_t i = 0; i < o->document_count && !found; i++)
    if (str_eq(without_hash(o->documents[i].uri), uri)) found = &o->documents[i];
  for (size_t i = 0; i < o->document_count && !found; i++)
    if (str_eq(without_hash(json_text(json_get(o->documents[i].json, "$id"))), uri))
      found = &o->documents[i];
  if (!found) return NULL;
  struct resource *resource = index_document(c, found->json, uri, draft);
  if (!resource || !index_walk(c, found->json, resource, NULL, NULL)) return NULL;
  return index_rename(c, resource);
}

struct resource *refs_document(struct compile *c, struct str uri, unsigned draft) {
  struct resource *found = known_document(c, uri);
  if (found) return found;
  found = handed_document(c, uri, draft);
  if (found || c->fail) return found;
  found = own_document(c, uri);
  return found && index_walk(c, found->root, found, NULL, NULL) ? found : NULL;
}

/* Each step of the pointer may lead into a part with an address of its own. */
static const struct sub *at_pointer(struct compile *c, struct resource *resource,
                                    struct str pointer) {
  const struct json *json = resource->root;
  const struct sub *last = index_find(c, json);
  while (json && pointer.n > 0) {
    size_t n = 1 + str_find_char(str_part(pointer, 1, pointer.n), '/');
    json = json_point(json, str_part(pointer, 0, n));
    pointer = str_part(pointer, n, pointer.n);
    const struct sub *here = json ? index_find(c, json) : NULL;
    if (here) last = here;
  }
  if (!json) return NULL;
  return index_walk(c, json, last ? last->resource : resource, last, NULL);
}

static const struct anchor *find_anchor(const struct resource *resource, struct str name) {
  for (const struct anchor *a = resource->anchors; a; a = a->next)
    if (str_eq(a->name, name)) return a;
  return NULL;
}

static const struct sub *in_document(struct compile *c, struct resource *resource,
                                     struct str fragment, const struct anchor **dynamic) {
  if (fragment.n == 0) return index_find(c, resource->root);
  if (fragment.p[0] == '/') return at_pointer(c, resource, fragment);
  const struct anchor *anchor = find_anchor(resource, fragment);
  if (!anchor) return NULL;
  if (dynamic && anchor->dynamic) *dynamic = anchor;
  return anchor->sub;
}

const struct sub *refs_find(struct compile *c, const struct sub *sub, const struct json *keyword,
                            const struct anchor **dynamic) {
  struct buf uri, fragment;
  const struct sub *found = NULL;
  struct resource *resource = NULL;
  buf_init(&uri, URI_BYTES_MAX);
  buf_init(&fragment, URI_BYTES_MAX);
  if (!json_is(keyword, JSON_STRING)) {
    compile_wrong(c, sub, keyword, T_SCHEMA_WANT_STRING, STR_NONE);
    goto out;
  }
  uri_resolve(&uri, sub->resource->uri, keyword->text);
  uri_decode(&fragment, uri_fragment(keyword->text));
  if (uri.fail == REIN_MEMORY || fragment.fail == REIN_MEMORY)
    compile_full(c);
  else if (uri.fail || fragment.fail)
    compile_limit(c, URI_BYTES_MAX, T_SCHEMA_LONG_URI);
  if (!c->fail) resource = refs_document(c, buf_str(&uri), sub->resource->draft);
  if (resource) found = in_document(c, resource, buf_str(&fragment), dynamic);
  if (!found && !c->fail)
    compile_wrong(c, sub, keyword, resource ? T_SCHEMA_REF_NOWHERE : T_SCHEMA_REF_UNKNOWN,
                  keyword->text);
out:
  buf_release(&uri);
  buf_release(&fragment);
  return found;
}
