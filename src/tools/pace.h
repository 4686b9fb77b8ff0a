/* Requests of a pack, held apart: a service that takes three a second is asked
 * three times a second, by whatever thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct pace;

struct pace *pace_new(double per_second); /* 0: no pace; NULL: no memory */
void pace_free(struct pace *pace);        /* NULL is fine */
/* Takes the next place in the row and waits for it. False: cancelled. */
bool pace_wait(struct pace *pace, bool (*cancelled)(void *ctx), void *ctx);
/* Waits alone, looking for a cancel every 50 ms. False: cancelled. */
bool pace_sleep(int64_t ms, bool (*cancelled)(void *ctx), void *ctx);
