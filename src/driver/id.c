/* Names and chance for runs: the driver's floor is the lowest that may look at
 * the wall clock and ask the system for random bytes. */
#include "driver/driver.h"
#include "text/text.h"

#include <errno.h>
#include <stdio.h>
#include <sys/random.h>
#include <time.h>

static enum rein_code chance(void *out, size_t n, struct err *err) {
  ssize_t got;
  do
    got = getrandom(out, n, 0);
  while (got < 0 && errno == EINTR);
  if (got == (ssize_t)n) return REIN_OK;
  return ERR(err, REIN_SYSTEM, T_DRIVER_NO_CHANCE, str_of(strerror(errno)));
}

enum rein_code run_id_make(struct run_name *name, struct err *err) {
  unsigned char random[3];
  struct tm tm = {0};
  time_t now = time(NULL);
  enum rein_code code = chance(random, sizeof random, err);
  if (code != REIN_OK) return code;
  gmtime_r(&now, &tm);
  size_t n = strftime(name->s, sizeof name->s, "%Y%m%d-%H%M%S-", &tm);
  snprintf(name->s + n, sizeof name->s - n, "%02x%02x%02x", random[0], random[1], random[2]);
  return REIN_OK;
}

int64_t run_wall_ms(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return 0; /* Linux always has it */
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

enum rein_code run_seed_make(uint64_t *seed, struct err *err) {
  return chance(seed, sizeof *seed, err);
}
