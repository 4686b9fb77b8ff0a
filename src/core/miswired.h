/* Whether a tool looks miswired: what a run's records say, in words with the evidence.
 * It decides nothing and stops nothing; the no-progress valve does that.
 *
 *   struct miswired *m = miswired_new();               // NULL: no memory
 *   miswired_source(m, config.system);                 // what the model was given
 *   miswired_hear(m, &event);                          // each record, in order
 *   miswired_tell(m, REIN_ENGLISH, fn, ctx);           // a sentence each
 *   miswired_free(m);
 *
 * Three kinds, each with a floor under which nothing is said (miswired.c):
 * calls again and again whose arguments differ by small numbers alone, with results
 * that say nothing; paths, and other names with digits, that stood in no earlier
 * word or result, and failed.
 */
#pragma once

#include "base/buf.h"
#include "core/event.h"

struct miswired;

struct miswired *miswired_new(void);
void miswired_free(struct miswired *m);
/* More text that arguments may come from. False: no memory. */
bool miswired_source(struct miswired *m, struct str text) REIN_CHECKED;
bool miswired_hear(struct miswired *m, const struct event *event) REIN_CHECKED;
/* A sentence for each finding. Texts of the run stand in it as they were: reveal them
 * before a terminal gets them. False: no memory. */
typedef void (*miswired_fn)(void *ctx, struct str sentence);
bool miswired_tell(const struct miswired *m, enum rein_lang lang, miswired_fn fn, void *ctx)
    REIN_CHECKED;
