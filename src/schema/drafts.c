/* What a $schema stands for: one of the two drafts, or a schema of schemas that
 * was handed over and says which vocabularies it uses.
 */
#include "schema/compile.h"
#include "schema/uri.h"

static const struct {
  const char *uri;
  enum schema_draft draft;
} drafts[] = {{"json-schema.org/draft/2020-12/schema", SCHEMA_DRAFT_2020},
              {"json-schema.org/draft-07/schema", SCHEMA_DRAFT_7}};

#define VOCABULARY_PREFIX "https://json-schema.org/draft/2020-12/vocab/"
static const struct {
  const char *name;
  enum vocabulary bit;
} vocabularies[] = {{"core", VOCABULARY_CORE},
                    {"applicator", VOCABULARY_APPLICATOR},
                    {"unevaluated", VOCABULARY_UNEVALUATED},
                    {"validation", VOCABULARY_VALIDATION},
                    {"meta-data", VOCABULARY_NOTES},
                    {"content", VOCABULARY_NOTES},
                    {"format-annotation", VOCABULARY_FORMAT_NOTE},
                    {"format-assertion", VOCABULARY_FORMAT_HELD}};

static const struct {
  const char *uri, *text;
} texts[] = {
#define DRAFT(uri, text) {uri, text},
#include "schema/drafts.def"
#undef DRAFT
};

struct str own_schema_text(struct str uri) {
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    if (str_is(uri, texts[i].uri)) return str_of(texts[i].text);
  return STR_NONE;
}

/* Without the scheme, which is http in one draft and https in the other and
 * often taken for the other, and without an empty fragment. */
static struct str bare(struct str uri) {
  size_t hash = str_find_char(uri, '#');
  if (hash + 1 == uri.n) uri = str_part(uri, 0, hash);
  if (str_starts(uri, STR("http://"))) return str_part(uri, 7, uri.n);
  if (str_starts(uri, STR("https://"))) return str_part(uri, 8, uri.n);
  return uri;
}

static unsigned vocabulary_bit(struct str uri) {
  struct str prefix = STR(VOCABULARY_PREFIX);
  if (!str_starts(uri, prefix)) return 0;
  for (size_t i = 0; i < sizeof vocabularies / sizeof *vocabularies; i++)
    if (str_is(str_part(uri, prefix.n, uri.n), vocabularies[i].name)) return vocabularies[i].bit;
  return 0;
}

static bool read_vocabularies(struct compile *c, const struct sub *sub, const struct json *keyword,
                              const struct json *list, unsigned *all) {
  *all = VOCABULARY_CORE;
  for (const struct json *m = list->first; m; m = m->next) {
    unsigned bit = vocabulary_bit(m->key);
    if (!bit && json_is(m, JSON_TRUE))
      return compile_wrong(c, sub, keyword, T_SCHEMA_VOCABULARY, m->key);
    *all |= bit;
  }
  return true;
}

static bool known_draft(struct str uri, unsigned *draft) {
  for (size_t i = 0; i < sizeof drafts / sizeof *drafts; i++) {
    if (!str_is(bare(uri), drafts[i].uri)) continue;
    *draft = drafts[i].draft;
    return true;
  }
  return false;
}

static const struct json *handed(const struct compile *c, struct str uri) {
  for (size_t i = 0; i < c->options->document_count; i++)
    if (str_eq(bare(c->options->documents[i].uri), bare(uri))) return c->options->documents[i].json;
  return NULL;
}

bool schema_draft_read(struct compile *c, const struct sub *sub, const struct json *keyword,
                       struct resource *resource) {
  if (!json_is(keyword, JSON_STRING))
    return compile_wrong(c, sub, keyword, T_SCHEMA_WANT_STRING, STR_NONE);
  resource->vocabulary = VOCABULARY_ALL;
  if (known_draft(keyword->text, &resource->draft)) return true;
  const struct json *own = handed(c, keyword->text);
  if (!own || !known_draft(json_text(json_get(own, "$schema")), &resource->draft))
    return compile_wrong(c, sub, keyword, T_SCHEMA_DRAFT, keyword->text);
  const struct json *list = json_get(own, "$vocabulary");
  if (!json_is(list, JSON_OBJECT) || resource->draft == SCHEMA_DRAFT_7) return true;
  return read_vocabularies(c, sub, keyword, list, &resource->vocabulary);
}
