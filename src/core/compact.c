/* When the prompt is made shorter, where it is cut, and what becomes of the summary: see
 * compact.h. How messages become one is transcript_compact.c's, the request's bytes are
 * request.c's.
 */
#include "core/compact.h"

#include "core/state.h"

#define TAIL_SHIFT 2        /* a quarter of the window for what stays; half of it at each retry */
#define GAIN_SHIFT 3        /* an eighth of it must be gained, or a summary is not worth it */
#define SUMMARY_TOKENS 1024 /* about what one has, or a sixteenth of a small window */
#define PREFIX_PERCENT 95   /* of the window: what is summed up must fit itself */
#define HELPED_PERCENT 75   /* a prompt behind a compaction has at most so much of before */

static int64_t window_of(const struct agent *a) {
  int64_t given = a->config.limits.context_window;
  return given ? given : a->config.facts.window;
}

static int64_t level_of(const struct agent *a) {
  int64_t percent = a->config.limits.compact_at, window = window_of(a);
  return percent == REIN_OFF || window == 0 ? INT64_MAX : window * percent / 100;
}

static int64_t sum(const struct agent *a, size_t from, size_t to) {
  int64_t tokens = 0;
  for (size_t i = from; i < to; i++)
    tokens += a->talk.tokens[i];
  return tokens;
}

static int64_t in_tokens(const struct agent *a, int64_t estimate) {
  return gauge_apply(&a->gauge, estimate);
}

/* The last answer's prompt, what it said, and what is new; or all of it. */
int64_t compact_estimate(const struct agent *a) {
  int64_t all = request_estimate(a);
  if (!a->budget.known) return in_tokens(a, all);
  int64_t fresh = all - a->known_estimate, reply = 0;
  for (size_t i = a->talk.count; i > 0 && a->talk.reply_bytes && !reply; i--)
    if (a->talk.roles[i - 1] == ROLE_ASSISTANT) reply = a->talk.tokens[i - 1];
  fresh -= reply;
  return a->budget.prompt + (reply ? a->budget.output : 0) + (fresh > 0 ? in_tokens(a, fresh) : 0);
}

static int64_t summary_tokens(int64_t size) {
  return size / 16 < SUMMARY_TOKENS ? size / 16 : SUMMARY_TOKENS;
}

/* ---- where to cut ---------------------------------------------------------- */

/* The last place where a cut is possible, before `end`; 0: none. */
static size_t cut_before(const struct agent *a, size_t end) {
  for (size_t at = end; at > 1; at--)
    if (transcript_may_cut(&a->talk, at - 1)) return at - 1;
  return 0;
}

/* The last turn stays, and as many before it as fit into `tail` tokens. */
static size_t choose_cut(const struct agent *a, int64_t tail) {
  const struct transcript *t = &a->talk;
  int64_t window = window_of(a);
  size_t cut = cut_before(a, t->count), earlier;
  while ((earlier = cut_before(a, cut)) && in_tokens(a, sum(a, earlier, t->count)) <= tail)
    cut = earlier;
  int64_t fixed = request_estimate(a) - sum(a, 0, t->count);
  while (cut && window &&
         in_tokens(a, fixed + sum(a, 0, cut)) >
             window * PREFIX_PERCENT / 100 - summary_tokens(window))
    cut = cut_before(a, cut);
  return cut;
}

/* What would be made shorter; false: nothing that is worth it. */
static bool plan(struct agent *a) {
  struct compact *c = &a->compact;
  const struct transcript *t = &a->talk;
  int64_t size = window_of(a) ? window_of(a) : c->before;
  int64_t tail = size >> (TAIL_SHIFT + c->tries);
  size_t cut = choose_cut(a, tail), results = transcript_last_results(t);
  int64_t gain =
      in_tokens(a, sum(a, 0, cut) - transcript_said_tokens(t, cut)) - summary_tokens(size);
  bool worth = cut > 1 && gain >= size >> (GAIN_SHIFT + c->tries);
  bool long_tail = results && in_tokens(a, t->tokens[t->count - 1]) > tail;
  c->cut = worth ? cut : 0;
  c->all = t->count;
  c->result_tokens = 0;
  if (long_tail) {
    int64_t own = tail * a->talk.tokens[t->count - 1] / in_tokens(a, t->tokens[t->count - 1]);
    c->result_tokens = own / (int64_t)results + 1;
  }
  return worth || long_tail;
}

static bool begin(struct agent *a) {
  struct compact *c = &a->compact;
  c->before = compact_estimate(a);
  if (c->tries == COMPACT_TRIES || !plan(a)) return false;
  c->tries++;
  c->on = c->cut > 0;
  c->ready = !c->on;
  buf_reset(&c->summary);
  return true;
}

bool compact_is_ready(struct agent *a) {
  struct compact *c = &a->compact;
  if (!c->on && !c->ready && !a->wrap.on && compact_estimate(a) >= level_of(a)) (void)begin(a);
  if (!c->ready) return false;
  a->sending.repair = REWRITE_COMPACT;
  agent_enter(a, STATE_REWRITING, ACTION_REWRITE);
  return true;
}

/* The summary's own request was too long: a quarter less is summed up. */
static bool ask_less(struct agent *a) {
  struct compact *c = &a->compact;
  int64_t most = sum(a, 0, c->cut) * 3 / 4;
  if (c->tries == COMPACT_TRIES) return false;
  while (c->cut > 1 && sum(a, 0, c->cut) > most)
    c->cut = cut_before(a, c->cut);
  c->tries++;
  return c->cut > 1;
}

bool compact_refused(struct agent *a) {
  if (a->wrap.on || a->config.limits.compact_at == REIN_OFF) return false;
  return a->compact.on ? ask_less(a) : begin(a);
}

/* ---- the summary ------------------------------------------------------------ */

static enum rein_code failed(struct agent *a, struct err *err) {
  struct compact *c = &a->compact;
  if (c->tries < COMPACT_TRIES) {
    c->tries++;
    return agent_prepare(a, err); /* the same once more */
  }
  return compact_end(a, err);
}

static void put_texts(struct buf *out, const struct reply *r) {
  for (size_t i = 0; i < r->count; i++) {
    if (r->blocks[i].kind != BLOCK_TEXT || str_blank(r->blocks[i].text)) continue;
    if (out->n) buf_c(out, '\n');
    buf_put(out, str_trim(r->blocks[i].text));
  }
}

/* Calls in it are not run: it was told to make none. One that the limit cut counts. */
enum rein_code compact_reply(struct agent *a, const struct reply *r, struct err *err) {
  struct compact *c = &a->compact;
  struct buf text;
  c->heard = true;
  buf_init(&text, TRANSCRIPT_MAX);
  put_texts(&text, r);
  bool blank = text.n == 0 || r->stop == STOP_REFUSAL;
  buf_reset(&c->summary);
  if (!blank) TEXT_PUT(&c->summary, a->config.model_lang, T_CORE_NOTE_SUMMARY, buf_str(&text));
  enum rein_code fail = text.fail ? text.fail : c->summary.fail;
  buf_release(&text);
  if (fail) return ERR(err, fail, T_CORE_END_MEMORY);
  if (blank) return failed(a, err);
  c->on = false;
  c->ready = true;
  (void)compact_is_ready(a);
  return REIN_OK;
}

enum rein_code compact_apply(struct agent *a, struct err *err) {
  struct compact *c = &a->compact;
  struct compaction how = {c->cut, buf_str(&c->summary), c->result_tokens, a->config.model_lang};
  turn_release(&a->turn); /* its calls are read in the transcript */
  enum rein_code code = transcript_compact(&a->talk, &how, err);
  if (code) return code;
  c->ready = false;
  c->expected = c->before;
  buf_release(&c->summary);
  buf_init(&c->summary, TRANSCRIPT_MAX);
  budget_forget(&a->budget);
  return REIN_OK;
}

void compact_counted(struct agent *a) {
  struct compact *c = &a->compact;
  int64_t prompt = a->budget.prompt;
  if (!a->budget.known || c->expected == 0) return;
  c->stuck = prompt >= level_of(a) && prompt > c->expected / 100 * HELPED_PERCENT;
  c->before = c->expected;
  c->expected = 0;
}

enum rein_code compact_end(struct agent *a, struct err *err) {
  struct compact *c = &a->compact;
  struct num_text before, now;
  if (c->stuck)
    (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_COMPACT_STUCK, str_num(&before, c->before),
              str_num(&now, a->budget.prompt));
  else
    (void)ERR(&a->end.why, REIN_LIMIT, T_CORE_END_COMPACT_EMPTY, str_num(&now, COMPACT_TRIES));
  compact_drop(a);
  return end_with_calls(a, REIN_OUTCOME_CONTEXT_FULL, T_CORE_CALL_CONTEXT, T_CORE_CALL_STOPPED,
                        STR_NONE, err);
}

void compacted_put(struct buf *out, enum rein_lang lang, const struct compacted *c) {
  struct num_text some, all, tokens;
  TEXT_PUT(out, lang, c->messages ? T_CORE_REWRITE_COMPACT : T_CORE_REWRITE_CUT,
           str_num(&some, c->messages), str_num(&all, c->of), str_num(&tokens, c->tokens));
}

void compact_drop(struct agent *a) {
  a->compact.on = a->compact.ready = a->compact.stuck = false;
}
