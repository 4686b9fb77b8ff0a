/* Values that a dialect takes of a keyword, and the limits of a whole schema. */
#include "schema/derive_inside.h"

#define REPEAT_MAX 100 /* A §2: "large {n,m}"; no number is published */

/* The first number of {n,m} beyond a bound; they are few and short. */
static bool repeats_much(struct str p, size_t i) {
  int64_t n = 0;
  for (i++; i < p.n && p.p[i] != '}'; i++) {
    bool digit = p.p[i] >= '0' && p.p[i] <= '9';
    n = digit && n <= REPEAT_MAX ? n * 10 + (p.p[i] - '0') : digit ? n : 0;
    if (n > REPEAT_MAX) return true;
  }
  return false;
}

/* An escape that only backtracking engines know, or that means more than a letter. */
static bool escape_is_odd(char c) {
  return (c >= '1' && c <= '9') || (c != '\0' && strchr("bBkpPuxc", c) != NULL);
}

/* No look-around, back reference, \b, named group, large repetition (A §2). */
static bool pattern_is_simple(struct str p) {
  for (size_t i = 0; i < p.n; i++) {
    struct str rest = str_part(p, i, p.n);
    bool escape = rest.p[0] == '\\';
    if (escape && (rest.n < 2 || escape_is_odd(rest.p[1]))) return false;
    if (str_starts(rest, STR("(?")) && !str_starts(rest, STR("(?:"))) return false;
    if (rest.p[0] == '{' && repeats_much(p, i)) return false;
    i += escape;
  }
  return true;
}

bool value_fits(const struct derive *d, const struct json *m, unsigned type) {
  int64_t n;
  if (str_is(m->key, "format")) return dialect_takes_format(d->dialect, json_text(m));
  if (str_is(m->key, "pattern")) return pattern_is_simple(json_text(m));
  if (str_is(m->key, "minItems")) return json_int(m, &n) && n >= 0 && n <= 1;
  return type == TYPE_INTEGER && json_int(m, &n); /* bounds */
}

/* ---- limits -------------------------------------------------------------- */

struct sums {
  size_t properties, depth, enums, name_bytes, long_bytes;
  size_t optionals, unions;
};

static void add_enum(struct sums *s, const struct json *list) {
  size_t bytes = 0, strings = 0;
  for (const struct json *e = list->first; e; e = e->next) {
    size_t n = e->kind == JSON_STRING ? e->text.n : e->source.n;
    strings += e->kind == JSON_STRING;
    bytes += n;
  }
  s->enums += list->count;
  s->name_bytes += bytes;
  if (list->count > ENUM_LONG && strings && bytes > s->long_bytes) s->long_bytes = bytes;
}

static bool listed(const struct json *list, struct str key) {
  for (const struct json *e = list ? list->first : NULL; e; e = e->next)
    if (str_eq(json_text(e), key)) return true;
  return false;
}

static void add_schema(struct sums *s, const struct json *n, size_t depth);

static void add_map(struct sums *s, const struct json *map, size_t depth) {
  for (const struct json *p = map ? map->first : NULL; p; p = p->next) {
    s->name_bytes += p->key.n;
    add_schema(s, p, depth);
  }
}

static void add_object(struct sums *s, const struct json *n, size_t depth) {
  const struct json *properties = json_get(n, "properties"), *must = json_get(n, "required");
  if (!properties) return;
  s->properties += properties->count;
  for (const struct json *p = properties->first; p; p = p->next)
    s->optionals += !listed(must, p->key);
  add_map(s, properties, depth);
}

/* Recursion: what was made is at most DERIVE_DEPTH_MAX deep. */
static void add_schema(struct sums *s, const struct json *n, size_t depth) {
  const struct json *type = json_get(n, "type"), *any = json_get(n, "anyOf");
  const struct json *list = json_get(n, "enum"), *one = json_get(n, "const");
  if (types_named(type) & (TYPE_OBJECT | TYPE_ARRAY)) depth++;
  if (depth > s->depth) s->depth = depth;
  if (list) add_enum(s, list);
  if (one) s->name_bytes += one->kind == JSON_STRING ? one->text.n : one->source.n;
  s->unions += any || json_is(type, JSON_ARRAY);
  add_object(s, n, depth);
  add_map(s, json_get(n, "$defs"), 0);
  for (const struct json *b = any ? any->first : NULL; b; b = b->next)
    add_schema(s, b, depth);
  if (json_get(n, "items")) add_schema(s, json_get(n, "items"), depth);
}

static void over(struct derive *d, const char *keyword, enum text_id why, size_t have,
                 size_t most) {
  struct num_text rooms[2];
  struct buf b[2];
  if (most == 0 || have <= most) return;
  for (size_t i = 0; i < 2; i++) {
    buf_init(&b[i], 32);
    buf_put(&b[i], str_num(&rooms[i], (int64_t)(i ? most : have)));
  }
  struct str values[2] = {text_take(d, &b[0]), text_take(d, &b[1])};
  d->is_loose = true;
  find_values(d, d->root, keyword, EFFECT_LOOSE, why, values);
}

void limits_check(struct derive *d, const struct json *out) {
  struct sums s = {0};
  const struct dialect *l = d->dialect;
  if (!out || !shaped(d, SHAPE_STRICT)) return;
  add_schema(&s, out, 0);
  over(d, "properties", T_SCHEMA_WHY_PROPERTIES_MAX, s.properties, l->properties_max);
  over(d, "properties", T_SCHEMA_WHY_DEPTH_MAX, s.depth, l->depth_max);
  over(d, "enum", T_SCHEMA_WHY_ENUM_MAX, s.enums, l->enum_max);
  over(d, "enum", T_SCHEMA_WHY_ENUM_BYTES, s.long_bytes, l->enum_long_bytes_max);
  over(d, "properties", T_SCHEMA_WHY_NAME_BYTES, s.name_bytes, l->name_bytes_max);
}

size_t count_optionals(const struct json *out) {
  struct sums s = {0};
  if (out) add_schema(&s, out, 0);
  return s.optionals;
}

size_t count_unions(const struct json *out) {
  struct sums s = {0};
  if (out) add_schema(&s, out, 0);
  return s.unions;
}
