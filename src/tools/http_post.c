/* http_post: sends a text and returns the answer. Once, whatever comes of it: a
 * POST is never repeated. The exchange is outside.c's. */
#include "base/utf8.h"
#include "tools/outside.h"
#include "tools/rows.h"

#define POST_BYTES_MAX (1u << 20) /* more is an upload, which this is not */
#define TYPE_BYTES_MAX 128
#define JSON_TYPE "application/json"

static bool is_json(struct str type) {
  return str_eq_nocase(type, STR(JSON_TYPE)) ||
         (str_eq_nocase(str_part(type, 0, 12), STR("application/")) && type.n > 17 &&
          str_eq_nocase(str_part(type, type.n - 5, 5), STR("+json")));
}

/* RFC 9110, 5.6.2, as far as media types go. */
static bool is_plain(struct str type) {
  static const char more[] = "/.+-_";
  for (size_t i = 0; i < type.n; i++) {
    char c = type.p[i];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && !memchr(more, c, sizeof more - 1)) return false;
  }
  return type.n > 0 && type.n <= TYPE_BYTES_MAX;
}

/* JSON, text or a form, in UTF-8. */
static bool type_ok(struct str given, struct str *type) {
  struct str rest = STR_NONE, charset = STR("charset=utf-8");
  *type = given;
  if (str_split(given, ';', type, &rest) && !str_eq_nocase(str_trim(rest), charset)) return false;
  *type = str_trim(*type);
  if (!is_plain(*type)) return false;
  bool text = str_eq_nocase(str_part(*type, 0, 5), STR("text/")) && type->n > 5;
  return text || is_json(*type) || str_eq_nocase(*type, STR("application/x-www-form-urlencoded"));
}

static enum rein_code check(struct rein_call *call, struct str body, struct str type,
                            struct err *err) {
  struct num_text room;
  struct json *doc = NULL;
  struct err why = {0};
  if (body.n > POST_BYTES_MAX)
    return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_BODY_LONG, str_num(&room, POST_BYTES_MAX));
  if (!utf8_valid(body)) return ERR(err, REIN_INPUT, T_TOOLS_HTTP_BODY_UTF8);
  if (!is_json(type)) return REIN_OK;
  enum rein_code code = json_parse(&call->arena, body, JSON_STRICT, &doc, &why);
  if (code == REIN_OK) return REIN_OK;
  if (code == REIN_MEMORY) return ERR(err, code, T_TOOLS_MEMORY);
  return CALL_ERR(err, REIN_INPUT, T_TOOLS_HTTP_BODY_JSON, type);
}

static int send(struct rein_call *call, struct str body, struct str type) {
  struct buf line;
  buf_init(&line, TYPE_BYTES_MAX + 64);
  buf_lit(&line, "content-type: ");
  buf_put(&line, type);
  if (!is_json(type)) buf_lit(&line, "; charset=utf-8");
  const char *header = buf_z(&line);
  int answer = line.fail ? (int)line.fail
                         : outside_run(call, &(struct outside_request){"POST", header, body});
  buf_release(&line);
  return answer;
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct str given = call_text(call, "content_type"), body = call_text(call, "body"), type;
  if (!given.n) given = STR(JSON_TYPE);
  if (!type_ok(given, &type)) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_HTTP_TYPE, given);
  if (check(call, body, type, &err)) return call_fail(call, &err);
  return send(call, body, type);
}

const struct rein_tool tool_http_post = {
    .name = "http_post",
    .description =
        "Sends a text to one address on the web with POST and returns the answer, as http_get "
        "does. Use it for an API that wants a POST; it changes things there and is never repeated "
        "by itself. The body is JSON, text or a form. Redirects are not followed: the target is "
        "named. No cookies or keys are sent, and addresses inside a private network or on this "
        "machine are refused unless the user's policy names them.",
    .schema = "{\"type\":\"object\",\"properties\":{"
              "\"url\":{\"type\":\"string\",\"description\":\"Whole address with http:// or "
              "https://; no user name in it.\"},"
              "\"body\":{\"type\":\"string\",\"description\":\"What is sent, as it is: JSON text, "
              "plain text, or a form such as a=1&b=2.\"},"
              "\"content_type\":{\"type\":\"string\",\"description\":\"application/json (when left "
              "out; the body must then be JSON), text/plain or another text/…, or "
              "application/x-www-form-urlencoded.\"}},"
              "\"required\":[\"url\",\"body\"],\"additionalProperties\":false}",
    .touches = REIN_OUTSIDE,
    .urls = "url",
    .verdict = REIN_ASK,
    .limit_ms = 60000,
    .run = run,
};
