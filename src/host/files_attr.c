/* What a file carries beside its bytes and mode: its access list (ACL) and extended
 * attributes, given to the file that takes its place. What the kernel drops at a
 * write anyhow (capabilities, checksums of the bytes) is not carried on.
 */
#include "host/files_inside.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>

#define ACL "system.posix_acl_access"
#define LIST_BYTES_MAX 65536  /* XATTR_LIST_MAX: the kernel gives no longer list */
#define VALUE_BYTES_MAX 65536 /* XATTR_SIZE_MAX */

static bool is_carried(const char *name) {
  static const char *const dropped[] = {"security.capability", "security.ima", "security.evm"};
  for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
    if (strcmp(dropped[i], name) == 0) return false;
  return true;
}

/* 0, or a negated errno. Only an access list must not be lost: without it the group
 * would get the rights that the list gave to others. */
static int carry(const char *from, int to, const char *name, char *room, bool *lost) {
  ssize_t n = getxattr(from, name, room, VALUE_BYTES_MAX);
  if (n >= 0 && fsetxattr(to, name, room, (size_t)n, 0) == 0) return 0;
  if (errno == ENOSPC || errno == EDQUOT || strcmp(name, ACL) == 0) return -errno;
  *lost = true;
  return 0;
}

static int carry_all(const char *from, int to, char *list, bool *lost) {
  ssize_t n = listxattr(from, list, LIST_BYTES_MAX);
  if (n < 0) return errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
  int bad = 0;
  for (const char *name = list; !bad && name < list + n; name += strlen(name) + 1)
    if (is_carried(name)) bad = carry(from, to, name, list + LIST_BYTES_MAX, lost);
  return bad;
}

int attrs_carry(int from, int to, bool *lost) {
  char path[40]; /* of the descriptor, which may be one that cannot read */
  char *room = mem_resize(NULL, LIST_BYTES_MAX + VALUE_BYTES_MAX);
  if (!room) return -ENOMEM;
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", from);
  int bad = carry_all(path, to, room, lost);
  mem_free(room);
  return bad;
}

int attrs_clear(int fd) {
  if (fremovexattr(fd, ACL) == 0) return 0;
  return errno == ENODATA || errno == EOPNOTSUPP || errno == ENOSYS ? 0 : -errno;
}
