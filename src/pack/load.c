/* From the file to the nouns. The form is held by packs/pack.schema.json; here
 * stands what a schema cannot say. Where things go wrong is said as pack, tool, field. */
#include "pack/pack.h"

#include "pack/inside.h"
#include "pack/select.h"
#include "schema/schema.h"

#include <string.h>

#define SCHEMA_BYTES_MAX (1u << 20) /* of one tool's arguments */
#define PATHS_BYTES_MAX 4096

struct load {
  struct arena *arena;
  struct pack *pack;
  struct err *err;
};

static enum rein_code no_memory(const struct load *l) {
  return ERR(l->err, REIN_MEMORY, T_PACK_MEMORY);
}

static bool keep(const struct load *l, struct str text, struct str *kept) {
  return arena_str(l->arena, text, kept);
}

static struct str text_at(const struct json *object, const char *key) {
  return json_text(json_get(object, key));
}

static int64_t whole_at(const struct json *object, const char *key, int64_t absent) {
  int64_t v = absent;
  return json_int(json_get(object, key), &v) ? v : absent;
}

/* ---- form --------------------------------------------------------------------------- */

static enum rein_code hold_shape(const struct load *l, const struct json *doc) {
  struct json *shape = NULL;
  struct schema *schema = NULL;
  struct err why = {0};
  struct buf line;
  enum rein_code code = json_parse(l->arena, pack_shape(), JSON_UNIQUE, &shape, l->err);
  if (!code) code = schema_new(shape, NULL, &schema, l->err);
  if (code) return code;
  buf_init(&line, 4096);
  code = schema_check(schema, doc, &why);
  schema_line(&line, REIN_ENGLISH, &why);
  struct str name = text_at(doc, "pack");
  if (code) code = ERR(l->err, code, T_PACK_SHAPE, name.n ? name : STR("?"), buf_str(&line));
  buf_release(&line);
  schema_free(schema);
  return code;
}

/* ---- address and secrets -------------------------------------------------------------- */

static enum rein_code read_secrets(const struct load *l, const struct json *list) {
  struct pack *pack = l->pack;
  for (const struct json *one = list ? list->first : NULL; one; one = one->next) {
    struct pack_secret *secret = &pack->secrets[pack->secret_count++];
    if (!keep(l, one->key, &secret->name) || !keep(l, json_text(one), &secret->about))
      return no_memory(l);
  }
  return REIN_OK;
}

const struct pack_secret *pack_secret(const struct pack *pack, struct str name) {
  for (size_t i = 0; i < pack->secret_count; i++)
    if (str_eq(pack->secrets[i].name, name)) return &pack->secrets[i];
  return NULL;
}

static bool is_here(struct str host) {
  struct str name, port;
  if (str_starts(host, STR("[::1]"))) return host.n == 5 || host.p[5] == ':';
  if (!str_split(host, ':', &name, &port)) name = host;
  return str_is(name, "localhost") || str_is(name, "127.0.0.1");
}

static bool is_host_text(struct str host) {
  static const char more[] = ".-:[]";
  for (size_t i = 0; i < host.n; i++) {
    char c = host.p[i];
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!plain && !memchr(more, c, sizeof more - 1)) return false;
  }
  return host.n > 0;
}

enum rein_code pack_set_url(struct arena *arena, struct pack *pack, struct str url,
                            struct err *err) {
  struct str scheme, rest, host;
  while (str_ends(url, STR("/")))
    url.n--;
  size_t cut = str_find(url, STR("://"));
  scheme = str_part(url, 0, cut);
  rest = str_part(url, cut + 3, SIZE_MAX);
  host = str_part(rest, 0, str_find_char(rest, '/'));
  bool secure = str_is(scheme, "https") || (str_is(scheme, "http") && is_here(host));
  bool plain = str_find_char(url, '?') == url.n && str_find_char(url, '#') == url.n;
  if (!secure || !plain || !is_host_text(host))
    return ERR(err, REIN_INPUT, T_PACK_URL, pack->name, url);
  return arena_str(arena, url, &pack->url) ? REIN_OK : ERR(err, REIN_MEMORY, T_PACK_MEMORY);
}

/* ---- a tool ---------------------------------------------------------------------------- */

static void read_result(struct pack_request *to, const struct json *result) {
  to->at = text_at(result, "at");
  to->empty = text_at(result, "empty");
  to->fields = json_get(result, "fields");
}

static void read_paging(struct pack_request *to, const struct json *paging) {
  to->cursor = text_at(paging, "cursor");
  to->page_as = text_at(paging, "as");
  to->page_number = text_at(paging, "number");
  to->page_size = whole_at(paging, "size", 0);
  to->pages = paging ? whole_at(paging, "pages", PACK_PAGES) : 1;
}

static enum rein_code read_request(const struct load *l, const struct json *from,
                                   struct pack_request *to) {
  struct str method = text_at(from, "method");
  if (!keep(l, method.n ? method : STR("GET"), &to->method)) return no_memory(l);
  to->as = text_at(from, "as");
  to->path = text_at(from, "path");
  to->reads = str_is(to->method, "GET") || json_true(json_get(from, "reads"));
  to->query = json_get(from, "query");
  to->headers = json_get(from, "headers");
  to->body = json_get(from, "body");
  read_result(to, json_get(from, "result"));
  read_paging(to, json_get(from, "paging"));
  return REIN_OK;
}

static enum rein_code read_requests(const struct load *l, const struct json *from,
                                    struct pack_tool *to) {
  const struct json *one = json_get(from, "http"), *steps = json_get(from, "steps");
  enum rein_code code = REIN_OK;
  if (one) {
    to->request_count = 1;
    return read_request(l, one, &to->requests[0]);
  }
  for (const struct json *step = steps->first; !code && step; step = step->next)
    code = read_request(l, step, &to->requests[to->request_count++]);
  return code;
}

static unsigned read_touches(const struct json *list) {
  static const struct {
    const char *word;
    unsigned bit;
  } words[] = {{"nothing", REIN_TOUCHES_NOTHING},
               {"reads_private", REIN_READS_PRIVATE},
               {"writes", REIN_WRITES},
               {"outside", REIN_OUTSIDE},
               {"reads_outside", REIN_READS_OUTSIDE}};
  unsigned bits = 0;
  for (const struct json *one = list ? list->first : NULL; one; one = one->next)
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
      if (str_is(json_text(one), words[i].word)) bits |= words[i].bit;
  return bits;
}

/* What a kind does in any case is not to be talked away. A request that only reads is
 * taken to send out too, unless the pack says that it asks the user's own service. */
static unsigned least_touches(const struct pack_tool *tool) {
  bool writes = false, own = tool->touches & REIN_READS_OUTSIDE;
  if (tool->kind == PACK_GIT) return REIN_READS_PRIVATE | (tool->git_writes ? REIN_WRITES : 0);
  if (tool->kind == PACK_COMMAND) return REIN_READS_PRIVATE | REIN_WRITES;
  for (size_t i = 0; i < tool->request_count; i++)
    writes = writes || !tool->requests[i].reads;
  if (writes) return REIN_READS_PRIVATE | REIN_OUTSIDE | REIN_WRITES;
  return REIN_READS_PRIVATE | (own ? REIN_READS_OUTSIDE : REIN_OUTSIDE);
}

static enum rein_code keep_paths(const struct load *l, const struct json *list,
                                 struct pack_tool *to) {
  struct buf names;
  buf_init(&names, PATHS_BYTES_MAX);
  for (const struct json *one = list ? list->first : NULL; one; one = one->next) {
    if (names.n) buf_c(&names, ',');
    buf_put(&names, json_text(one));
  }
  bool ok = !names.fail && keep(l, buf_str(&names), &to->paths);
  buf_release(&names);
  return ok ? REIN_OK : no_memory(l);
}

static enum rein_code keep_schema(const struct load *l, const struct json *schema,
                                  struct pack_tool *to) {
  struct buf text;
  buf_init(&text, SCHEMA_BYTES_MAX);
  struct json_out w = json_out(&text);
  select_put_plain(&w, schema);
  bool ok = !text.fail && keep(l, buf_str(&text), &to->schema);
  buf_release(&text);
  to->arguments = json_get(schema, "properties");
  return ok ? REIN_OK : no_memory(l);
}

static enum rein_code read_kind(const struct load *l, const struct json *from,
                                struct pack_tool *to) {
  const struct json *command = json_get(from, "command"), *git = json_get(from, "git");
  int kinds = !!json_get(from, "http") + !!json_get(from, "steps") + !!command + !!git;
  if (kinds != 1) return ERR(l->err, REIN_INPUT, T_PACK_KIND, l->pack->name, to->name);
  if (!command && !git) return read_requests(l, from, to);
  to->kind = command ? PACK_COMMAND : PACK_GIT;
  to->argv = json_get(command ? command : git, command ? "argv" : "run");
  to->secrets = json_get(command, "secrets");
  to->stdin_arguments = json_get(command, "stdin") != NULL;
  to->git_writes = json_true(json_get(git, "writes"));
  to->empty = text_at(git, "empty");
  return REIN_OK;
}

static enum rein_code read_tool(const struct load *l, const struct json *from,
                                struct pack_tool *to) {
  to->pack = l->pack;
  if (!keep(l, text_at(from, "name"), &to->name) ||
      !keep(l, text_at(from, "description"), &to->description))
    return no_memory(l);
  enum rein_code code = read_kind(l, from, to);
  if (!code) code = keep_schema(l, json_get(from, "schema"), to);
  if (!code) code = keep_paths(l, json_get(from, "paths"), to);
  to->touches = read_touches(json_get(from, "touches"));
  to->touches |= least_touches(to);
  to->idempotent = json_true(json_get(from, "idempotent"));
  to->polls = json_true(json_get(from, "polls"));
  to->timeout_s = whole_at(from, "timeout_s", 0);
  return code ? code : pack_check_tool(l->arena, to, json_get(from, "schema"), l->err);
}

static enum rein_code read_tools(const struct load *l, const struct json *list) {
  struct pack *pack = l->pack;
  enum rein_code code = REIN_OK;
  pack->tools = arena_array(l->arena, struct pack_tool, list->count);
  if (!pack->tools) return no_memory(l);
  for (const struct json *one = list->first; !code && one; one = one->next) {
    code = read_tool(l, one, &pack->tools[pack->tool_count]);
    for (size_t i = 0; !code && i < pack->tool_count; i++)
      if (str_eq(pack->tools[i].name, pack->tools[pack->tool_count].name))
        code = ERR(l->err, REIN_INPUT, T_PACK_TWICE, pack->name, pack->tools[i].name);
    pack->tool_count++;
  }
  return code;
}

/* ---- the whole --------------------------------------------------------------------------- */

static enum rein_code read_pack(const struct load *l, const struct json *doc) {
  struct pack *pack = l->pack;
  const struct json *error = json_get(doc, "error"), *pace = json_get(doc, "pace");
  if (!keep(l, text_at(doc, "pack"), &pack->name) ||
      !keep(l, text_at(doc, "url_env"), &pack->url_env))
    return no_memory(l);
  pack->about = text_at(doc, "about");
  pack->source = text_at(doc, "source");
  pack->headers = json_get(doc, "headers");
  pack->error_message = text_at(error, "message");
  pack->error_code = text_at(error, "code");
  (void)json_double(json_get(pace, "per_second"), &pack->per_second);
  pack->wait_s = whole_at(pace, "wait_s", PACK_WAIT_S);
  struct str url = text_at(doc, "url");
  enum rein_code code = read_secrets(l, json_get(doc, "secrets"));
  if (!code && url.n) code = pack_set_url(l->arena, pack, url, l->err);
  return code ? code : read_tools(l, json_get(doc, "tools"));
}

enum rein_code pack_load(struct arena *arena, struct str text, struct pack **made,
                         struct err *err) {
  struct json *doc = NULL;
  struct pack *pack = arena_new(arena, struct pack);
  struct load l = {arena, pack, err};
  *made = pack;
  if (!pack) return no_memory(&l);
  if (text.n > PACK_BYTES_MAX) return ERR(err, REIN_LIMIT, T_PACK_LONG, STR("file"));
  enum rein_code code = json_parse(arena, text, JSON_COMMENTS | JSON_UNIQUE, &doc, err);
  if (!code) code = hold_shape(&l, doc);
  return code ? code : read_pack(&l, doc);
}
