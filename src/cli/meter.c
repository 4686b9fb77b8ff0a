/* Requests are made anew by a replay and compared with the marks left out; what was
 * counted is in the replies. See meter.h. */
#include "cli/meter.h"

#include "driver/replay.h"
#include "json/json.h"
#include "text/text.h"

#define BODY_MAX ((size_t)512 << 20)
#define PLACE_MAX 256
#define MARK STR(",\"cache_control\":{\"type\":\"ephemeral\"}")

struct meter {
  struct buf *out;
  enum rein_lang lang;
  struct buf now, before; /* requests without marks */
  size_t fixed;           /* bytes of `before` that the next request should begin with */
  size_t broken;          /* first byte of `now` that differs from them; SIZE_MAX: none */
  enum rewrite rewrite;   /* since the last request; NONE */
  enum rein_code code;
};

/* Inside of a string the quotes would be escaped: this is only ever a mark. */
static void strip(struct buf *out, struct str body) {
  buf_reset(out);
  while (body.n) {
    size_t at = str_find(body, MARK);
    buf_put(out, str_part(body, 0, at));
    body = str_part(body, at < body.n ? at + MARK.n : at, body.n);
  }
}

static size_t end_of(const struct buf *body, const struct json *node) {
  return (size_t)(node->source.p - body->p) + node->source.n;
}

/* The messages, whatever the wire calls them: all up to there comes again. */
static size_t fixed_part(const struct buf *body) {
  struct arena arena;
  struct json *doc = NULL;
  size_t end = 0;
  arena_init(&arena, BODY_MAX);
  if (json_parse(&arena, buf_str(body), 0, &doc, NULL) == REIN_OK) {
    const struct json *list = json_get(doc, "messages");
    if (!list) list = json_get(doc, "input");
    if (json_is(list, JSON_ARRAY)) end = end_of(body, list) - 1;
  }
  arena_release(&arena);
  return end;
}

/* "messages[12]", "tools[0]", "system": what holds the byte. */
static void put_place(struct buf *out, const struct buf *body, size_t at) {
  struct arena arena;
  struct json *doc = NULL;
  arena_init(&arena, BODY_MAX);
  if (json_parse(&arena, buf_str(body), 0, &doc, NULL) == REIN_OK) {
    const struct json *member = doc->first, *part;
    while (member && member->next && end_of(body, member) <= at)
      member = member->next;
    size_t i = 0;
    for (part = member ? member->first : NULL; part && end_of(body, part) <= at; part = part->next)
      i++;
    if (member) buf_put(out, member->key);
    if (json_is(member, JSON_ARRAY)) buf_fmt(out, "[%zu]", i);
  }
  arena_release(&arena);
}

static void on_action(void *ctx, const struct action *action) {
  struct meter *m = ctx;
  if (action->kind != ACTION_SEND) return;
  strip(&m->now, action->body);
  m->broken = SIZE_MAX;
  for (size_t i = 0; i < m->fixed && m->broken == SIZE_MAX; i++)
    if (i >= m->now.n || m->now.p[i] != m->before.p[i]) m->broken = i;
  m->fixed = fixed_part(&m->now);
  buf_reset(&m->before);
  buf_put(&m->before, buf_str(&m->now));
  if (m->now.fail || m->before.fail) m->code = REIN_MEMORY;
}

static void put_share(struct buf *out, int64_t part, int64_t all) {
  buf_fmt(out, "%lld %%", (long long)(all ? (part * 100 + all / 2) / all : 0));
}

static void put_counts(struct meter *m, uint32_t id, const struct usage *u) {
  struct num_text number, all;
  struct buf b[3];
  const int64_t parts[] = {u->cache_read, u->cache_write, u->input};
  for (size_t i = 0; i < 3; i++) {
    buf_init(&b[i], 64);
    put_share(&b[i], parts[i], usage_prompt(u));
  }
  TEXT_PUT(m->out, m->lang, T_CLI_METER, str_num(&number, id), buf_str(&b[0]), buf_str(&b[1]),
           buf_str(&b[2]), str_num(&all, usage_prompt(u)));
  for (size_t i = 0; i < 3; i++)
    buf_release(&b[i]);
}

static void put_break(struct meter *m) {
  struct buf place;
  struct num_text at;
  if (m->broken == SIZE_MAX) return;
  buf_init(&place, PLACE_MAX);
  put_place(&place, &m->now, m->broken);
  TEXT_PUT(m->out, m->lang, T_CLI_METER_BROKEN, str_num(&at, (int64_t)m->broken), buf_str(&place),
           str_of(m->rewrite != REWRITE_NONE ? rewrite_word(m->rewrite) : "-"));
  buf_release(&place);
}

static bool on_event(void *ctx, size_t record, struct event *event, const struct agent *agent) {
  struct meter *m = ctx;
  (void)record;
  (void)agent;
  if (event->kind == EVENT_REWRITE) m->rewrite = event->rewrite;
  if (event->kind == EVENT_GRANTED && event->compacts) m->rewrite = REWRITE_COMPACT;
  if (event->kind != EVENT_REPLY) return true;
  put_counts(m, event->id, &event->reply->usage);
  put_break(m);
  buf_c(m->out, '\n');
  m->rewrite = REWRITE_NONE;
  return true;
}

enum rein_code meter_put(struct buf *out, enum rein_lang lang, struct journal *journal,
                         struct err *err) {
  struct meter m = {.out = out, .lang = lang, .broken = SIZE_MAX, .rewrite = REWRITE_NONE};
  struct replay_watch watch = {.event = on_event, .action = on_action, .ctx = &m, .bodies = true};
  struct replay replay;
  buf_init(&m.now, BODY_MAX);
  buf_init(&m.before, BODY_MAX);
  enum rein_code code = replay_open(journal, SIZE_MAX, &watch, &replay, err);
  replay_close(&replay);
  if (!code && m.code) code = ERR(err, m.code, T_CLI_NO_MEMORY);
  buf_release(&m.now);
  buf_release(&m.before);
  return code;
}
