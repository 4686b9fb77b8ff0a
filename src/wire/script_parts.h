/* The inside of a script, shared by script.c (reads and checks a file),
 * script_talk.c (reads a request), script_fill.c (templates), script_play.c
 * (replies) and a file for the bytes of each wire. */
#pragma once

#include "json/json.h"
#include "json/write.h"
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

/* Which protocol a request is in, told by its path. */
enum script_wire { SCRIPT_MESSAGES, SCRIPT_RESPONSES, SCRIPT_CHAT };

/* REIN_INPUT: the body is no request. */
enum rein_code talk_read(struct arena *arena, const struct script *script, enum script_wire wire,
                         struct str body, struct talk *talk) REIN_CHECKED;

/* A text with {{…}} filled in. A template that nobody knows: fill_check gives
 * it; filling never meets one. */
void fill(struct buf *out, struct arena *arena, struct str text, const struct talk *talk);
/* A value without the script's comments; its strings are filled in, too, where
 * there is a talk. */
void fill_json(struct buf *out, struct arena *arena, const struct json *node,
               const struct talk *talk);
bool fill_check(struct str text, struct str *unknown);

/* A reply on its way to the bytes of a wire. */
struct play {
  struct arena *arena;
  const struct talk *talk;
  const struct json *reply; /* NULL: the script is over */
  size_t body_bytes;        /* of the request */
  enum script_wire wire;
};
void play_reply(struct buf *out, const struct play *play);

#define PIECE_POINTS 12              /* of text per delta: a few words */
#define PIECE_ARGS 40                /* of arguments per delta */
#define STAGE_SECRET STR("c2NyaXB0") /* what stands for a signature, or hidden reasoning */

struct stage {
  struct buf *out;
  const struct play *play;
  struct str words, thinking, stop;
  const struct json *first_call; /* NULL none */
  int64_t index;                 /* of the block, item or call at hand */
  size_t written;                /* bytes that count as output */
  size_t calls;
};
void stage_messages(struct stage *stage);
void stage_responses(struct stage *stage);
void stage_chat(struct stage *stage);
/* A named event of a stream, an object that begins with its type; and the end of
 * an event, named or not. */
struct json_out stage_open_event(struct stage *stage, const char *type);
void stage_close_event(struct stage *stage, struct json_out *w);
/* For these three: tokens that so many bytes count as; a member with an id of
 * the reply's number (and another number, 0: none); a call's arguments. */
int64_t stage_tokens(size_t bytes);
void stage_id(struct stage *stage, struct json_out *w, const char *key, const char *prefix,
              size_t number);
void stage_args(struct stage *stage, const struct json *call, struct buf *args);
