/* The calls of one reply, in order: known tool? usable arguments? blocked as no
 * progress? what does the policy say? A call is answered here, asked about, or
 * made ready to run; agent.c decides what follows.
 */
#include "core/state.h"

#include "base/hash.h"
#include "base/utf8.h"
#include "core/shape.h"
#include "json/json.h"
#include "schema/schema.h"

#include <assert.h>

#define TURN_ARENA_MAX (64u << 20) /* parsed arguments of one reply */
#define RESULT_TEXT_MAX (256u << 20)
#define NAMES_MAX 400 /* bytes of tool names in one sentence; it is cut to 200 points anyway */

void turn_release(struct turn *turn) {
  for (size_t i = 0; i < turn->count; i++)
    buf_release(&turn->calls[i].result);
  arena_release(&turn->arena);
  *turn = (struct turn){0};
}

static enum rein_code no_memory(struct err *err) {
  return ERR(err, REIN_MEMORY, T_CORE_END_MEMORY);
}

static const struct tool *find_tool(const struct agent *a, struct str name) {
  for (size_t i = 0; i < a->tool_count; i++)
    if (str_eq(a->tools[i].name, name)) return &a->tools[i];
  return NULL;
}

static enum rein_code read_call(struct agent *a, struct call *c) {
  struct json *doc = NULL;
  if (!c->use->args_bad) {
    enum rein_code code = json_parse(&a->turn.arena, c->args, JSON_UNIQUE, &doc, NULL);
    if (code == REIN_MEMORY) return code;
  }
  c->doc = json_is(doc, JSON_OBJECT) ? doc : NULL;
  c->progress.what = key_of_call(c->tool, c->use, c->doc);
  c->progress.polls = c->tool && c->tool->row->polls;
  return REIN_OK;
}

size_t reply_count(const struct reply *reply, enum block_kind kind) {
  size_t n = 0;
  for (size_t i = 0; i < reply->count; i++)
    n += reply->blocks[i].kind == kind;
  return n;
}

enum rein_code turn_begin(struct agent *a, const struct reply *reply, struct err *err) {
  const struct message *kept;
  turn_release(&a->turn);
  arena_init(&a->turn.arena, TURN_ARENA_MAX);
  struct call *calls = arena_array(&a->turn.arena, struct call, reply_count(reply, BLOCK_TOOL_USE));
  if (!calls) return no_memory(err);
  enum rein_code code = transcript_reply(&a->talk, reply->blocks, reply->count, &kept, err);
  if (code) return code;
  a->turn.calls = calls;
  a->turn.length_cut = reply->stop == STOP_LENGTH || reply->stop == STOP_CONTEXT;
  for (size_t i = 0; i < kept->count; i++) {
    const struct block *use = &kept->blocks[i];
    if (use->kind != BLOCK_TOOL_USE) continue;
    struct call *c = &calls[a->turn.count++];
    *c = (struct call){.id = ++a->next_call, .use = use, .args = use->args};
    c->tool = find_tool(a, use->name);
    buf_init(&c->result, RESULT_TEXT_MAX);
  }
  for (size_t i = 0; i < a->turn.count; i++)
    if (read_call(a, &calls[i])) return no_memory(err);
  return REIN_OK;
}

struct call *turn_call(struct agent *a, uint32_t id) {
  for (size_t i = 0; i < a->turn.count; i++)
    if (a->turn.calls[i].id == id) return &a->turn.calls[i];
  return NULL;
}

/* ---- answers ----------------------------------------------------------- */

static enum rein_code seal(struct call *c, bool is_error, struct err *err) {
  if (c->result.fail) return no_memory(err);
  c->is_error = is_error;
  c->state = CALL_ANSWERED;
  return REIN_OK;
}

/* Answers a call that does not run, in the model's language. */
static enum rein_code refuse(struct agent *a, struct call *c, struct err *err, enum text_id id,
                             struct str one, struct str two) {
  struct buf words;
  buf_init(&words, RESULT_TEXT_MAX);
  TEXT_PUT(&words, a->config.model_lang, id, one, two);
  buf_reset(&c->result);
  shape_error(&c->result, buf_str(&words));
  if (words.fail) c->result.fail = words.fail;
  buf_release(&words);
  c->progress.result = hash_str(buf_str(&c->result));
  return seal(c, true, err);
}

static bool list_refusal(struct agent *a, const struct call *c, struct str why, enum decider by) {
  struct refusals *r = &a->refusals;
  if (r->count == r->cap) {
    size_t cap = r->cap ? r->cap * 2 : 8;
    struct refusal *grown = arena_array(&a->fixed, struct refusal, cap);
    if (!grown) return false;
    for (size_t i = 0; i < r->count; i++)
      grown[i] = r->v[i];
    r->v = grown;
    r->cap = cap;
  }
  struct refusal *one = &r->v[r->count];
  one->by = by;
  one->tainted = c->tainted;
  if (!arena_str(&a->fixed, c->use->name, &one->tool) ||
      !arena_str(&a->fixed, c->args, &one->args) || !arena_str(&a->fixed, why, &one->why))
    return false;
  r->count++;
  return true;
}

static enum rein_code deny(struct agent *a, struct call *c, const struct decision *d,
                           struct err *err) {
  struct str why = d->why.n ? d->why : d->rule;
  if (!list_refusal(a, c, why, BY_RULE)) return no_memory(err);
  c->refused = true;
  return refuse(a, c, err, d->why.n ? T_CORE_CALL_FORBIDDEN_WHY : T_CORE_CALL_FORBIDDEN, why,
                STR_NONE);
}

/* ---- one call, judged -------------------------------------------------- */

static enum rein_code unknown_tool(struct agent *a, struct call *c, struct err *err) {
  struct buf names, shown;
  buf_init(&names, NAMES_MAX);
  buf_init(&shown, RESULT_TEXT_MAX);
  for (size_t i = 0; i < a->tool_count && !names.fail; i++) {
    if (tool_is_sent(&a->tools[i])) {
      if (names.n) buf_lit(&names, ", ");
      buf_put(&names, a->tools[i].name);
    }
  }
  struct str list = buf_str(&names);
  if (list.n == 0) list = str_of(text_raw(T_CORE_CALL_NO_TOOLS, a->config.model_lang));
  utf8_show(&shown, utf8_head(c->use->name, 64), false);
  enum rein_code code = refuse(a, c, err, T_CORE_CALL_UNKNOWN_TOOL, buf_str(&shown), list);
  if (shown.fail == REIN_MEMORY || names.fail == REIN_MEMORY) code = no_memory(err);
  buf_release(&names);
  buf_release(&shown);
  return code;
}

/* Arguments that do not parse, because a limit ended the reply. */
static bool is_cut(const struct agent *a, const struct call *c) {
  return !c->doc && (c->use->cut || a->turn.length_cut);
}

static enum rein_code bad_json(struct agent *a, struct call *c, struct err *err) {
  if (is_cut(a, c)) return refuse(a, c, err, T_CORE_CALL_CUT, STR_NONE, STR_NONE);
  struct err why = {0};
  struct arena scratch;
  struct json *doc;
  struct buf words;
  arena_init(&scratch, TURN_ARENA_MAX);
  buf_init(&words, RESULT_TEXT_MAX);
  enum rein_code code = json_parse(&scratch, c->use->args, JSON_UNIQUE, &doc, &why);
  if (code == REIN_OK) (void)ERR(&why, REIN_INPUT, T_CORE_CALL_NOT_OBJECT);
  err_put(&words, a->config.model_lang, &why);
  if (code == REIN_MEMORY || words.fail)
    code = no_memory(err);
  else
    code = refuse(a, c, err, T_CORE_CALL_BAD_JSON, buf_str(&words), STR_NONE);
  buf_release(&words);
  arena_release(&scratch);
  return code;
}

static enum rein_code bad_args(struct agent *a, struct call *c, const struct err *why,
                               struct err *err) {
  if (a->turn.length_cut) return refuse(a, c, err, T_CORE_CALL_CUT, STR_NONE, STR_NONE);
  struct buf words;
  buf_init(&words, RESULT_TEXT_MAX);
  err_put(&words, a->config.model_lang, why);
  enum rein_code code = words.fail
                            ? no_memory(err)
                            : refuse(a, c, err, T_CORE_CALL_BAD_ARGS, buf_str(&words), STR_NONE);
  buf_release(&words);
  return code;
}

/* Arguments against the tool's schema; c->args becomes the bytes to run. */
static enum rein_code check_args(struct agent *a, struct call *c, struct err *err) {
  struct err why = {0};
  struct buf clean;
  struct str args;
  buf_init(&clean, RESULT_TEXT_MAX);
  enum rein_code code = schema_check_args(c->tool->checker, c->doc, &clean, &args, &why);
  if (code == REIN_OK && c->tool->members) code = schema_check(c->tool->members, c->doc, &why);
  if (code == REIN_INPUT || (code == REIN_LIMIT && !clean.fail)) {
    code = bad_args(a, c, &why, err);
  } else if (code == REIN_OK && clean.n > 0 && !arena_str(&a->turn.arena, args, &args)) {
    code = no_memory(err);
  } else if (code) {
    code = no_memory(err);
  }
  if (code == REIN_OK && c->state == CALL_NEW) c->args = args;
  buf_release(&clean);
  return code;
}

/* Answers a call that cannot be looked at, or whose arguments do not fit. */
static enum rein_code check(struct agent *a, struct call *c, struct err *err) {
  if (!c->tool && !is_cut(a, c))
    return unknown_tool(a, c, err); /* a cut call is told of the cut first */
  if (c->tool && c->tool->left_out.n)
    return refuse(a, c, err, T_CORE_CALL_LEFT_OUT, c->tool->name, c->tool->left_out);
  if (!c->doc) return bad_json(a, c, err);
  return check_args(a, c, err);
}

static bool is_remembered(const struct agent *a, const struct call *c) {
  for (size_t i = 0; i < a->remembered.count; i++) {
    const struct remembered_call *one = &a->remembered.v[i];
    if (str_eq(one->tool, c->tool->name) && str_eq(one->args, c->args)) return true;
  }
  return false;
}

/* Policy, then taint, then what was allowed before for this exact call: that
 * lifts a question, where there is one reading and nothing private to lose. */
static enum rein_code decide(struct agent *a, const struct call *c, struct decision *d) {
  struct subject subject;
  const struct policy *policy = a->config.policy;
  enum rein_code code =
      subject_read(&a->turn.arena, c->tool->row, c->doc, a->config.root, &subject);
  if (code == REIN_OK) code = policy_decide(&a->turn.arena, policy, &subject, d);
  if (code) return code;
  bool tainted = a->taint.read_private && a->taint.seen_outside;
  if (tainted && c->tool->touches & REIN_OUTSIDE) {
    struct decision taint = policy_taint(policy, c->tool->name);
    bool unclear = d->unclear;
    bool stricter = taint.verdict > d->verdict;
    if (stricter) *d = taint;
    d->tainted = taint.tainted;
    d->unclear = unclear;
  }
  bool once = d->tainted || d->unclear;
  bool before = is_remembered(a, c) || policy_granted(policy, c->tool->name, c->args);
  if (d->verdict == REIN_ASK && !once && before) d->verdict = REIN_ALLOW;
  return REIN_OK;
}

/* Answers a call that cannot run; else *decision is what the policy says. */
static enum rein_code judge(struct agent *a, struct call *c, struct decision *decision,
                            struct err *err) {
  struct num_text room;
  uint64_t result;
  enum rein_code code = check(a, c, err);
  if (code || c->state == CALL_ANSWERED) return code;
  if (progress_blocked(&a->progress, c->progress.what, &result)) {
    code = refuse(a, c, err, T_CORE_CALL_BLOCKED, str_num(&room, (int64_t)a->progress.repeats),
                  STR_NONE);
    c->progress.result = result;
    return code;
  }
  if (decide(a, c, decision)) return no_memory(err);
  return decision->verdict == REIN_DENY ? deny(a, c, decision, err) : REIN_OK;
}

/* A new call: answered, asked about, ready, or left as it is, because it must
 * wait until all before it are answered. */
static enum rein_code open_call(struct agent *a, struct call *c, bool all_before, struct err *err) {
  struct decision d = {.verdict = REIN_DENY};
  bool waits = c->tool && !tool_only_reads(c->tool) && !all_before;
  if (waits) return REIN_OK;
  enum rein_code code = judge(a, c, &d, err);
  if (code || c->state == CALL_ANSWERED) return code;
  if (d.verdict == REIN_ASK && !all_before) return REIN_OK;
  c->rule = d.rule;
  c->lift = d.lift;
  c->tainted = d.tainted;
  c->unclear = d.unclear;
  c->state = d.verdict == REIN_ASK ? CALL_ASKED : CALL_READY;
  return REIN_OK;
}

enum rein_code turn_advance(struct agent *a, bool *done, bool *asks, struct err *err) {
  bool all_before = true;
  *done = *asks = false;
  for (size_t i = 0; i < a->turn.count; i++) {
    struct call *c = &a->turn.calls[i];
    if (c->state == CALL_NEW) {
      enum rein_code code = open_call(a, c, all_before, err);
      if (code) return code;
    }
    if (c->state == CALL_ANSWERED) continue;
    *asks = c->state == CALL_ASKED;
    if (c->state == CALL_NEW || c->state == CALL_ASKED || !tool_only_reads(c->tool)) return REIN_OK;
    all_before = false;
  }
  *done = all_before;
  return REIN_OK;
}

enum progress_say turn_arrive(struct agent *a, size_t *culprit) {
  struct progress_call *calls = arena_array(&a->turn.arena, struct progress_call, a->turn.count);
  if (!calls) return PROGRESS_NO_MEMORY;
  for (size_t i = 0; i < a->turn.count; i++)
    calls[i] = a->turn.calls[i].progress;
  return progress_arrive(&a->progress, calls, a->turn.count, culprit);
}

void turn_asked(const struct agent *a, struct action *out) {
  for (size_t i = 0; i < a->turn.count; i++) {
    const struct call *c = &a->turn.calls[i];
    if (c->state != CALL_ASKED) continue;
    out->id = c->id;
    out->tool = c->tool;
    out->args = c->args;
    out->rule = c->rule;
    out->lift = c->lift;
    out->tainted = c->tainted;
    out->unclear = c->unclear;
    return;
  }
}

/* ---- what came of them ------------------------------------------------- */

static bool remember(struct agent *a, const struct call *c) {
  struct remembered *r = &a->remembered;
  if (r->count == r->cap) {
    size_t cap = r->cap ? r->cap * 2 : 8;
    struct remembered_call *grown = arena_array(&a->fixed, struct remembered_call, cap);
    if (!grown) return false;
    for (size_t i = 0; i < r->count; i++)
      grown[i] = r->v[i];
    r->v = grown;
    r->cap = cap;
  }
  struct remembered_call *one = &r->v[r->count];
  one->tool = c->tool->name;
  if (!arena_str(&a->fixed, c->args, &one->args)) return false;
  r->count++;
  return true;
}

enum rein_code turn_verdict(struct agent *a, struct call *c, const struct event *e,
                            struct err *err) {
  if (e->verdict.verdict == REIN_ALLOW) {
    bool once = c->tainted || c->unclear;
    if (e->verdict.remember && !once && !remember(a, c)) return no_memory(err);
    c->state = CALL_READY;
    return REIN_OK;
  }
  bool nobody = e->verdict.by == BY_NOBODY;
  if (!list_refusal(a, c, nobody ? c->rule : e->text, e->verdict.by)) return no_memory(err);
  a->refusals.nobody = a->refusals.nobody || nobody;
  c->refused = true;
  if (nobody) return refuse(a, c, err, T_CORE_CALL_NOBODY, c->rule, STR_NONE);
  return refuse(a, c, err, e->text.n ? T_CORE_CALL_DENIED_WHY : T_CORE_CALL_DENIED, e->text,
                STR_NONE);
}

enum rein_code turn_result(struct agent *a, struct call *c, const struct event *e,
                           struct err *err) {
  c->heard = true;
  a->taint.read_private |= (c->tool->touches & REIN_READS_PRIVATE) != 0;
  a->taint.seen_outside |= (c->tool->touches & (REIN_OUTSIDE | REIN_READS_OUTSIDE)) != 0;
  struct buf text; /* mended before anyone looks, so that a replay sees the same */
  buf_init(&text, RESULT_TEXT_MAX);
  utf8_repair(&text, e->text);
  buf_reset(&c->result);
  if (e->is_error)
    shape_error(&c->result, buf_str(&text));
  else
    shape_result(&c->result, buf_str(&text), a->config.model_lang);
  if (c->result.n == 0 && !c->result.fail)
    TEXT_PUT(&c->result, a->config.model_lang, T_CORE_CALL_FAILED);
  const struct regex *left_out = a->volatile_text[c->tool - a->tools];
  enum rein_code code = key_of_result(left_out, buf_str(&text), e->is_error, &c->progress.result);
  if (text.fail) code = text.fail;
  buf_release(&text);
  return code ? no_memory(err) : seal(c, e->is_error, err);
}

enum rein_code turn_close(struct agent *a, enum text_id idle, enum text_id ran, struct str value,
                          struct err *err) {
  for (size_t i = 0; i < a->turn.count; i++) {
    struct call *c = &a->turn.calls[i];
    if (c->state == CALL_ANSWERED) continue;
    enum rein_code code = refuse(a, c, err, c->run_given ? ran : idle, value, STR_NONE);
    if (code) return code;
  }
  return REIN_OK;
}

/* A second run does no harm. */
static bool is_repeatable(const struct tool *tool) {
  return tool_only_reads(tool) || tool->row->idempotent;
}

enum rein_code turn_resume(struct agent *a, bool again, struct err *err) {
  for (size_t i = 0; i < a->turn.count; i++) {
    struct call *c = &a->turn.calls[i];
    if (c->state == CALL_ANSWERED) continue;
    c->run_given = false;
    if (c->state != CALL_RUNNING) continue;
    if (again && is_repeatable(c->tool)) {
      c->state = CALL_READY;
      continue;
    }
    enum rein_code code = refuse(a, c, err, T_CORE_CALL_LOST, STR_NONE, STR_NONE);
    if (code) return code;
    c->lost = true;
  }
  return REIN_OK;
}

enum rein_code turn_commit(struct agent *a, struct str note, struct err *err) {
  assert(a->turn.count == a->talk.open);
  struct block *results = arena_array(&a->turn.arena, struct block, a->turn.count);
  if (!results) return no_memory(err);
  for (size_t i = 0; i < a->turn.count; i++) {
    const struct call *c = &a->turn.calls[i];
    assert(c->state == CALL_ANSWERED);
    results[i] = (struct block){.text = buf_str(&c->result), .is_error = c->is_error};
  }
  return transcript_results(&a->talk, results, a->turn.count, note, err);
}

enum rein_code turn_finish(struct agent *a, enum progress_say *say, struct err *err) {
  struct progress_call *calls = arena_array(&a->turn.arena, struct progress_call, a->turn.count);
  if (!calls) return no_memory(err);
  for (size_t i = 0; i < a->turn.count; i++)
    calls[i] = a->turn.calls[i].progress;
  if (progress_finish(&a->progress, calls, a->turn.count, say)) return no_memory(err);
  struct str note = STR_NONE;
  if (*say == PROGRESS_NOTE) note = str_of(text_raw(T_CORE_NOTE_LOOP, a->config.model_lang));
  return turn_commit(a, note, err);
}
