/* Scripts and shorthand that the tests of the machine share. */
#pragma once

#include "core/play.h"

/* ---- scripts -------------------------------------------------------------- */

static inline void one_then_answer(struct play *p, struct play_reply *r) {
  if (p->sends == 1)
    play_call(r, "a", "read", "{\"path\":\"x\"}");
  else
    play_text(r, "the answer");
}

static inline void always_reads(struct play *p, struct play_reply *r) {
  static char args[40];
  snprintf(args, sizeof args, "{\"path\":\"f%d\"}", p->sends);
  play_text(r, "looking");
  play_call(r, "a", "read", args);
}

static inline void answers(struct play *p, struct play_reply *r) {
  (void)p;
  play_text(r, "hello");
}

struct case_of_reply {
  const char *name, *args;
  enum stop stop;
};

static inline void one_call(struct play *p, struct play_reply *r) {
  const struct case_of_reply *c = p->ctx;
  if (p->sends > 1) {
    play_text(r, "end");
    return;
  }
  play_call(r, "a", c->name, c->args);
  r->stop = c->stop ? c->stop : STOP_TOOLS;
}

static inline void start(struct play *p, const struct agent_config *config, play_reply_fn reply) {
  *p = (struct play){.reply = reply, .now = 1000};
  assert_true(play_new(p, config));
}

static inline void run(struct play *p, const struct agent_config *config, play_reply_fn reply) {
  start(p, config, reply);
  play_say(p, "do it");
}

static inline void expect(struct play *p, enum rein_outcome outcome, const char *trace) {
  play_check_bodies(p);
  assert_string_equal(buf_z(&p->trace), trace);
  assert_int_equal(p->done, outcome);
  assert_int_equal(agent_ended(p->agent)->outcome, outcome);
  assert_int_equal(play_replay(p), agent_digest(p->agent));
  play_release(p);
}
