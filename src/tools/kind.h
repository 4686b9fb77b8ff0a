/* What a file is, by its first bytes: text that can be shown, or what else.
 *
 * Not by name: a name promises nothing. Text means no NUL byte and hardly any
 * control; text in another encoding than UTF-8 is still text.
 */
#pragma once

#include "text/text.h"

#define KIND_HEAD 8192 /* bytes that are looked at: a NUL further on is rare */

/* T_NONE: text. Else the kind's name for T_TOOLS_BINARY. */
enum text_id kind_of(struct str head);
/* The same by magic bytes alone, which is quick. */
enum text_id kind_by_magic(struct str head);
