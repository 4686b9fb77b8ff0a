/* A server on loopback for tests: a thread per connection that hands each
 * request to the test and writes what the test writes. It sleeps never and
 * waits only for its client.
 *
 *   struct peer *p = peer_start(answer, &state);
 *   ... peer_url(p) ...
 *   peer_stop(p);
 */
#pragma once

#include "base/buf.h"

struct peer;

/* Answers request n (from 0, of all connections); called on the connection's
 * thread. False: the connection is closed after it. */
typedef bool (*peer_fn)(void *ctx, struct peer *peer, int fd, size_t n, struct str body);

struct peer *peer_start(peer_fn fn, void *ctx);
/* Shuts every connection, so that nobody waits on it any more, and joins. */
void peer_stop(struct peer *peer);
const char *peer_url(const struct peer *peer); /* http://127.0.0.1:PORT */
size_t peer_count(struct peer *peer);          /* requests so far */
size_t peer_connections(struct peer *peer);
/* The body and the head of request n; good until the peer is stopped. */
struct str peer_body(struct peer *peer, size_t n);
struct str peer_head(struct peer *peer, size_t n);

/* -- for the function -- */
void peer_write(int fd, struct str bytes);
/* A whole answer with its length. `headers`: lines that end with \r\n, or "". */
void peer_answer(int fd, int status, const char *headers, struct str body);
/* 200, an event stream in chunks: begin, pieces, end. */
void peer_stream_begin(int fd);
void peer_stream(int fd, struct str piece);
void peer_stream_end(int fd);
/* Returns when the client closed, or the peer is stopped. */
void peer_wait(int fd);
/* Breaks the connection at once, without its regular end (RST). */
void peer_reset(int fd);

/* -- an Anthropic reply as its event stream -- */
struct reply_text {
  struct buf b;
  int index;
};
void reply_begin(struct reply_text *r);
void reply_say(struct reply_text *r, const char *text);
void reply_call(struct reply_text *r, const char *id, const char *name, const char *args);
void reply_end(struct reply_text *r, const char *stop);
/* How often `needle` stands in a request: {"role":"assistant" for turns. */
size_t count_in(struct str text, const char *needle);
