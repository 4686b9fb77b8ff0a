/* github_repo_info: one GET to the API of GitHub, and of its answer what a model
 * can use. The names are checked so strictly that the URL needs no escaping. */
#include "base/mem.h"
#include "json/write.h"
#include "tools/call.h"
#include "tools/rows.h"

#include <time.h>

#define API "https://api.github.com"
#define BODY_MAX (1u << 20) /* the real answers have some 6 KB */
#define HEADERS_MAX (64u << 10)
#define WAIT_MS 30000

/* ---- names --------------------------------------------------------------- */

static bool is_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool owner_ok(struct str s) {
  if (s.n < 1 || s.n > 39 || s.p[0] == '-') return false;
  for (size_t i = 0; i < s.n; i++)
    if (!is_alnum(s.p[i]) && s.p[i] != '-') return false;
  return true;
}

static bool repo_ok(struct str s) {
  if (s.n < 1 || s.n > 100 || str_is(s, ".") || str_is(s, "..")) return false;
  for (size_t i = 0; i < s.n; i++)
    if (!is_alnum(s.p[i]) && s.p[i] != '-' && s.p[i] != '.' && s.p[i] != '_') return false;
  return true;
}

/* ---- the exchange -------------------------------------------------------- */

struct lookup {
  struct rein_call *call;
  struct str owner, repo;
  struct buf name, url, token, headers, body;
  struct http_result result;
};

static bool cancelled(void *ctx) {
  const struct lookup *l = ctx;
  return rein_call_cancelled(l->call);
}

static enum rein_code fetch(struct lookup *l, struct err *err) {
  const struct call_house *house = l->call->house;
  struct str base = str_of(house->github_url ? house->github_url : API);
  while (str_ends(base, STR("/")))
    base.n--;
  buf_put(&l->url, base);
  buf_lit(&l->url, "/repos/");
  buf_put(&l->url, buf_str(&l->name));
  bool authorised = house->github_token && *house->github_token;
  if (authorised) {
    buf_lit(&l->token, "authorization: Bearer ");
    buf_put(&l->token, str_of(house->github_token));
  }
  if (l->url.fail || l->token.fail) return ERR(err, REIN_MEMORY, T_TOOLS_MEMORY);
  const char *const headers[] = {
      "accept: application/vnd.github+json",
      "x-github-api-version: 2022-11-28",
      "user-agent: rein/" REIN_VERSION,
      authorised ? buf_z(&l->token) : NULL,
      NULL,
  };
  struct http_request request = {.method = "GET",
                                 .url = buf_z(&l->url),
                                 .headers = headers,
                                 .headers_ms = WAIT_MS,
                                 .body_max = BODY_MAX};
  l->result.headers = &l->headers;
  l->result.body = &l->body;
  return http_wait(house->http, &request, cancelled, l, &l->result, err);
}

/* A header's value; empty: it did not come. */
static struct str header(const struct lookup *l, const char *name) {
  struct str rest = buf_str(&l->headers), line, key, value;
  while (str_next(&rest, '\n', &line))
    if (str_split(line, ':', &key, &value) && str_eq_nocase(str_trim(key), str_of(name)))
      return str_trim(value);
  return STR_NONE;
}

/* ---- errors -------------------------------------------------------------- */

static struct str name_of(const struct lookup *l) {
  return buf_str(&l->name);
}

static enum rein_code fail_transport(const struct lookup *l, struct err *err) {
  struct num_text room;
  struct str why = str_of(l->result.why);
  switch (l->result.end) {
  case HTTP_WHOLE: break;
  case HTTP_CONNECT: return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_CONNECT, name_of(l), why);
  case HTTP_BROKEN: return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_BROKEN, name_of(l), why);
  case HTTP_SLOW: return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_SLOW, name_of(l));
  case HTTP_BIG:
    return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_BIG, name_of(l), str_num(&room, BODY_MAX));
  }
  return REIN_OK;
}

/* When requests are taken again, as local time or as GitHub put it. */
static void put_reset(const struct lookup *l, struct buf *out) {
  int64_t seconds = 0;
  struct tm local;
  char text[40];
  if (str_to_num(header(l, "x-ratelimit-reset"), &seconds)) {
    time_t at = (time_t)seconds;
    if (localtime_r(&at, &local) && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &local)) {
      buf_put(out, str_of(text));
      return;
    }
  }
  struct str wait = header(l, "retry-after");
  if (str_to_num(wait, &seconds))
    TEXT_PUT(out, call_lang(l->call), T_TOOLS_GITHUB_RATE_SECONDS, wait);
  else
    TEXT_PUT(out, call_lang(l->call), T_TOOLS_GITHUB_RATE_UNKNOWN);
}

static enum rein_code fail_rate(const struct lookup *l, struct err *err) {
  struct buf when;
  buf_init(&when, 256);
  put_reset(l, &when);
  enum rein_code code =
      when.fail ? ERR(err, REIN_MEMORY, T_TOOLS_MEMORY)
                : CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_RATE, name_of(l), buf_str(&when));
  buf_release(&when);
  return code;
}

/* GitHub's own words: {"message": …}, or whatever came. */
static enum rein_code fail_words(struct lookup *l, struct err *err) {
  struct num_text room;
  struct json *doc = NULL;
  struct err ignored = {0};
  struct str words = buf_str(&l->body);
  if (!json_parse(&l->call->arena, words, JSON_STRICT, &doc, &ignored) &&
      json_text(json_get(doc, "message")).n)
    words = json_text(json_get(doc, "message"));
  return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_STATUS, name_of(l),
                  str_num(&room, l->result.status), str_trim(words));
}

static bool is_rate_limit(const struct lookup *l) {
  int status = l->result.status;
  return status == 429 || (status == 403 && (str_is(header(l, "x-ratelimit-remaining"), "0") ||
                                             header(l, "retry-after").n));
}

static enum rein_code fail_status(struct lookup *l, struct err *err) {
  int status = l->result.status;
  struct str location = header(l, "location");
  if (status >= 300 && status < 400 && location.n)
    return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_MOVED, name_of(l), location);
  if (status == 404) return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_MISSING, name_of(l));
  if (status == 401) return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_UNAUTHORISED, name_of(l));
  return is_rate_limit(l) ? fail_rate(l, err) : fail_words(l, err);
}

/* ---- the result ---------------------------------------------------------- */

/* In the order a reader wants them. */
static const char *const fields[] = {
    "full_name", "description", "html_url",         "default_branch", "language",
    "archived",  "fork",        "stargazers_count", "forks_count",    "open_issues_count",
    "license",   "topics",      "created_at",       "pushed_at",      "updated_at",
};

/* As GitHub wrote it (numbers keep their digits), blanks and broken escapes apart. */
static void put_field(struct json_out *w, const char *key, const struct json *value) {
  if (!strcmp(key, "license") && json_is(value, JSON_OBJECT)) value = json_get(value, "spdx_id");
  if (!value) return;
  json_key(w, key);
  if (json_is(value, JSON_STRING)) {
    json_put_text(w, json_text(value));
  } else if (json_is(value, JSON_ARRAY)) {
    json_open(w, '[');
    for (const struct json *item = value->first; item; item = item->next)
      if (json_is(item, JSON_STRING)) json_put_text(w, json_text(item));
    json_close(w, ']');
  } else if (!json_is(value, JSON_OBJECT)) {
    json_put_raw(w, value->source);
  } else {
    json_put_null(w);
  }
}

static enum rein_code put_repo(struct lookup *l, struct buf *out, struct err *err) {
  struct json *doc = NULL;
  enum rein_code code = json_parse(&l->call->arena, buf_str(&l->body), JSON_STRICT, &doc, err);
  if (code == REIN_MEMORY) return code;
  if (code || !json_is(doc, JSON_OBJECT))
    return CALL_ERR(err, REIN_PEER, T_TOOLS_GITHUB_GARBLED, name_of(l));
  struct json_out w = json_out(out);
  json_open(&w, '{');
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    put_field(&w, fields[i], json_get(doc, fields[i]));
  json_close(&w, '}');
  return REIN_OK;
}

static enum rein_code look_up(struct lookup *l, struct buf *out, struct err *err) {
  enum rein_code code = fetch(l, err);
  if (rein_call_cancelled(l->call))
    return ERR(err, REIN_CANCELLED, T_TOOLS_CANCELLED, STR("github_repo_info"));
  if (code) return code;
  code = fail_transport(l, err);
  if (code) return code;
  return l->result.status == 200 ? put_repo(l, out, err) : fail_status(l, err);
}

/* ---- the call ------------------------------------------------------------ */

static enum rein_code check(const struct lookup *l, struct err *err) {
  if (!owner_ok(l->owner)) return CALL_ERR(err, REIN_INPUT, T_TOOLS_GITHUB_OWNER, l->owner);
  if (!repo_ok(l->repo)) return CALL_ERR(err, REIN_INPUT, T_TOOLS_GITHUB_REPO, l->repo);
  if (!l->call->house->http) return ERR(err, REIN_INPUT, T_TOOLS_NO_HTTP, STR("github_repo_info"));
  return REIN_OK;
}

static int run(struct rein_call *call) {
  struct err err = {0};
  struct lookup l = {
      .call = call, .owner = call_text(call, "owner"), .repo = call_text(call, "repo")};
  if (check(&l, &err)) return call_fail(call, &err);
  struct buf out;
  buf_init(&out, BODY_MAX);
  buf_init(&l.name, 256);
  buf_init(&l.url, 4096);
  buf_init(&l.token, 4096);
  buf_init(&l.headers, HEADERS_MAX);
  buf_init(&l.body, BODY_MAX);
  buf_put(&l.name, l.owner);
  buf_c(&l.name, '/');
  buf_put(&l.name, l.repo);
  int answer = look_up(&l, &out, &err) ? call_fail(call, &err) : call_give(call, &out);
  buf_release(&out);
  buf_release(&l.body);
  buf_release(&l.headers);
  if (l.token.p) mem_wipe(l.token.p, l.token.n);
  buf_release(&l.token);
  buf_release(&l.url);
  buf_release(&l.name);
  return answer;
}

const struct rein_tool tool_github_repo_info = {
    .name = "github_repo_info",
    .description =
        "Looks up one repository on GitHub. Use it to learn whether a project is alive: its "
        "description, whether it is archived, default branch, stars, forks, open issues, licence, "
        "topics, and when it was last pushed to. The result is one JSON object. It reads public "
        "repositories, private ones only where a token is set up; it cannot search, nor read "
        "files, issues or releases.",
    .schema =
        "{\"type\":\"object\",\"properties\":{"
        "\"owner\":{\"type\":\"string\",\"description\":\"User or organisation, for example "
        "lodash in github.com/lodash/lodash: letters, digits and hyphens.\"},"
        "\"repo\":{\"type\":\"string\",\"description\":\"Name of the repository alone, without "
        "the owner: letters, digits, dot, underscore and hyphen.\"}},"
        "\"required\":[\"owner\",\"repo\"],\"additionalProperties\":false}",
    .touches = REIN_OUTSIDE,
    .hosts = "api.github.com",
    .verdict = REIN_ALLOW,
    .run = run,
};
