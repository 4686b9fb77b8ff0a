/* A script file: read and checked once, with the place of each mistake; then
 * asked for the answer to a request. What a request says is script_talk.c's,
 * the bytes of a reply are script_play.c's. */
#include "base/mem.h"
#include "base/utf8.h"
#include "json/write.h"
#include "text/text.h"
#include "wire/script_parts.h"

#define SCRIPT_TREE_MAX (256u << 20)
#define ANSWER_MAX (32u << 20)
#define TALK_MAX (512u << 20) /* the tree of a request of 32 MB */
#define HEADERS_MAX 65536

/* -- reading -- */

/* Lines and columns as people count them: columns in code points. */
static enum rein_code bad_at(const struct script *s, struct str where, enum text_id id,
                             struct str value, struct err *err) {
  enum rein_code code = ERR(err, REIN_INPUT, id, value);
  if (!err) return code;
  err->at = (uint64_t)(where.p - s->text.p);
  struct str before = str_part(s->text, 0, (size_t)err->at), line = before;
  for (err->line = 1; str_split(line, '\n', &before, &line); err->line++)
    ;
  err->column = (uint32_t)utf8_count(line) + 1;
  return code;
}

static enum rein_code bad(const struct script *s, const struct json *node, enum text_id id,
                          struct str value, struct err *err) {
  return bad_at(s, node->source, id, value, err);
}

static bool is_among(struct str key, const char *const *known) {
  for (; *known; known++)
    if (str_is(key, *known)) return true;
  return false;
}

static enum rein_code check_members(const struct script *s, const struct json *object,
                                    const char *const *known, struct err *err) {
  if (!json_is(object, JSON_OBJECT)) return bad(s, object, T_WIRE_SCRIPT_OBJECT, STR_NONE, err);
  for (const struct json *m = object->first; m; m = m->next)
    if (!is_among(m->key, known))
      return bad_at(s, m->key_source, T_WIRE_SCRIPT_MEMBER, m->key, err);
  return REIN_OK;
}

static enum rein_code check_template(const struct script *s, const struct json *node,
                                     struct err *err) {
  struct str unknown;
  if (json_is(node, JSON_STRING) && !fill_check(node->text, &unknown))
    return bad(s, node, T_WIRE_SCRIPT_TEMPLATE, unknown, err);
  enum rein_code code = REIN_OK;
  for (const struct json *m = node->first; m && code == REIN_OK; m = m->next)
    code = check_template(s, m, err);
  return code;
}

/* A string, or one per language. */
static enum rein_code check_text(const struct script *s, const struct json *reply, const char *key,
                                 struct err *err) {
  static const char *const languages[] = {"ko", "en", NULL};
  const struct json *text = json_get(reply, key);
  if (!text) return REIN_OK;
  if (json_is(text, JSON_STRING)) return check_template(s, text, err);
  if (!json_is(text, JSON_OBJECT)) return bad(s, text, T_WIRE_SCRIPT_TEXT, str_of(key), err);
  enum rein_code code = check_members(s, text, languages, err);
  for (const struct json *m = text->first; m && code == REIN_OK; m = m->next)
    code = json_is(m, JSON_STRING) ? check_template(s, m, err)
                                   : bad(s, m, T_WIRE_SCRIPT_TEXT, str_of(key), err);
  return code;
}

static enum rein_code check_call(const struct script *s, const struct json *call, struct err *err) {
  static const char *const members[] = {"name", "input", NULL};
  enum rein_code code = check_members(s, call, members, err);
  if (code != REIN_OK) return code;
  const struct json *input = json_get(call, "input");
  if (json_text(json_get(call, "name")).n == 0)
    return bad(s, call, T_WIRE_SCRIPT_NAME, STR_NONE, err);
  if (!input) return REIN_OK;
  if (!json_is(input, JSON_OBJECT)) return bad(s, input, T_WIRE_SCRIPT_INPUT, STR_NONE, err);
  return check_template(s, input, err);
}

static enum rein_code check_calls(const struct script *s, const struct json *reply,
                                  struct err *err) {
  const struct json *calls = json_get(reply, "calls");
  if (!calls) return REIN_OK;
  if (!json_is(calls, JSON_ARRAY)) return bad(s, calls, T_WIRE_SCRIPT_LIST, STR("calls"), err);
  enum rein_code code = REIN_OK;
  for (const struct json *call = calls->first; call && code == REIN_OK; call = call->next)
    code = check_call(s, call, err);
  return code;
}

static bool is_header(const struct json *m) {
  struct str all[] = {m->key, m->text};
  for (size_t k = 0; k < 2; k++)
    for (size_t i = 0; i < all[k].n; i++)
      if ((unsigned char)all[k].p[i] < 32 || (k == 0 && all[k].p[i] == ':')) return false;
  return m->key.n && json_is(m, JSON_STRING);
}

static enum rein_code check_status(const struct script *s, const struct json *reply,
                                   struct err *err) {
  static const char *const members[] = {"status", "headers", "error", NULL};
  const struct json *headers = json_get(reply, "headers");
  int64_t status;
  enum rein_code code = check_members(s, reply, members, err);
  if (code != REIN_OK) return code;
  if (!json_int(json_get(reply, "status"), &status) || status < 400 || status > 599)
    return bad(s, reply, T_WIRE_SCRIPT_STATUS, STR_NONE, err);
  if (!headers) return REIN_OK;
  if (!json_is(headers, JSON_OBJECT)) return bad(s, headers, T_WIRE_SCRIPT_HEADER, STR_NONE, err);
  for (const struct json *m = headers->first; m; m = m->next)
    if (!is_header(m)) return bad(s, m, T_WIRE_SCRIPT_HEADER, m->key, err);
  return REIN_OK;
}

static enum rein_code check_reply(const struct script *s, const struct json *reply,
                                  struct err *err) {
  static const char *const bytes[] = {"sse", NULL};
  static const char *const members[] = {"text", "text_if_error", "calls", "stop", "thinking", NULL};
  static const char *const texts[] = {"text", "text_if_error", "stop", "thinking", NULL};
  if (json_get(reply, "status")) return check_status(s, reply, err);
  if (json_get(reply, "sse")) {
    enum rein_code code = check_members(s, reply, bytes, err);
    if (code != REIN_OK || json_is(json_get(reply, "sse"), JSON_STRING)) return code;
    return bad(s, reply, T_WIRE_SCRIPT_TEXT, STR("sse"), err);
  }
  enum rein_code code = check_members(s, reply, members, err);
  for (size_t i = 0; texts[i] && code == REIN_OK; i++)
    code = check_text(s, reply, texts[i], err);
  return code == REIN_OK ? check_calls(s, reply, err) : code;
}

static enum rein_code check_replies(const struct script *s, const struct json *parent,
                                    struct err *err) {
  const struct json *replies = json_get(parent, "replies");
  if (!json_is(replies, JSON_ARRAY) || replies->count == 0)
    return bad(s, replies ? replies : parent, T_WIRE_SCRIPT_LIST, STR("replies"), err);
  enum rein_code code = REIN_OK;
  for (const struct json *r = replies->first; r && code == REIN_OK; r = r->next)
    code = check_reply(s, r, err);
  return code;
}

static enum rein_code check_when(const struct script *s, const struct json *when, struct err *err) {
  bool fine =
      json_is(when, JSON_STRING) ? when->text.n > 0 : json_is(when, JSON_ARRAY) && when->count > 0;
  for (const struct json *m = fine ? when->first : NULL; m; m = m->next)
    fine = fine && json_text(m).n > 0;
  return fine ? REIN_OK : bad(s, when, T_WIRE_SCRIPT_WHEN, STR_NONE, err);
}

static enum rein_code take_scenario(struct script *s, const struct json *doc, bool named,
                                    struct err *err) {
  static const char *const members[] = {"when", "replies", NULL};
  const struct json *when = json_get(doc, "when");
  enum rein_code code = check_members(s, doc, named ? members : members + 1, err);
  if (code == REIN_OK && when) code = check_when(s, when, err);
  if (code == REIN_OK) code = check_replies(s, doc, err);
  s->scenarios[s->count++] = (struct scenario){when, json_get(doc, "replies")};
  return code;
}

static enum rein_code take_scenarios(struct script *s, const struct json *doc, struct err *err) {
  static const char *const members[] = {"scenarios", NULL};
  const struct json *list = json_get(doc, "scenarios");
  size_t count = json_is(list, JSON_ARRAY) ? list->count : 0;
  s->scenarios = arena_array(&s->arena, struct scenario, count + 1);
  if (!s->scenarios) return ERR(err, REIN_MEMORY, T_WIRE_MEMORY);
  if (!list) return take_scenario(s, doc, false, err);
  if (count == 0) return bad(s, list, T_WIRE_SCRIPT_LIST, STR("scenarios"), err);
  enum rein_code code = check_members(s, doc, members, err);
  for (const struct json *one = list->first; one && code == REIN_OK; one = one->next)
    code = take_scenario(s, one, true, err);
  return code;
}

enum rein_code script_new(struct str text, struct script **script, struct err *err) {
  struct script *s = mem_zero(sizeof *s);
  struct json *doc = NULL;
  if (!s) return ERR(err, REIN_MEMORY, T_WIRE_MEMORY);
  arena_init(&s->arena, SCRIPT_TREE_MAX);
  enum rein_code code =
      arena_str(&s->arena, text, &s->text) ? REIN_OK : ERR(err, REIN_MEMORY, T_WIRE_MEMORY);
  if (code == REIN_OK)
    code = json_parse(&s->arena, s->text, JSON_COMMENTS | JSON_UNIQUE, &doc, err);
  if (code == REIN_OK) code = take_scenarios(s, doc, err);
  if (code != REIN_OK) {
    script_free(s);
    return code;
  }
  *script = s;
  return REIN_OK;
}

void script_free(struct script *script) {
  if (!script) return;
  arena_release(&script->arena);
  mem_free(script);
}

/* -- answering -- */

static const char *error_type_of(int64_t status) {
  static const struct {
    int64_t status;
    const char *type;
  } known[] = {{401, "authentication_error"}, {402, "billing_error"},     {403, "permission_error"},
               {404, "not_found_error"},      {413, "request_too_large"}, {429, "rate_limit_error"},
               {504, "timeout_error"},        {529, "overloaded_error"}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (known[i].status == status) return known[i].type;
  return status < 500 ? "invalid_request_error" : "api_error";
}

/* The shapes of both makers: {"type":"error","error":{…}}, and the bare member. */
static void put_error(struct script_answer *a, enum script_wire wire, int64_t status,
                      struct str message) {
  bool bare = wire != SCRIPT_MESSAGES;
  buf_reset(&a->body);
  a->status = (int)status;
  a->content_type = STR("application/json");
  struct json_out w = json_out(&a->body);
  json_open(&w, '{');
  if (!bare) json_key(&w, "type");
  if (!bare) json_put_text(&w, STR("error"));
  json_key(&w, "error");
  json_open(&w, '{');
  json_key(&w, "type");
  json_put_text(&w, str_of(bare && status >= 500 ? "server_error" : error_type_of(status)));
  json_key(&w, "message");
  json_put_text(&w, message);
  if (bare) json_key(&w, "code");
  if (bare) json_put_null(&w);
  json_close(&w, '}');
  json_close(&w, '}');
}

static void put_refusal(struct script_answer *a, enum script_wire wire, int64_t status,
                        enum text_id id, struct str value) {
  struct buf b;
  buf_init(&b, 4096);
  TEXT_PUT(&b, REIN_ENGLISH, id, value);
  put_error(a, wire, status, buf_str(&b));
  if (b.fail) a->body.fail = b.fail;
  buf_release(&b);
}

static void put_status(struct script_answer *a, enum script_wire wire, const struct json *reply) {
  const struct json *error = json_get(reply, "error"), *headers = json_get(reply, "headers");
  int64_t status = 500;
  (void)json_int(json_get(reply, "status"), &status);
  put_error(a, wire, status, json_text(error));
  if (json_is(error, JSON_OBJECT)) {
    buf_reset(&a->body);
    fill_json(&a->body, NULL, error, NULL);
  }
  for (const struct json *m = headers ? headers->first : NULL; m; m = m->next) {
    buf_put(&a->headers, m->key);
    buf_lit(&a->headers, ": ");
    buf_put(&a->headers, m->text);
    buf_c(&a->headers, '\n');
  }
}

static void put_answer(struct script_answer *a, struct arena *arena, const struct talk *talk,
                       size_t body_bytes, enum script_wire wire) {
  const struct json *reply =
      talk->scenario ? json_at(talk->scenario->replies, talk->replies) : NULL;
  const struct json *sse = json_get(reply, "sse");
  struct play play = {arena, talk, reply, body_bytes, wire};
  if (json_get(reply, "status"))
    put_status(a, wire, reply);
  else if (sse)
    buf_put(&a->body, sse->text);
  else
    play_reply(&a->body, &play);
}

static bool find_wire(struct str path, enum script_wire *wire) {
  static const struct {
    const char *end;
    enum script_wire wire;
  } known[] = {{"/v1/messages", SCRIPT_MESSAGES},
               {"/responses", SCRIPT_RESPONSES},
               {"/chat/completions", SCRIPT_CHAT}};
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    if (!str_ends(path, str_of(known[i].end))) continue;
    *wire = known[i].wire;
    return true;
  }
  return false;
}

enum rein_code script_answer(const struct script *script, struct str path, struct str body,
                             struct script_answer *answer, struct err *err) {
  struct arena arena;
  struct talk talk;
  *answer = (struct script_answer){.status = 200, .content_type = STR("text/event-stream")};
  buf_init(&answer->headers, HEADERS_MAX);
  buf_init(&answer->body, ANSWER_MAX);
  arena_init(&arena, TALK_MAX);
  enum rein_code code = REIN_OK;
  enum script_wire wire = SCRIPT_MESSAGES;
  if (!find_wire(path, &wire)) {
    put_refusal(answer, wire, 404, T_WIRE_SCRIPT_PATH, path);
  } else {
    code = talk_read(&arena, script, wire, body, &talk);
    if (code == REIN_OK)
      put_answer(answer, &arena, &talk, body.n, wire);
    else if (code != REIN_MEMORY)
      put_refusal(answer, wire, 400, T_WIRE_SCRIPT_REQUEST, STR_NONE);
  }
  arena_release(&arena);
  if (answer->body.fail == REIN_LIMIT) put_refusal(answer, wire, 500, T_WIRE_SCRIPT_LONG, STR_NONE);
  bool lack = code == REIN_MEMORY || answer->body.fail || answer->headers.fail;
  return lack ? ERR(err, REIN_MEMORY, T_WIRE_MEMORY) : REIN_OK;
}
