/* The tools of one request: each one's schema, in the strict dialect where it
 * can be and in the loose one where not; names, twins, and limits of the request.
 */
#include "schema/derive_inside.h"

#include "base/hash.h"

struct request_room {
  size_t tools, strict, optionals, unions;
};

static const char *const effect_words[] = {"moved", "rewritten", "sent loose", "refused"};

const char *effect_word(enum effect effect) {
  return effect_words[effect];
}

void finding_put(struct buf *out, enum rein_lang lang, struct str tool, const struct finding *f) {
  struct buf why;
  buf_init(&why, 64u << 10);
  TEXT_PUT(&why, lang, f->why, f->values[0], f->values[1]);
  static const enum text_id effects[] = {T_SCHEMA_EFFECT_MOVED, T_SCHEMA_EFFECT_REWRITTEN,
                                         T_SCHEMA_EFFECT_LOOSE, T_SCHEMA_EFFECT_REFUSED};
  struct str place = f->pointer.n ? f->pointer : STR("#");
  TEXT_PUT(out, lang, T_SCHEMA_FINDING, tool, place, f->keyword, str_of(f->dialect->name),
           str_of(text_raw(effects[f->effect], lang)), buf_str(&why));
  if (why.fail) out->fail = why.fail;
  buf_release(&why);
}

/* ---- names --------------------------------------------------------------- */

#define NAME_MAX_ALL 64 /* what every provider takes */

static bool fits_all(struct str name) {
  for (size_t i = 0; i < DIALECT_COUNT; i++)
    if (!dialect_takes_name(&dialects[i], name)) return false;
  return true;
}

static void put_clean(struct buf *out, struct str text, size_t most) {
  size_t from = out->n;
  for (size_t i = 0; i < text.n && out->n - from < most; i++) {
    char c = text.p[i];
    if (dialect_takes_name(&dialects[DIALECT_OPENAI], (struct str){&c, 1}))
      buf_c(out, c);
    else if (out->n > from && out->p[out->n - 1] != '_')
      buf_c(out, '_');
  }
}

/* More than what stands in for what a name cannot have. */
static bool has_letter(const struct buf *out, size_t from) {
  while (from < out->n && (out->p[from] == '_' || out->p[from] == '-'))
    from++;
  return from < out->n;
}

void tool_name_put(struct buf *out, struct str server, struct str name) {
  struct buf plain;
  buf_init(&plain, 4096);
  buf_put(&plain, server);
  if (server.n) buf_lit(&plain, "__");
  buf_put(&plain, name);
  struct str whole = buf_str(&plain);
  uint64_t hash = hash_end(hash_add(hash_num(hash_str(server), server.n), name));
  if (!plain.fail && fits_all(whole)) {
    buf_put(out, whole);
  } else {
    size_t from = out->n, room = NAME_MAX_ALL - 9; /* "_" and eight digits */
    if (!whole.n || whole.p[0] == '-' || (whole.p[0] >= '0' && whole.p[0] <= '9')) buf_c(out, 't');
    put_clean(out, whole, room - (out->n - from));
    if (!has_letter(out, from)) {
      out->n = from;
      buf_lit(out, "tool");
    }
    buf_fmt(out, "_%08x", (unsigned)(hash & 0xffffffffu));
  }
  if (plain.fail == REIN_MEMORY) out->fail = REIN_MEMORY;
  buf_release(&plain);
}

/* ---- one tool ------------------------------------------------------------ */

static void refuse(struct derive *d, const char *keyword, enum text_id why, struct str one,
                   struct str two) {
  find_values(d, d->root, keyword, EFFECT_REFUSED, why, (struct str[2]){one, two});
}

static bool name_fits(struct derive *d, const struct derive_spec *spec, size_t i) {
  struct str name = spec->tools[i].name;
  if (!name.n) {
    refuse(d, "name", T_SCHEMA_WHY_NO_NAME, STR_NONE, STR_NONE);
    return false;
  }
  if (!dialect_takes_name(d->dialect, name)) {
    struct buf b;
    buf_init(&b, 128);
    tool_name_put(&b, STR_NONE, name);
    refuse(d, "name", T_SCHEMA_WHY_NAME, name, text_take(d, &b));
    return false;
  }
  for (size_t j = 0; j < i; j++)
    if (str_eq(spec->tools[j].name, name)) {
      refuse(d, "name", T_SCHEMA_WHY_TWIN, name, STR_NONE);
      return false;
    }
  return true;
}

/* The root as a schema that can be sent at all. */
static bool root_fits(struct derive *d) {
  const struct json *type = json_get(d->root, "type");
  if (!json_is(d->root, JSON_OBJECT)) {
    refuse(d, "type", T_SCHEMA_WHY_NO_SCHEMA, STR_NONE, STR_NONE);
    return false;
  }
  if (type && !(types_named(type) & TYPE_OBJECT)) {
    refuse(d, "type", T_SCHEMA_WHY_NO_OBJECT, type->source, STR_NONE);
    return false;
  }
  return true;
}

static void put_defs(struct derive *d, struct json *out) {
  struct made defs = made_open(d, JSON_OBJECT);
  struct str name;
  struct json *one;
  while ((one = defs_take(d, &name)) != NULL && !d->too_large && !d->no_memory)
    made_add(d, &defs, name, one);
  if (!out || !defs.node || defs.node->count == 0) return;
  struct made all = {out, &out->first};
  while (*all.end)
    all.end = &(*all.end)->next;
  made_add(d, &all, STR("$defs"), defs.node);
}

/* The whole schema in d->dialect; NULL where it cannot be. */
static struct json *derive_in(struct derive *d) {
  struct json *out = derive_schema(d, d->root, true);
  put_defs(d, out);
  limits_check(d, out);
  return d->too_large ? NULL : out;
}

/* Only what made it loose is of interest of the first try. */
static void keep_causes(struct derive *d, const struct findings *first) {
  struct findings rest = d->found;
  d->found = (struct findings){0};
  for (const struct finding *f = first->first; f; f = f->next)
    if (f->effect == EFFECT_LOOSE && !finding_add(d->arena, &d->found, f)) d->no_memory = true;
  if (!rest.first) return;
  if (d->found.last)
    d->found.last->next = rest.first;
  else
    d->found.first = rest.first;
  d->found.last = rest.last;
}

static void put_sent(struct derive *d, const struct tool_schema *tool, const struct json *out,
                     struct tool_sent *sent) {
  bool changed = false;
  for (const struct finding *f = d->found.first; f; f = f->next)
    changed = changed || (f->dialect == d->dialect && f->effect != EFFECT_LOOSE);
  sent->schema = tool->schema;
  sent->strict = shaped(d, SHAPE_STRICT);
  if (!changed) return;
  struct buf b;
  buf_init(&b, 16u << 20);
  tree_put(&b, out);
  sent->schema = text_take(d, &b);
}

static bool has_room(struct derive *d, const struct request_room *room, const struct json *out) {
  const struct dialect *l = d->dialect;
  size_t optionals = count_optionals(out), unions = count_unions(out);
  enum text_id why = T_NONE;
  if (!shaped(d, SHAPE_STRICT)) return true;
  if (l->strict_tools_max && room->strict >= l->strict_tools_max) why = T_SCHEMA_WHY_STRICT_TOOLS;
  if (l->optionals_max && room->optionals + optionals > l->optionals_max)
    why = T_SCHEMA_WHY_OPTIONALS;
  if (l->unions_max && room->unions + unions > l->unions_max) why = T_SCHEMA_WHY_UNIONS;
  if (why == T_NONE) return true;
  go_loose(d, d->root, "strict", why);
  return false;
}

static void derive_again(struct derive *d, struct json **out) {
  struct derive loose = {.arena = d->arena, .lang = d->lang, .tool = d->tool, .root = d->root};
  loose.dialect = &dialects[d->dialect->loose];
  struct findings first = d->found;
  *out = derive_in(&loose);
  keep_causes(&loose, &first);
  *d = loose;
}

/* The schema as sent, where all is well. */
static void take(struct derive *d, const struct derive_spec *spec, const struct json *out,
                 struct request_room *room, struct tool_sent *sent) {
  bool strict = shaped(d, SHAPE_STRICT);
  if (spec->strict_asked && !strict && d->dialect == spec->dialect)
    find(d, d->root, "strict", EFFECT_LOOSE, T_SCHEMA_WHY_NO_STRICT);
  sent->refused = false;
  room->tools++;
  put_sent(d, &spec->tools[d->tool], out, sent);
  if (!strict) return;
  room->strict++;
  room->optionals += count_optionals(out);
  room->unions += count_unions(out);
}

static void derive_tool(struct derive *d, const struct derive_spec *spec, struct request_room *room,
                        struct tool_sent *sent) {
  bool named = name_fits(d, spec, d->tool), rooted = root_fits(d); /* each says its own */
  if (!named || !rooted) return;
  if (d->dialect->tools_max && room->tools >= d->dialect->tools_max) {
    refuse(d, "tools", T_SCHEMA_WHY_TOOLS_MAX, STR_NONE, STR_NONE);
    return;
  }
  struct json *out = derive_in(d);
  if (d->no_memory) return;
  bool fits = !d->is_loose && !d->too_large && has_room(d, room, out);
  if (shaped(d, SHAPE_STRICT) && !fits) derive_again(d, &out);
  if (d->too_large)
    refuse(d, "$ref", T_SCHEMA_WHY_LARGE, STR_NONE, STR_NONE);
  else
    take(d, spec, out, room, sent);
}

enum rein_code derive_tools(struct arena *arena, const struct derive_spec *spec,
                            struct tool_sent *sent, struct findings *findings) {
  struct request_room room = {0};
  for (size_t i = 0; i < spec->count; i++) {
    struct derive d = {.arena = arena,
                       .dialect = spec->dialect,
                       .lang = spec->model_lang,
                       .tool = i,
                       .root = spec->tools[i].doc};
    sent[i] = (struct tool_sent){.refused = true};
    if (!spec->tools[i].doc) continue;
    derive_tool(&d, spec, &room, &sent[i]);
    if (d.no_memory) return REIN_MEMORY;
    if (!d.found.first) continue;
    if (findings->last)
      findings->last->next = d.found.first;
    else
      findings->first = d.found.first;
    findings->last = d.found.last;
  }
  return REIN_OK;
}
