/* Finds the keywords of a schema object; the table is in the header. */
#include "schema/keyword.h"

const struct keyword_row keyword_rows[KEYWORD_COUNT] = {
#define X(id, text, in, of, what) {{text, sizeof text - 1}, in, VOCABULARY_##of, HOLDS_##what},
    SCHEMA_KEYWORDS(X)
#undef X
};

static bool is_known(const struct keyword_row *row, unsigned draft, unsigned vocabulary) {
  bool formats = row->vocabulary == VOCABULARY_FORMAT_NOTE && vocabulary & VOCABULARY_FORMAT_HELD;
  return row->drafts >> draft & 1 && (row->vocabulary & vocabulary || formats);
}

static void drop_beside_ref(struct keywords *found) {
  /* Definitions stay where a $ref finds them: they are walked for their $id. */
  for (size_t k = 0; k < KEYWORD_COUNT; k++)
    if (k != KEYWORD_REF && k != KEYWORD_DEFINITIONS) found->v[k] = NULL;
}

void keywords_find(struct keywords *found, const struct json *schema, unsigned draft,
                   unsigned vocabulary) {
  *found = (struct keywords){{NULL}};
  for (const struct json *m = schema->first; m; m = m->next) {
    for (size_t k = 0; k < KEYWORD_COUNT; k++) {
      const struct keyword_row *row = &keyword_rows[k];
      if (row->name.n != m->key.n || memcmp(row->name.p, m->key.p, m->key.n) != 0) continue;
      if (is_known(row, draft, vocabulary)) found->v[k] = m;
      break;
    }
  }
  if (draft == SCHEMA_DRAFT_7 && json_is(found->v[KEYWORD_REF], JSON_STRING))
    drop_beside_ref(found);
}
