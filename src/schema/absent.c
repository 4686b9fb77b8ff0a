/* Drops nulls that stand for "absent", at any depth. Which subschemas describe a
 * value is gathered on the way down: through references, allOf, and those
 * branches of a choice that the value's own constants do not rule out.
 */
#include "schema/absent.h"

#include "json/write.h"
#include "schema/compile.h"
#include "schema/eval.h"

/* Subschemas that describe one value: more are a choice of hundreds. */
#define DESCRIBED_MAX 256

struct described {
  const struct sub *v[DESCRIBED_MAX];
  bool sure[DESCRIBED_MAX]; /* it does in any case: no branch of a choice */
  size_t n;
};

struct absent {
  struct check check;
  struct json_out *w; /* NULL: only looks whether there is one */
  bool any;
};

static const struct json null_value = {.kind = JSON_NULL, .source = {"null", 4}};

/* d->n: it is not there. */
static size_t place_of(const struct described *d, const struct sub *sub) {
  size_t i = 0;
  while (i < d->n && d->v[i] != sub)
    i++;
  return i;
}

/* Whether the constants of a branch are those of the value: what tells one
 * alternative from another. A null says nothing. */
static bool is_possible(struct check *c, const struct sub *sub, const struct json *value) {
  if (!type_fits(sub->types, value)) return false;
  for (size_t r = 0; r < sub->rule_n; r++) {
    const struct members *m = sub->rules[r].op == RULE_MEMBERS ? sub->rules[r].members : NULL;
    for (size_t i = 0; m && i < m->n; i++) {
      const struct sub *member = m->v[i].sub;
      bool constant = member && member->rule_n > 0 && member->rules[0].op == RULE_VALUES;
      const struct json *has_it = constant ? json_member(value, m->v[i].key) : NULL;
      if (has_it && !json_is(has_it, JSON_NULL) && !eval(c, member, has_it, NULL)) return false;
    }
  }
  return true;
}

static void gather(struct check *c, const struct sub *sub, const struct json *value, bool sure,
                   struct described *d);

/* A branch behind a reference is told apart by what it refers to. */
static const struct sub *meant_by(struct check *c, const struct sub *branch) {
  while (branch->rule_n == 1 && branch->rules[0].op == RULE_REF && check_spend(c, 1))
    branch = branch->rules[0].sub;
  return branch;
}

static void gather_rule(struct check *c, const struct rule *rule, const struct json *value,
                        bool sure, struct described *d) {
  const struct sub *next;
  bool choice = rule->op == RULE_ANY || rule->op == RULE_ONE;
  bool in_place = choice || rule->op == RULE_REF || rule->op == RULE_ALL;
  if (rule->op == RULE_DYNAMIC_REF) gather(c, dynamic_target(c, rule->dynamic), value, sure, d);
  for (size_t i = 0; in_place && (next = rule_in_place(rule, i)); i++)
    if (!choice || is_possible(c, meant_by(c, next), value))
      gather(c, next, value, sure && !choice, d);
}

/* Each sub once, or twice where it turns out to be sure; that bounds the recursion. */
static void gather(struct check *c, const struct sub *sub, const struct json *value, bool sure,
                   struct described *d) {
  size_t at = place_of(d, sub);
  bool known = at < d->n && (d->sure[at] || !sure);
  if (known || at == DESCRIBED_MAX || !check_spend(c, 1)) return;
  d->v[at] = sub;
  d->sure[at] = sure;
  d->n += at == d->n;
  for (size_t r = 0; r < sub->rule_n; r++)
    gather_rule(c, &sub->rules[r], value, sure, d);
}

static const struct rule *rule_of(const struct sub *sub, enum rule_op op) {
  for (size_t r = 0; r < sub->rule_n; r++)
    if (sub->rules[r].op == op) return &sub->rules[r];
  return NULL;
}

/* What describes a member of a value, from what describes the value. */
static void gather_member(struct check *c, const struct described *d, const struct json *member,
                          struct described *below) {
  below->n = 0;
  for (size_t i = 0; i < d->n; i++) {
    const struct rule *rule = rule_of(d->v[i], RULE_MEMBERS);
    const struct member *known = rule ? members_find(rule->members, member->key) : NULL;
    if (known && known->sub)
      gather(c, known->sub, member, d->sure[i], below);
    else if (rule && rule->members->rest && !rule->members->pattern_n)
      gather(c, rule->members->rest, member, d->sure[i], below);
  }
}

static void gather_item(struct check *c, const struct described *d, const struct json *item,
                        size_t i, struct described *below) {
  below->n = 0;
  for (size_t k = 0; k < d->n; k++) {
    const struct rule *rule = rule_of(d->v[k], RULE_ITEMS);
    if (!rule) continue;
    const struct items *items = rule->items;
    const struct sub *sub = i < items->first.n ? items->first.v[i] : items->rest;
    if (sub) gather(c, sub, item, d->sure[k], below);
  }
}

/* What is said of a member that is null. */
struct said {
  bool named, needed; /* it has a schema; it is required, or may be null */
  bool surely_named, surely_needed;
};

static void hear(struct check *c, const struct member *known, bool sure, struct said *said) {
  bool needed = known->required || (known->sub && eval(c, known->sub, &null_value, NULL));
  said->named = said->named || known->sub;
  said->needed = said->needed || needed;
  said->surely_named = said->surely_named || (sure && known->sub);
  said->surely_needed = said->surely_needed || (sure && needed);
}

/* What is sure to describe the value beats the branches of its choices: where that takes
 * no null and can do without the member, a branch that asks for it is not meant. */
static bool stands_for_absent(struct check *c, const struct described *d,
                              const struct json *member) {
  struct said said = {0};
  if (!json_is(member, JSON_NULL)) return false;
  for (size_t i = 0; i < d->n; i++) {
    const struct rule *rule = rule_of(d->v[i], RULE_MEMBERS);
    const struct member *known = rule ? members_find(rule->members, member->key) : NULL;
    if (known) hear(c, known, d->sure[i], &said);
  }
  if (c->fail || said.surely_needed) return false;
  return said.surely_named || (said.named && !said.needed);
}

static void drop(struct absent *a, const struct described *d, const struct json *value);

static void drop_members(struct absent *a, const struct described *d, const struct json *value,
                         struct described *below) {
  for (const struct json *m = value->first; m && !a->check.fail; m = m->next) {
    if (stands_for_absent(&a->check, d, m)) {
      a->any = true;
      continue;
    }
    if (a->w) json_key_str(a->w, m->key);
    gather_member(&a->check, d, m, below);
    drop(a, below, m);
  }
}

static void drop_items(struct absent *a, const struct described *d, const struct json *value,
                       struct described *below) {
  size_t i = 0;
  for (const struct json *item = value->first; item && !a->check.fail; item = item->next) {
    gather_item(&a->check, d, item, i++, below);
    drop(a, below, item);
  }
}

static void drop_inside(struct absent *a, const struct described *d, const struct json *value) {
  bool object = json_is(value, JSON_OBJECT);
  struct described *below = check_alloc(&a->check, sizeof *below, 1);
  if (!below) return;
  if (a->w) json_open(a->w, object ? '{' : '[');
  if (object)
    drop_members(a, d, value, below);
  else
    drop_items(a, d, value, below);
  if (a->w) json_close(a->w, object ? '}' : ']');
}

/* Recursion is bounded by the reader's JSON_DEPTH_MAX. What nothing describes, or
 * holds nothing, is copied as it is. */
static void drop(struct absent *a, const struct described *d, const struct json *value) {
  if (a->check.fail) return;
  if (d->n > 0 && value->first && value->kind >= JSON_ARRAY)
    drop_inside(a, d, value);
  else if (a->w)
    json_put_raw(a->w, value->source);
}

static bool has_null(const struct json *value) {
  for (const struct json *one = value->first; one; one = one->next)
    if (json_is(one, JSON_NULL) || has_null(one)) return true;
  return false;
}

static enum rein_code pass(struct schema *schema, const struct json *args, struct json_out *w,
                           bool *any, struct err *err) {
  struct absent a = {.w = w};
  struct num_text room;
  check_init(&a.check, schema);
  struct described *d = check_alloc(&a.check, sizeof *d, 1);
  if (d) {
    gather(&a.check, schema->root, args, true, d);
    drop(&a, d, args);
  }
  *any = a.any;
  enum rein_code code = a.check.fail;
  if (code == REIN_MEMORY) ERR(err, code, T_SCHEMA_NO_MEMORY);
  if (code == REIN_LIMIT)
    ERR(err, code, a.check.why, str_of(text_raw(T_SCHEMA_ROOT, schema->lang)),
        str_num(&room, a.check.why == T_SCHEMA_DEEP ? SCHEMA_DEPTH_MAX : SCHEMA_STEPS_MAX));
  check_release(&a.check);
  return code;
}

enum rein_code absent_drop(struct schema *schema, const struct json *args, struct buf *out,
                           bool *dropped, struct err *err) {
  *dropped = false;
  if (!has_null(args)) return REIN_OK;
  enum rein_code code = pass(schema, args, NULL, dropped, err);
  if (code || !*dropped) return code;
  struct json_out w = json_out(out);
  code = pass(schema, args, &w, dropped, err);
  if (!code && out->fail) code = ERR(err, out->fail, T_SCHEMA_NO_MEMORY);
  return code;
}
