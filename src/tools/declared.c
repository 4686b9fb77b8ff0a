/* Rows from a pack, and what a call of one comes to: its steps, their pages, and
 * of each what the pack selects. */
#include "tools/declared_inside.h"

#include "base/mem.h"

#define TIMEOUT_S 60 /* of one call, unless the pack says otherwise */

/* ---- one step ----------------------------------------------------------------------- */

struct step {
  struct rein_call *call;
  const struct pack_request *request;
  struct json_out *w;
  struct body_extra extra; /* the page that is asked for next; no name: the first */
  struct buf next;         /* its value as JSON */
  size_t found;
  bool more; /* pages were left */
  bool list;
};

static bool is_nothing(const struct json *place) {
  return (json_is(place, JSON_ARRAY) || json_is(place, JSON_OBJECT)) && place->count == 0;
}

/* Where the next page begins; false: this was the last. */
static bool turn_page(struct step *s, const struct json *doc, const struct json *place,
                      int64_t page) {
  const struct pack_request *r = s->request;
  struct num_text room;
  buf_reset(&s->next);
  if (r->cursor.n) {
    const struct json *cursor = json_point(doc, r->cursor);
    if (!cursor || cursor->kind == JSON_NULL || cursor->kind == JSON_FALSE) return false;
    if (cursor->kind == JSON_STRING && !cursor->text.n) return false;
    buf_put(&s->next, cursor->source);
    s->extra.name = r->page_as;
  } else {
    if (!r->page_number.n || !json_is(place, JSON_ARRAY)) return false;
    if ((int64_t)place->count < r->page_size) return false;
    buf_put(&s->next, str_num(&room, page + 1));
    s->extra.name = r->page_number;
  }
  s->extra.value = buf_str(&s->next);
  return true;
}

static enum rein_code put_page(struct step *s, const struct answer *answer, struct err *err) {
  const struct pack_request *r = s->request;
  const struct json *place = answer->doc ? select_place(r, answer->doc) : NULL;
  if (!answer->doc) {
    json_put_text(s->w, str_trim(buf_str(&answer->body)));
    s->found += answer->body.n > 0;
    return REIN_OK;
  }
  if (!place) return CALL_ERR(err, REIN_PEER, T_TOOLS_PACK_NO_PLACE, r->at);
  s->found += json_is(place, JSON_ARRAY) ? place->count : !is_nothing(place);
  if (s->list)
    select_put_elements(s->w, r, place);
  else
    select_put(s->w, r, place);
  return REIN_OK;
}

/* Lists of all pages become one. */
static enum rein_code take_page(struct step *s, int64_t page, bool *last, struct err *err) {
  struct answer answer = {0};
  buf_init(&answer.headers, 64u << 10);
  buf_init(&answer.body, DECLARED_BODY_MAX);
  enum rein_code code = declared_ask(s->call, s->request, &s->extra, &answer, err);
  const struct json *place = answer.doc ? select_place(s->request, answer.doc) : NULL;
  if (!code && page == 1) {
    s->list = s->request->pages > 1 && json_is(place, JSON_ARRAY);
    if (s->list) json_open(s->w, '[');
  }
  if (!code) code = put_page(s, &answer, err);
  *last = code || !answer.doc || !turn_page(s, answer.doc, place, page);
  buf_release(&answer.body);
  buf_release(&answer.headers);
  return code;
}

static enum rein_code take_step(struct step *s, struct err *err) {
  enum rein_code code = REIN_OK;
  bool last = false;
  buf_init(&s->next, 4096);
  for (int64_t page = 1; !code && !last; page++) {
    if (page > s->request->pages) {
      s->more = true;
      break;
    }
    code = take_page(s, page, &last, err);
  }
  if (s->list) json_close(s->w, ']');
  return code;
}

/* ---- the call ------------------------------------------------------------------------ */

/* Behind the result, so nothing in it can be taken for a notice. */
static void put_more(struct buf *out, const struct step *s) {
  struct num_text room;
  const struct pack_tool *tool = ((struct declared_tool *)s->call->row->ctx)->tool;
  struct str found = str_num(&room, (int64_t)s->found);
  buf_c(out, '\n');
  if (s->request->cursor.n && json_member(tool->arguments, s->extra.name))
    CALL_NOTE(out, s->call, T_TOOLS_PACK_MORE_FROM, found, s->extra.name, s->extra.value);
  else
    CALL_NOTE(out, s->call, T_TOOLS_PACK_MORE, found);
}

static void put_nothing(struct buf *out, const struct rein_call *call,
                        const struct pack_request *request) {
  if (request->empty.n)
    buf_put(out, request->empty);
  else
    TEXT_PUT(out, call_lang(call), T_TOOLS_PACK_NOTHING);
}

static enum rein_code run_one(struct rein_call *call, const struct pack_request *request,
                              struct buf *out, struct err *err) {
  struct json_out w = json_out(out);
  struct step s = {.call = call, .request = request, .w = &w};
  enum rein_code code = take_step(&s, err);
  if (!code && !s.found) {
    buf_reset(out);
    put_nothing(out, call, request);
  }
  if (!code && s.more) put_more(out, &s);
  buf_release(&s.next);
  return code;
}

static enum rein_code run_steps(struct rein_call *call, const struct pack_tool *tool,
                                struct buf *out, struct err *err) {
  struct json_out w = json_out(out);
  struct buf notes;
  enum rein_code code = REIN_OK;
  buf_init(&notes, 4096);
  json_open(&w, '{');
  for (size_t i = 0; !code && i < tool->request_count; i++) {
    struct step s = {.call = call, .request = &tool->requests[i], .w = &w};
    json_key_str(&w, s.request->as);
    code = take_step(&s, err);
    if (!code && s.more) put_more(&notes, &s);
    buf_release(&s.next);
  }
  json_close(&w, '}');
  buf_put(out, buf_str(&notes));
  if (notes.fail) out->fail = notes.fail;
  buf_release(&notes);
  return code;
}

static int run_http(struct rein_call *call, const struct pack_tool *tool) {
  struct err err = {0};
  struct buf out;
  if (!call->house->http) return CALL_FAIL(call, REIN_INPUT, T_TOOLS_NO_HTTP, tool->name);
  buf_init(&out, DECLARED_RESULT_MAX);
  enum rein_code code = tool->request_count == 1 ? run_one(call, &tool->requests[0], &out, &err)
                                                 : run_steps(call, tool, &out, &err);
  if (!code) return call_give(call, &out);
  buf_release(&out);
  return call_fail(call, &err);
}

static int run(struct rein_call *call) {
  const struct declared_tool *ctx = call->row->ctx;
  return ctx->tool->kind == PACK_HTTP ? run_http(call, ctx->tool) : declared_command(call);
}

enum pack_kind declared_kind(const struct rein_tool *row) {
  const struct declared_tool *ctx = row->run == run ? row->ctx : NULL;
  return ctx ? ctx->tool->kind : PACK_HTTP;
}

/* ---- rows ---------------------------------------------------------------------------- */

/* The host of the pack's address, for rules about hosts. */
static bool keep_host(struct arena *arena, const struct pack *pack, struct str *host) {
  struct str rest = str_part(pack->url, str_find(pack->url, STR("://")) + 3, SIZE_MAX);
  return arena_str(arena, str_part(rest, 0, str_find_char(rest, '/')), host);
}

static bool make_row(struct arena *arena, const struct declared *d, const struct pack_tool *tool,
                     struct rein_tool *row) {
  struct declared_tool *ctx = arena_new(arena, struct declared_tool);
  struct str host;
  if (!ctx || !keep_host(arena, d->pack, &host)) return false;
  *ctx = (struct declared_tool){tool, d->pace};
  int64_t timeout_s = tool->timeout_s ? tool->timeout_s : TIMEOUT_S;
  *row = (struct rein_tool){
      .name = tool->name.p,
      .description = tool->description.p,
      .schema = tool->schema.p,
      .touches = tool->touches,
      .polls = tool->polls,
      .idempotent = tool->idempotent,
      .limit_ms = timeout_s * 1000 + (tool->kind == PACK_HTTP ? 0 : 10000),
      .paths = tool->paths.n ? tool->paths.p : NULL,
      .hosts = tool->kind == PACK_HTTP ? host.p : NULL,
      .run = run,
      .ctx = ctx,
  };
  return true;
}

enum rein_code declared_new(struct arena *arena, const struct pack *pack,
                            struct declared **declared, struct err *err) {
  struct declared *d = arena_new(arena, struct declared);
  *declared = NULL;
  if (!d) return ERR(err, REIN_MEMORY, T_PACK_MEMORY);
  d->pack = pack;
  d->row_count = pack->tool_count;
  d->rows = arena_array(arena, struct rein_tool, pack->tool_count);
  d->pace = pace_new(pack->per_second);
  bool ok = d->rows && d->pace;
  for (size_t i = 0; ok && i < pack->tool_count; i++)
    ok = make_row(arena, d, &pack->tools[i], &d->rows[i]);
  if (!ok) {
    declared_free(d);
    return ERR(err, REIN_MEMORY, T_PACK_MEMORY);
  }
  *declared = d;
  return REIN_OK;
}

void declared_free(struct declared *declared) {
  if (!declared) return;
  pace_free(declared->pace);
  declared->pace = NULL;
}
