/* The agent: a pure machine. Events in, actions out; see docs/ARCHITECTURE.md
 * for one user sentence walked through it.
 *
 *   agent_new(&config, &agent, &err);
 *   agent_feed(agent, &(struct event){.kind = EVENT_SAY, .at_ms = now, .text = words}, &err);
 *   while (agent_next(agent, &action)) ...do it, feed what came of it...
 *
 * It does no I/O, reads no clock, draws no random number, calls nobody back.
 * agent_feed fails for blank words (REIN_INPUT: nothing changed) and for memory:
 * then the run has ended as internal_error, its transcript whole, and new words
 * may be fed. An event that answers nothing (late, doubled) changes nothing.
 *
 * No call is made whose answer could be lost: RESERVE comes before SEND, and a
 * RUN is journalled as STARTED by whoever does it, before it does it.
 */
#pragma once

#include "core/action.h"
#include "core/event.h"
#include "core/price.h"
#include "core/tool.h"
#include "core/wire.h"
#include "policy/policy.h"

struct agent;

/* The first record of a journal: all of it is fixed for the run. Borrowed; must
 * outlive the agent, but for `system` and `model`, which are copied. */
struct agent_config {
  const struct wire *wire;
  struct str model, system;
  const struct rein_tool *rows;
  size_t row_count;
  const struct policy *policy; /* NULL: rows' verdicts, default ask */
  struct rein_limits limits;   /* defaults filled in by limits_fill */
  int64_t output_limit;        /* 0: OUTPUT_LIMIT_DEFAULT */
  int retries;                 /* 0: 2; REIN_OFF: none */
  uint64_t jitter_seed;        /* retry waits are spread by it; recorded, so replay agrees */
  enum rein_lang lang, model_lang;
  bool strict;                   /* ask the provider to hold schemas where it can */
  bool skip_bad_tools;           /* leave out what cannot be sent, and do not end for it */
  struct str dialect;            /* of tool schemas, by its name; empty: the provider's own */
  const struct tool_form *forms; /* one a row, of a journal; NULL: derived here */
  struct str root;    /* the folder that paths are relative to, absolute; empty: unknown */
  struct str address; /* the provider's URL: recorded, and its host says what it needs */
  struct str sandbox; /* what commands run in, a word for the record; empty: there are none */
  struct str quirks;  /* what it needs, by a name of wire/quirks.c instead; empty: by its host */
  struct model_facts facts; /* what the model costs and holds; unknown: no cost limit */
  /* Finds a wire by name, for a run that changes its model; NULL: it cannot. Not recorded. */
  const struct wire *(*wires)(struct str name);
};

#define OUTPUT_LIMIT_DEFAULT 16384
#define OUTPUT_LIMIT_MIN 512 /* below it a reply is of no use: the valve closes before sending */

/* Errors: REIN_INPUT (a row or limit that cannot be used, named), REIN_MEMORY. */
enum rein_code agent_new(const struct agent_config *config, struct agent **agent, struct err *err)
    REIN_CHECKED;
void agent_free(struct agent *agent); /* NULL is fine */
enum rein_code agent_feed(struct agent *agent, const struct event *event, struct err *err)
    REIN_CHECKED;
/* The next action; false: nothing to do until something happens. Pull until
 * false after each event: what was pulled is part of the state, so a replay
 * agrees only with one who did. */
bool agent_next(struct agent *agent, struct action *action);
/* A RESUME without words would do something: it has not ended, or a request is due. */
bool agent_goes_on(const struct agent *agent);
/* Keeps the blocks of all user messages, which a REWRITE_MODEL needs, or lets go
 * of them again (REIN_MEMORY: nothing changed). They cost what the text costs. */
enum rein_code agent_keep_blocks(struct agent *agent, bool keep, struct err *err) REIN_CHECKED;
/* From here on requests are measured and not built (their actions have no body), or
 * (false) built again: for a run that is rebuilt, whose requests were sent long ago. */
void agent_measure(struct agent *agent, bool on);
/* When a TICK is due; INT64_MAX: never. */
int64_t agent_deadline(const struct agent *agent);

/* ---- Looking, for journals, reports and tests. Borrowed until the next event. */

/* What was changed of the tools on their way out, and why: a list, `tool` being the
 * row's place; NULL none. */
const struct finding *agent_findings(const struct agent *agent);
/* The tool that a refusal made plainer, and the provider's words; empty none. */
struct str agent_loosened(const struct agent *agent, struct str *words);

/* How it ended. */
struct agent_end {
  enum rein_outcome outcome; /* REIN_OUTCOME_NONE while it runs */
  int signal;                /* of a cancel; 0 none */
  struct err why;            /* one sentence; text T_NONE when it just finished */
};
const struct agent_end *agent_ended(const struct agent *agent);
struct str agent_text(const struct agent *agent); /* text of the last reply */

struct agent_stats {
  int64_t turns, requests; /* tool turns run; attempts granted */
  struct usage usage;      /* booked, real */
  int64_t spent;           /* tokens the budget counts: booked usage and lost reservations */
  int64_t reserved;        /* of the attempt in flight */
  int64_t cost;            /* pico-dollars, as `spent`; -1: the price is not known */
  int64_t prompt;          /* tokens of the newest prompt: how full the context is */
  int64_t time_ms;
};
struct agent_stats agent_stats(const struct agent *agent);
const struct rein_limits *agent_limits(const struct agent *agent);
const struct agent_config *agent_config(const struct agent *agent); /* defaults filled in */

/* True right after the REPLY of an answer that a lowered output limit cut, when the
 * same request goes out again with more room: what was shown of it does not count. */
bool agent_withdrew(const struct agent *agent);
/* The request that is made or on its way asks for the summary of a compaction: what comes
 * of it is no answer. */
bool agent_compacts(const struct agent *agent);
/* True right after the REPLY that brought the summary, or should have. */
bool agent_heard_summary(const struct agent *agent);
/* What a REWRITE_COMPACT is about to put shorter, or did. */
struct compacted agent_compacted(const struct agent *agent);
/* A call of the newest turn by its id; NULL none. */
struct call_view {
  uint32_t id;
  struct str name, args;
  struct str result; /* what the model is told; empty until answered */
  bool answered, is_error, ran;
  bool refused; /* by rule, person or nobody */
  bool lost;    /* it was under way when its process died: nobody knows whether it ran */
};
bool agent_call(const struct agent *agent, uint32_t id, struct call_view *view);
/* The same by place in the newest turn, 0 first. */
bool agent_nth_call(const struct agent *agent, size_t i, struct call_view *view);
/* Calls that were refused in the whole run, for the report. */
size_t agent_refusals(const struct agent *agent);
void agent_refusal(const struct agent *agent, size_t i, struct str *tool, struct str *args,
                   struct str *why, enum decider *by);
/* The words and the name of the state, and a number that is equal for equal states. */
const char *agent_state(const struct agent *agent);
uint64_t agent_digest(const struct agent *agent);
