/* Tells the watch what is odd about a request or its answer, and goes on: changes that a
 * provider asked for, signs of a server that is set up wrongly. Failures that end or delay
 * something are send.c's. */
#include "driver/run.h"
#include "schema/derive.h"
#include "text/text.h"
#include "wire/doubt.h"

#define SENTENCE_BYTES_MAX 8192

void tell(struct run *run, enum text_id id, struct str one, struct str two) {
  const struct watch *watch = &run->spec.watch;
  struct buf words;
  if (!watch->warn || run->broken) return;
  buf_init(&words, SENTENCE_BYTES_MAX);
  TEXT_PUT(&words, run->spec.agent.lang, id, one, two);
  if (words.fail) run_break_memory(run);
  watch->warn(watch->ctx, run, buf_str(&words));
  buf_release(&words);
}

void tell_rewrite(struct run *run, enum rewrite rewrite) {
  const struct watch *watch = &run->spec.watch;
  struct buf words;
  if (rewrite == REWRITE_LOOSE_TOOL) {
    struct str said, tool = agent_loosened(run->agent, &said);
    tell(run, T_CORE_REWRITE_LOOSE_TOOL, tool, said);
    return;
  }
  if (!watch->warn || run->broken) return;
  buf_init(&words, SENTENCE_BYTES_MAX);
  if (rewrite == REWRITE_COMPACT) {
    struct compacted c = agent_compacted(run->agent);
    compacted_put(&words, run->spec.agent.lang, &c);
  } else {
    rewrite_put(&words, run->spec.agent.lang, rewrite);
  }
  if (words.fail) run_break_memory(run);
  watch->warn(watch->ctx, run, buf_str(&words));
  buf_release(&words);
}

/* What is moved or rewritten is the log's; what is not as asked for, the person's too. */
void tell_tools(struct run *run) {
  const struct watch *watch = &run->spec.watch;
  const struct agent_config *c = agent_config(run->agent);
  for (const struct finding *f = agent_findings(run->agent); f && !run->broken; f = f->next) {
    struct buf words;
    buf_init(&words, SENTENCE_BYTES_MAX);
    finding_put(&words, c->lang, str_of(c->rows[f->tool].name), f);
    if (words.fail == REIN_MEMORY) run_break_memory(run);
    bool loud = f->effect == EFFECT_LOOSE;
    if (loud && watch->warn) watch->warn(watch->ctx, run, buf_str(&words));
    if (!loud && watch->note) watch->note(watch->ctx, run, buf_str(&words));
    buf_release(&words);
  }
  for (size_t i = 0; i < c->row_count && c->skip_bad_tools && !run->broken; i++)
    if (c->forms[i].left_out.n)
      tell(run, T_CORE_TOOL_LEFT_OUT, str_of(c->rows[i].name), c->forms[i].left_out);
}

void tell_dropped(struct run *run, size_t blocks) {
  const struct watch *watch = &run->spec.watch;
  struct num_text room;
  struct buf words;
  if (!watch->note || blocks == 0) return;
  buf_init(&words, SENTENCE_BYTES_MAX);
  TEXT_PUT(&words, run->spec.agent.lang, T_DRIVER_SEND_DROPPED, str_num(&room, (int64_t)blocks));
  if (words.fail) run_break_memory(run);
  watch->note(watch->ctx, run, buf_str(&words));
  buf_release(&words);
}

static void tell_left_call(struct run *run, const struct reply *reply) {
  const struct agent_config *config = agent_config(run->agent);
  struct str names[TOOLS_MAX];
  size_t count = 0;
  for (; count < config->row_count && count < TOOLS_MAX; count++)
    names[count] = str_of(config->rows[count].name);
  struct str call = doubt_left_call(reply, names, count);
  if (call.n) tell(run, T_DRIVER_SEND_LEFT_CALL, call, STR_NONE);
}

/* Once a run: it is the same server. */
static void tell_cut_prompt(struct run *run, const struct reply *reply,
                            const struct agent_stats *before, size_t body) {
  struct num_text prompt, bytes;
  struct doubt_sizes sizes = {.body = body,
                              .body_before = run->body_before,
                              .prompt = usage_prompt(&reply->usage),
                              .prompt_before = before->prompt,
                              .output_before = before->usage.output};
  if (!reply->usage.known_input) return;
  bool cut = doubt_cut_prompt(&sizes);
  run->body_before = body;
  if (!cut || run->told_cut_prompt) return;
  run->told_cut_prompt = true;
  tell(run, T_DRIVER_SEND_CUT_PROMPT, str_num(&prompt, sizes.prompt),
       str_num(&bytes, (int64_t)body));
}

void tell_doubts(struct run *run, const struct reply *reply, const struct agent_stats *before,
                 size_t body) {
  if (run->broken || run->spec.script) return;
  tell_left_call(run, reply);
  tell_cut_prompt(run, reply, before, body);
}
