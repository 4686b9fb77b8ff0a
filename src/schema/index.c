/* Walks a document: every subschema gets its place in the table, every $id and
 * anchor its name. Keywords are not read here, only what stands below them.
 */
#include "schema/compile.h"

#include "base/hash.h"
#include "schema/uri.h"

#define SUBS_FIRST 64

static size_t slot_of(const struct compile *c, const struct json *json) {
  size_t i = (size_t)hash_end(hash_num(HASH_START, (uintptr_t)json)) & (c->slot_n - 1);
  while (c->slot[i] && c->subs[c->slot[i] - 1]->json != json)
    i = (i + 1) & (c->slot_n - 1);
  return i;
}

struct sub *index_find(const struct compile *c, const struct json *json) {
  if (c->slot_n == 0) return NULL;
  uint32_t found = c->slot[slot_of(c, json)];
  return found ? c->subs[found - 1] : NULL;
}

/* Tables of twice the size; the old ones stay in the arena until it ends. */
static bool grow(struct compile *c) {
  size_t cap = c->sub_cap ? 2 * c->sub_cap : SUBS_FIRST;
  struct sub **subs = arena_array(c->arena, struct sub *, cap);
  uint32_t *slot = arena_array(c->arena, uint32_t, 2 * cap);
  if (!subs || !slot) return compile_full(c);
  if (c->sub_n) memcpy(subs, c->subs, c->sub_n * sizeof *subs);
  c->subs = subs;
  c->sub_cap = cap;
  c->slot = slot;
  c->slot_n = 2 * cap;
  for (size_t i = 0; i < c->sub_n; i++)
    slot[slot_of(c, subs[i]->json)] = (uint32_t)i + 1;
  return true;
}

static struct sub *add_sub(struct compile *c, const struct json *json) {
  if (c->sub_n >= SCHEMA_SUBS_MAX) {
    compile_limit(c, SCHEMA_SUBS_MAX, T_SCHEMA_TOO_MANY_SUBS);
    return NULL;
  }
  if (c->sub_n == c->sub_cap && !grow(c)) return NULL;
  struct sub *sub = arena_new(c->arena, struct sub);
  if (!sub) {
    compile_full(c);
    return NULL;
  }
  sub->json = json;
  sub->types = json->kind == JSON_FALSE ? 0 : TYPE_ANY;
  sub->to = sub;
  sub->number = (uint32_t)c->sub_n;
  c->slot[slot_of(c, json)] = (uint32_t)c->sub_n + 1;
  c->subs[c->sub_n++] = sub;
  return sub;
}

static bool count_name(struct compile *c) {
  return ++c->names <= SCHEMA_NAMES_MAX ||
         compile_limit(c, SCHEMA_NAMES_MAX, T_SCHEMA_TOO_MANY_NAMES);
}

static bool add_uri(struct compile *c, struct resource *resource) {
  struct uri_name *name = arena_new(c->arena, struct uri_name);
  if (!name) return compile_full(c);
  *name = (struct uri_name){resource->uri, resource, c->uris};
  c->uris = name;
  return count_name(c);
}

struct resource *index_document(struct compile *c, const struct json *json, struct str uri,
                                unsigned draft) {
  struct resource *resource = arena_new(c->arena, struct resource);
  if (!resource) {
    compile_full(c);
    return NULL;
  }
  *resource = (struct resource){.root = json, .draft = draft, .vocabulary = VOCABULARY_ALL};
  if (!arena_str(c->arena, uri, &resource->uri)) {
    compile_full(c);
    return NULL;
  }
  return add_uri(c, resource) ? resource : NULL;
}

struct resource *index_rename(struct compile *c, struct resource *resource) {
  struct resource *own = index_find(c, resource->root)->resource;
  for (struct uri_name *name = c->uris; name; name = name->next)
    if (name->resource == resource) name->resource = own;
  return own;
}

static bool add_anchor(struct compile *c, struct sub *sub, struct str name, bool dynamic) {
  struct anchor *anchor = arena_new(c->arena, struct anchor);
  if (!anchor) return compile_full(c);
  *anchor = (struct anchor){name, sub, dynamic, sub->resource->anchors};
  sub->resource->anchors = anchor;
  return count_name(c);
}

static bool read_anchor(struct compile *c, struct sub *sub, const struct json *keyword,
                        bool dynamic) {
  if (!keyword) return true;
  if (!json_is(keyword, JSON_STRING) || keyword->text.n == 0)
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_STRING, STR_NONE);
  return add_anchor(c, sub, keyword->text, dynamic);
}

static bool add_resource(struct compile *c, struct sub *sub, struct str id) {
  struct buf uri;
  buf_init(&uri, URI_BYTES_MAX);
  uri_resolve(&uri, sub->resource->uri, id);
  if (uri.fail == REIN_LIMIT) compile_limit(c, URI_BYTES_MAX, T_SCHEMA_LONG_URI);
  if (uri.fail == REIN_MEMORY) compile_full(c);
  struct resource *outer = sub->resource;
  if (!c->fail && !str_eq(buf_str(&uri), outer->uri)) {
    sub->resource = index_document(c, sub->json, buf_str(&uri), outer->draft);
    if (sub->resource) sub->resource->vocabulary = outer->vocabulary;
  }
  buf_release(&uri);
  return !c->fail;
}

/* An $id makes a resource; in draft 7 one that is a fragment alone is an anchor. */
static bool read_id(struct compile *c, struct sub *sub, const struct json *keyword) {
  struct str id = json_text(keyword), fragment = uri_fragment(id);
  if (!json_is(keyword, JSON_STRING))
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_STRING, STR_NONE);
  bool alone = id.n > 0 && id.p[0] == '#';
  if (alone && fragment.n > 0 && sub->resource->draft == SCHEMA_DRAFT_7)
    return add_anchor(c, sub, fragment, false);
  if (fragment.n > 0) return compile_wrong(c, sub, keyword, T_SCHEMA_ID_FRAGMENT, STR_NONE);
  return alone || add_resource(c, sub, id);
}

/* The keywords that name the place; `found` is read again where they change the draft. */
static bool read_names(struct compile *c, struct sub *sub, struct keywords *found) {
  const struct json *id = found->v[KEYWORD_ID];
  if (id && !read_id(c, sub, id)) return false;
  const struct json *schema = json_get(sub->json, "$schema");
  if (schema && sub->resource->root == sub->json) {
    const struct json *member = sub->json->first;
    while (!str_is(member->key, "$schema"))
      member = member->next;
    if (!schema_draft_read(c, sub, member, sub->resource)) return false;
    keywords_find(found, sub->json, sub->resource->draft, sub->resource->vocabulary);
  }
  return read_anchor(c, sub, found->v[KEYWORD_ANCHOR], false) &&
         read_anchor(c, sub, found->v[KEYWORD_DYNAMIC_ANCHOR], true);
}

static bool walk_each(struct compile *c, struct sub *sub, const struct json *keyword, bool lists) {
  for (const struct json *child = keyword->first; child; child = child->next)
    if (!(lists && json_is(child, JSON_ARRAY)) &&
        !index_walk(c, child, sub->resource, sub, keyword))
      return false;
  return true;
}

static bool walk_list(struct compile *c, struct sub *sub, const struct json *keyword) {
  if (!json_is(keyword, JSON_ARRAY) || keyword->count == 0)
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_LIST, STR_NONE);
  return walk_each(c, sub, keyword, false);
}

static bool walk_map(struct compile *c, struct sub *sub, const struct json *keyword, bool lists) {
  if (!json_is(keyword, JSON_OBJECT))
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_MAP, STR_NONE);
  return walk_each(c, sub, keyword, lists);
}

static bool walk_one(struct compile *c, struct sub *sub, const struct json *keyword) {
  return index_walk(c, keyword, sub->resource, sub, keyword) != NULL;
}

static bool walk_below(struct compile *c, struct sub *sub, enum keyword k,
                       const struct json *keyword) {
  bool list = json_is(keyword, JSON_ARRAY);
  switch (keyword_rows[k].holds) {
  case HOLDS_DATA: return true;
  case HOLDS_SCHEMA: return walk_one(c, sub, keyword);
  case HOLDS_LIST: return walk_list(c, sub, keyword);
  case HOLDS_MAP: return walk_map(c, sub, keyword, false);
  case HOLDS_NEEDS: return walk_map(c, sub, keyword, true);
  case HOLDS_EITHER:
    if (!list) return walk_one(c, sub, keyword);
    if (sub->resource->draft != SCHEMA_DRAFT_7)
      return compile_wrong(c, sub, keyword, T_SCHEMA_ITEMS_LIST, STR_NONE);
    return walk_each(c, sub, keyword, false);
  }
  return true;
}

/* Recursion is bounded by the reader's JSON_DEPTH_MAX. */
struct sub *index_walk(struct compile *c, const struct json *json, struct resource *resource,
                       const struct sub *parent, const struct json *keyword) {
  struct sub *sub = index_find(c, json);
  if (sub) return sub;
  sub = add_sub(c, json);
  if (!sub) return NULL;
  sub->resource = resource;
  sub->parent = parent;
  sub->keyword = keyword;
  if (json_is(json, JSON_TRUE) || json_is(json, JSON_FALSE)) return sub;
  if (!json_is(json, JSON_OBJECT)) {
    compile_wrong(c, sub, NULL, T_SCHEMA_WANT_SCHEMA, STR_NONE);
    return NULL;
  }
  struct keywords found;
  keywords_find(&found, json, resource->draft, resource->vocabulary);
  bool fine = read_names(c, sub, &found);
  for (size_t k = 0; k < KEYWORD_COUNT && fine; k++)
    if (found.v[k]) fine = walk_below(c, sub, (enum keyword)k, found.v[k]);
  return fine ? sub : NULL;
}
