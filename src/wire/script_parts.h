/* The inside of a script, shared by script.c (reads and checks a file),
 * script_talk.c (reads a request), script_fill.c (templates) and script_play.c
 * (replies as bytes of the Messages API). */
#pragma once

#include "json/json.h"
#include "wire/script.h"

#define SCRIPT_TEXT_MAX (8u << 20) /* of one reply; a template may hold a whole result */
#define SCRIPT_RESULTS_MAX 256     /* a template that counts further is a mistake */

struct scenario {
  const struct json *when;    /* a string, or an array of them; NULL: any words */
  const struct json *replies; /* an array */
};

struct script {
  struct arena arena;
  struct str text;
  struct scenario *scenarios;
  size_t count;
};

struct talk_result {
  struct str text;
  bool is_error;
};

/* What a request says, as far as a script looks at it. */
struct talk {
  struct str words;                /* the user's newest */
  const struct scenario *scenario; /* the one whose `when` they match; NULL none */
  size_t replies;                  /* assistant messages behind the words */
  size_t replies_in_all;
  struct talk_result *results; /* behind the words, in order */
  size_t result_count;
  bool korean;   /* the words hold Hangul */
  bool no_tools; /* tool_choice none */
};

/* REIN_INPUT: the body is no request. */
enum rein_code talk_read(struct arena *arena, const struct script *script, struct str body,
                         struct talk *talk) REIN_CHECKED;

/* A text with {{…}} filled in. A template that nobody knows: fill_check gives
 * it; filling never meets one. */
void fill(struct buf *out, struct arena *arena, struct str text, const struct talk *talk);
/* A value without the script's comments; its strings are filled in, too, where
 * there is a talk. */
void fill_json(struct buf *out, struct arena *arena, const struct json *node,
               const struct talk *talk);
bool fill_check(struct str text, struct str *unknown);

struct play {
  struct arena *arena;
  const struct talk *talk;
  const struct json *reply; /* NULL: the script is over */
  size_t body_bytes;        /* of the request */
};
/* The events of the reply, as the Messages API streams them. */
void play_reply(struct buf *out, const struct play *play);
