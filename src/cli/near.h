/* "did you mean": the known name closest to a wrong one. */
#pragma once

#include "base/str.h"

struct near {
  struct str wanted;
  struct str best; /* empty: nothing is close */
  size_t distance;
};

/* One candidate: kept when it is closer than those before. */
void near_try(struct near *near, struct str candidate);
