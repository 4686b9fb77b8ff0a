/* The bytes of the guard's program. */
#pragma once

#include "base/str.h"

struct str guard_image(void);
