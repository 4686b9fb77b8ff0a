/* rein: an agent harness as a library.
 *
 * A model asks for tools in a loop; rein decides whether each call may happen,
 * does it, tells the model what came of it, and always stops.
 *
 * Two ways in:
 *   rein_run()      one run from words to an outcome; rein waits for you.
 *   rein_machine_*  the bare machine: it says what it wants (send these bytes,
 *                   ask about this call, run it), you say what happened. It does
 *                   no I/O, reads no clock, starts no thread and calls no one.
 *
 *   static int weather(struct rein_call *call) {
 *     return rein_call_result(call, "sunny", 5);
 *   }
 *   const struct rein_tool tools[] = {{ .name = "weather", .run = weather, ... }};
 *   struct rein_options o = { .size = sizeof o, .model = "anthropic/claude-sonnet-5",
 *                             .tools = tools, .tool_count = 1 };
 *   struct rein_report *report = NULL;
 *   if (rein_run(&o, "How is the weather?", &report, &error) == REIN_OK)
 *     puts(rein_report_text(report));
 *   rein_report_free(report);
 *
 * Every struct that may grow starts with `size`: set it to sizeof the struct.
 * A member left zero takes its default, which its comment states. Text is UTF-8.
 * Nothing in the library prints, exits, reads the environment or installs a
 * signal handler. A handle belongs to one thread at a time, unless said.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define REIN_VERSION "0.1.0"

#if defined(__GNUC__)
#define REIN_CHECKED __attribute__((warn_unused_result))
#define REIN_API __attribute__((visibility("default")))
#else
#define REIN_CHECKED
#define REIN_API
#endif

/* How a function that can fail went; the classes an error can have. */
enum rein_code {
  REIN_OK = 0,
  REIN_INPUT,     /* the caller gave something that cannot be used */
  REIN_PEER,      /* a provider, server or tool broke its protocol */
  REIN_LIMIT,     /* a stated ceiling was reached */
  REIN_SYSTEM,    /* the operating system refused; the sentence says what */
  REIN_MEMORY,    /* an allocation failed */
  REIN_CANCELLED, /* the caller asked to stop */
  REIN_BUG,       /* rein broke its own rule: please report it */
  REIN_HELD       /* another process holds the run */
};

/* Why a run ended: name, word in JSON and in the journal, exit code. */
#define REIN_OUTCOMES(X)                                                                           \
  X(FINISHED, "finished", 0)                                                                       \
  X(INTERNAL, "internal_error", 1)                                                                 \
  X(USAGE, "usage", 2)                                                                             \
  X(CHECK, "failed_check", 3)                                                                      \
  X(TURNS, "turns", 10)                                                                            \
  X(TOKENS, "tokens", 11)                                                                          \
  X(COST, "cost", 12)                                                                              \
  X(TIME, "time", 13)                                                                              \
  X(NO_PROGRESS, "no_progress", 14)                                                                \
  X(UNAPPROVED, "unapproved", 15)                                                                  \
  X(REFUSED, "refused", 16)                                                                        \
  X(TRUNCATED, "truncated", 17)                                                                    \
  X(CONTEXT_FULL, "context_full", 18)                                                              \
  X(EMPTY, "empty", 19)                                                                            \
  X(MODEL_ERROR, "model_error", 20)                                                                \
  X(NOT_AUTHORISED, "not_authorised", 21)                                                          \
  X(BAD_TOOL, "bad_tool", 22)                                                                      \
  X(STORE_FAILED, "store_failed", 23)                                                              \
  X(HELD, "held", 24)                                                                              \
  X(CANCELLED, "cancelled", 25)

enum rein_outcome {
  REIN_OUTCOME_NONE = -1, /* the run has not ended */
#define REIN_X(id, word, exit) REIN_OUTCOME_##id,
  REIN_OUTCOMES(REIN_X)
#undef REIN_X
};

/* The outcome's word ("no_progress") and exit code (14). */
REIN_API const char *rein_outcome_word(enum rein_outcome outcome);
REIN_API int rein_outcome_exit(enum rein_outcome outcome);

enum rein_verdict {
  REIN_UNDECIDED = 0, /* of a row: take the policy's default */
  REIN_ALLOW,
  REIN_ASK,
  REIN_DENY
};

enum rein_lang { REIN_LANG_DEFAULT = 0, REIN_ENGLISH, REIN_KOREAN };

/* ---- Tools ------------------------------------------------------------- */

/* What a tool touches. A row that declares nothing is taken to write and to
 * reach outside. */
enum rein_touches {
  REIN_TOUCHES_UNDECLARED = 0,
  REIN_TOUCHES_NOTHING = 1 << 0,
  REIN_READS_PRIVATE = 1 << 1, /* reads what belongs to the user */
  REIN_WRITES = 1 << 2,        /* changes something that stays */
  REIN_OUTSIDE = 1 << 3,       /* talks to another machine: text of others may come in, and
                                * what is private may go out */
  REIN_READS_OUTSIDE = 1 << 4, /* text of others comes in, but what is sent goes to the user's
                                * own service alone: asking there sends nothing out */
};

struct rein_call; /* one call of a tool while its function runs */

/* Does the call. Runs on a pool thread, beside other calls: it must be
 * thread-safe. It answers once, through rein_call_result or rein_call_error,
 * and returns what that returned; returning without an answer is an error
 * result that says so. The arguments were checked against the row's schema. */
typedef int (*rein_tool_fn)(struct rein_call *call);

/* One row: the list sent to the model and the dispatch are both read from it.
 * Strings are borrowed and must outlive the run. */
struct rein_tool {
  const char *name;        /* ^[A-Za-z0-9_-]{1,64}$ */
  const char *description; /* what it does and when to use it, for the model */
  const char *schema;      /* JSON Schema of the arguments, an object */
  unsigned touches;        /* enum rein_touches, or-ed */
  enum rein_verdict verdict;
  bool polls;                /* equal calls with equal results are still progress */
  const char *volatile_args; /* arguments that progress ignores, comma separated; NULL none */
  const char *volatile_text; /* regex of result text that progress ignores; NULL none */
  rein_tool_fn run;
  void *ctx;        /* yours, through rein_call_ctx */
  int64_t limit_ms; /* time limit of one call; 0: 120 000; REIN_OFF. One that is late is
                     * told to stop and answered for; what it says later is dropped. It may
                     * then still be running when rein_run has returned. */
  bool idempotent;  /* doing it twice is as doing it once: a call that was lost when its
                     * process died is run again, as one that only reads */
  /* What the policy's rules for paths, hosts and commands look at: names of
   * arguments, comma separated; NULL none. A list of texts counts as its texts. */
  const char *paths;    /* files and folders, relative to the root or absolute */
  const char *urls;     /* addresses; their hosts are judged */
  const char *commands; /* a text for /bin/sh -c, or a list: program and arguments */
  const char *hosts;    /* not arguments: the hosts that it reaches in any case */
};

/* Inside a tool's function. Text returned is borrowed until it returns. */
REIN_API void *rein_call_ctx(const struct rein_call *call);
REIN_API const char *rein_call_args(const struct rein_call *call, size_t *len); /* source JSON */
/* An argument by name: its text, never NULL; `absent` when it is not there, or
 * null. What is no text comes as it was written, so a number keeps all its
 * digits. A NUL inside, which would end the text early, comes as U+FFFD. */
REIN_API const char *rein_call_text(const struct rein_call *call, const char *name,
                                    const char *absent);
/* `absent` also where it is no whole number (1.0 and 1e2 are), or no bool. */
REIN_API int64_t rein_call_int(const struct rein_call *call, const char *name, int64_t absent);
REIN_API bool rein_call_bool(const struct rein_call *call, const char *name, bool absent);
REIN_API bool rein_call_cancelled(const struct rein_call *call); /* answer soon when true */
/* The answer: text for the model; len SIZE_MAX: terminated. Copies. 0, or an
 * enum rein_code when it could not be kept: REIN_INPUT for a second answer. */
REIN_API int rein_call_result(struct rein_call *call, const char *text, size_t len);
/* An error the model can act on: what was wrong, and what would be right. Its
 * first line, at most 200 code points, reaches the model; all of it the log. */
REIN_API int rein_call_error(struct rein_call *call, const char *text, size_t len);

/* ---- Limits and options ------------------------------------------------ */

#define REIN_OFF (-1)  /* switches a limit off; 0 of a limit takes its default */
#define REIN_ZERO (-2) /* the number zero: max_turns REIN_ZERO is one request, no tool */

enum rein_no_progress {
  REIN_PROGRESS_DEFAULT = 0, /* calls and results repeat: note, block, stop */
  REIN_PROGRESS_OFF,
  REIN_PROGRESS_2_TURNS,    /* a reply equal to the last turn's calls */
  REIN_PROGRESS_3_IN_A_ROW, /* a call three times in a row */
  REIN_PROGRESS_3_IN_ALL    /* a call for the third time in the run */
};

struct rein_limits {
  int64_t max_turns;    /* tool turns; default 30 */
  int64_t token_budget; /* input and output of every request; default 300 000 */
  int64_t cost_uusd;    /* micro-dollars; default off; needs a model whose price is known */
  int64_t time_ms;      /* default off */
  enum rein_no_progress no_progress;
  bool wrap_up; /* hold back enough for one last request that sums up when a limit is reached */
  /* Percent of the context window from which a summary takes the place of older turns;
   * default 80. REIN_OFF: never, also where the provider says that the window is full. */
  int64_t compact_at;
  int64_t context_window; /* tokens; default: what the price table knows of the model */
};

/* A call that wants approval. Borrowed until the function returns. */
struct rein_question {
  const char *tool;
  const char *args; /* the exact bytes that will run */
  size_t args_len;
  const char *rule; /* what asks: a rule of the policy, or the row's verdict */
  bool tainted;     /* it would send out, and private data was read and outside text seen */
  bool unclear;     /* a command with more than one reading, or with redirections */
};

/* Decides about one call: REIN_ALLOW, or REIN_DENY; anything else is a denial.
 * Called on a thread of its own while rein_run waits, so that the time limit and
 * `cancel` hold meanwhile; when one of them ends the run first, it may still be
 * running after rein_run has returned, and what it says is dropped. Fill
 * `reason` (at most `cap` bytes, terminated) and it reaches the model. */
typedef enum rein_verdict (*rein_approve_fn)(void *ctx, const struct rein_question *question,
                                             char *reason, size_t cap);

/* Hears, as one line of JSON each: the records of the run's journal, the pieces
 * of streamed text ({"stream":"piece","text":…}, "withdrawn", "retry", "warning"), and last
 * the object of rein_report_json. On the thread of rein_run; must not call back
 * into rein. The line is terminated, its end of line is yours. */
typedef void (*rein_hear_fn)(void *ctx, const char *json_line, size_t len);

struct rein_options {
  size_t size;
  const char *model;    /* PROVIDER/MODEL, "demo" or "script:FILE"; needed */
  const char *base_url; /* NULL: the provider's own; as its official SDK takes it */
  const char *api_key;  /* never in a record or a sentence; wiped after the run */
  const char *system;   /* system prompt; NULL none */
  const char *root;     /* folder that built-in file tools see; NULL: none of them */
  const struct rein_tool *tools;
  size_t tool_count;
  const char *builtin;     /* names of built-in tools, comma separated; NULL none */
  const char *policy_json; /* {"default":…,"rules":{…}}; NULL: rows' verdicts, default ask */
  struct rein_limits limits;
  int64_t output_limit;      /* tokens of one reply; default 16 384 */
  int64_t idle_ms;           /* no event that moves the message forward; default 300 000 */
  int retries;               /* per request; 0: 2; REIN_OFF: none */
  enum rein_lang lang;       /* sentences for the person; default English */
  enum rein_lang model_lang; /* sentences for the model; default English */
  rein_approve_fn approve;   /* NULL: nobody can be asked, so ask is deny */
  void *approve_ctx;
  rein_hear_fn hear;
  void *hear_ctx;
  const volatile int *cancel; /* when it becomes non-zero the run ends as cancelled; set it
                               * from a signal handler, or atomically from another thread */
  const char *github_url;     /* of github_repo_info; NULL: the public one */
  const char *github_token;   /* NULL: none */
  const char *proxy;          /* for all requests, as http://HOST:PORT; NULL none */
  const char *no_proxy;       /* hosts that go direct, comma separated */
  const char *ca_file;        /* certificates to trust; NULL: the system's */
  const char *quirks;         /* treat the server as this one, whatever its host: "plain",
                               * "openai", "azure", "deepseek", "mistral", "groq",
                               * "openrouter", "anthropic", "gemini"; NULL: by its host */
  bool strict;                /* ask the provider to hold the schemas of tools, where it can; rein
                        * checks arguments either way */
  bool skip_bad_tools;     /* leave out a tool that cannot be sent; else the run ends as bad_tool */
  const char *dialect;     /* of tool schemas: "openai-strict-2024", "openai-strict", "openai",
                        * "anthropic-strict", "anthropic", "llama.cpp", "gemini"; NULL: the
                        * provider's own */
  const char *models_json; /* prices and context windows by model, before those that are
                               * built in: {"M":{"input":3,"output":15,"cache_read":0.3,
                               * "cache_write":3.75,"window":200000}}, dollars per million
                               * tokens (docs/BUDGETS.md); NULL: only those */
};

/* An error that ended nothing but the call: a sentence for the person. */
struct rein_error {
  enum rein_code code;
  char message[2048];
};

struct rein_usage {
  int64_t input, output, cache_read, cache_write;
};

struct rein_report; /* how a run ended */

/* Carries one run from `task` to its outcome. REIN_OK whenever there is an
 * outcome, also an unwanted one: ask the report. On another code nothing ran,
 * `*report` is NULL and `error` (may be NULL) says why. */
REIN_API enum rein_code rein_run(const struct rein_options *options, const char *task,
                                 struct rein_report **report, struct rein_error *error)
    REIN_CHECKED;

REIN_API enum rein_outcome rein_report_outcome(const struct rein_report *report);
REIN_API const char *rein_report_text(const struct rein_report *report);   /* the answer */
REIN_API const char *rein_report_reason(const struct rein_report *report); /* one sentence */
REIN_API const char *rein_report_json(const struct rein_report *report);   /* as --output json */
REIN_API int64_t rein_report_turns(const struct rein_report *report);
REIN_API int64_t rein_report_requests(const struct rein_report *report);
REIN_API struct rein_usage rein_report_usage(const struct rein_report *report);
/* Micro-dollars, rounded up; -1: the price of the model is not known. */
REIN_API int64_t rein_report_cost_uusd(const struct rein_report *report);
REIN_API void rein_report_free(struct rein_report *report); /* NULL is fine */

/* ---- The machine, for those who bring their own loop ------------------- */

/* Take every want until NOTHING, do it, feed what came of it, and again:
 *
 *   rein_machine_new(&o, "Hello", now(), &m, &error);
 *   for (struct rein_want w;;) {
 *     while (rein_machine_next(m, &w)) ...start w; DONE is the last...
 *     ...wait until something happened or rein_machine_deadline(m); feed it...
 *   }
 *
 * An answer to something that is not wanted any more changes nothing. What the
 * machine cannot do by itself is refused in the options: builtin, root, approve,
 * hear, cancel, demo and script:FILE. A tool's `run` is yours to call, or NULL;
 * so is its limit_ms yours to keep.
 */
struct rein_machine;

enum rein_want_kind {
  REIN_WANT_NOTHING = 0, /* feed it something first, or wait until the deadline */
  REIN_WANT_SEND,        /* POST body to url with headers, feed the answer's bytes */
  REIN_WANT_ABORT_SEND,  /* drop the request `id`: its answer is not wanted any more */
  REIN_WANT_ASK,         /* decide about the call `id`: rein_machine_verdict */
  REIN_WANT_RUN,         /* run the call `id`: rein_machine_started, then rein_machine_result */
  REIN_WANT_ABORT_RUN,   /* the answer of the call `id` is not wanted any more */
  REIN_WANT_DONE         /* the run ended: outcome */
};

/* Borrowed until the machine is fed or asked next. What a SEND holds lasts longer:
 * until its end is fed, or a tick or a cancel makes the machine want it aborted.
 * So ask what it wants before you let the bytes go on. */
struct rein_want {
  enum rein_want_kind kind;
  uint32_t id; /* of the request or the call */
  const char *url;
  const char *const *headers; /* "name: value" lines, NULL at the end; one holds the key */
  const char *body;
  size_t body_len;
  const struct rein_tool *tool; /* ASK, RUN: the row you gave */
  const char *args;             /* ASK, RUN: the exact bytes that are to run */
  size_t args_len;
  const char *rule;      /* ASK: what asks */
  bool tainted, unclear; /* ASK: as in struct rein_question */
  enum rein_outcome outcome;
};

/* Times are milliseconds of one monotonic clock of yours. Feeding fails with
 * REIN_MEMORY alone; the run then ends, or the same may be fed again. */
REIN_API enum rein_code rein_machine_new(const struct rein_options *options, const char *task,
                                         int64_t now_ms, struct rein_machine **machine,
                                         struct rein_error *error) REIN_CHECKED;
REIN_API void rein_machine_free(struct rein_machine *machine);
/* The next thing it wants; REIN_WANT_NOTHING when it only waits. */
REIN_API enum rein_want_kind rein_machine_next(struct rein_machine *machine,
                                               struct rein_want *want);
/* When rein_machine_tick is due (a retry, the time limit, the idle limit of a
 * request); INT64_MAX: never. */
REIN_API int64_t rein_machine_deadline(const struct rein_machine *machine);
REIN_API enum rein_code rein_machine_tick(struct rein_machine *machine, int64_t now_ms);
/* The HTTP answer of request `id`: status, then any headers, then body pieces,
 * then the end (`ok` false: the connection broke; `why` in words, may be NULL). */
REIN_API enum rein_code rein_machine_status(struct rein_machine *machine, uint32_t id, int status);
REIN_API enum rein_code rein_machine_header(struct rein_machine *machine, uint32_t id,
                                            const char *name, const char *value);
REIN_API enum rein_code rein_machine_bytes(struct rein_machine *machine, uint32_t id,
                                           const char *bytes, size_t len);
REIN_API enum rein_code rein_machine_end(struct rein_machine *machine, uint32_t id, bool ok,
                                         const char *why, int64_t now_ms);
/* The next piece of streamed text, or of thinking; false: none now. Borrowed
 * until bytes are fed next. */
REIN_API bool rein_machine_piece(struct rein_machine *machine, const char **text, size_t *len,
                                 bool *thinking);
/* True once when the pieces of text given out of this reply do not count: it
 * broke, or the server began it anew. Ask before pulling pieces. */
REIN_API bool rein_machine_withdrawn(struct rein_machine *machine);
REIN_API enum rein_code rein_machine_verdict(struct rein_machine *machine, uint32_t id,
                                             enum rein_verdict verdict, const char *reason,
                                             int64_t now_ms);
REIN_API enum rein_code rein_machine_started(struct rein_machine *machine, uint32_t id,
                                             int64_t now_ms);
REIN_API enum rein_code rein_machine_result(struct rein_machine *machine, uint32_t id,
                                            const char *text, size_t len, bool is_error,
                                            int64_t now_ms);
REIN_API enum rein_code rein_machine_cancel(struct rein_machine *machine, int64_t now_ms);
/* Record i of the journal, the first is 0: one line of JSON; NULL: not there
 * yet. Keep them before you do what the machine wants, and a run is never lost. */
REIN_API const char *rein_machine_record(const struct rein_machine *machine, size_t i, size_t *len);
/* The text of the last whole reply; one sentence on why it ended. Borrowed until
 * the machine is fed next. */
REIN_API const char *rein_machine_text(struct rein_machine *machine);
REIN_API const char *rein_machine_reason(struct rein_machine *machine);
REIN_API int64_t rein_machine_turns(const struct rein_machine *machine);
REIN_API int64_t rein_machine_requests(const struct rein_machine *machine);
REIN_API struct rein_usage rein_machine_usage(const struct rein_machine *machine);
REIN_API int64_t rein_machine_cost_uusd(const struct rein_machine *machine); /* as in a report */

/* ---- JSON Schema by itself ---------------------------------------------- */

/* Drafts 2020-12 and 7, compiled once and used for many values:
 *
 *   struct rein_schema *s;
 *   if (rein_schema_new(text, len, NULL, &s, &error)) ...error.message says where...
 *   if (rein_schema_check(s, json, n, &error) == REIN_INPUT) puts(error.message);
 *   rein_schema_free(s);
 *
 * Nothing is ever fetched. A schema belongs to one thread at a time. */
struct rein_schema;

/* A document that a $ref may name. Text is JSON; len SIZE_MAX: terminated. */
struct rein_schema_document {
  const char *uri; /* absolute */
  const char *text;
  size_t len;
};

struct rein_schema_options {
  size_t size;
  bool hold_formats;   /* a wrong `format` is a failure; else a note for the reader */
  enum rein_lang lang; /* of the messages; default English */
  const struct rein_schema_document *documents; /* copied */
  size_t document_count;
};

/* Compiles a schema; its text is copied, len SIZE_MAX: terminated. `options` and
 * `error` may be NULL. REIN_INPUT: no JSON, or no schema; the message says where. */
REIN_API enum rein_code rein_schema_new(const char *text, size_t len,
                                        const struct rein_schema_options *options,
                                        struct rein_schema **schema, struct rein_error *error)
    REIN_CHECKED;
/* REIN_OK: the value, as JSON text, is what the schema describes. REIN_INPUT: it is
 * not, or is no JSON; the message is one line of at most 200 code points: where, as
 * a JSON pointer, what was expected, what came. REIN_LIMIT: too deep, or too much work. */
REIN_API enum rein_code rein_schema_check(struct rein_schema *schema, const char *json, size_t len,
                                          struct rein_error *error) REIN_CHECKED;
REIN_API void rein_schema_free(struct rein_schema *schema); /* NULL is fine */

#ifdef __cplusplus
}
#endif
