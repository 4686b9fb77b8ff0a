/* Tools that a pack describes, as rows of the table. One function runs them all:
 * the row's ctx says which. Requests of a pack keep its pace, however many runs
 * of the process make them.
 *
 *   declared_new(&arena, pack, &declared, &err);
 *   for (size_t i = 0; i < declared->row_count; i++) take(&declared->rows[i]);
 *   declared_free(declared);   // when no call of it runs any more
 */
#pragma once

#include "pack/pack.h"

struct pace;

struct declared {
  const struct pack *pack;
  struct rein_tool *rows;
  size_t row_count;
  struct pace *pace;
};

/* The arena, and the pack, must outlive it and every call. REIN_MEMORY. */
enum rein_code declared_new(struct arena *arena, const struct pack *pack,
                            struct declared **declared, struct err *err) REIN_CHECKED;
/* PACK_HTTP also where the row is of no pack: it runs neither command nor git. */
enum pack_kind declared_kind(const struct rein_tool *row);
void declared_free(struct declared *declared); /* NULL is fine */
