/* Signals as data, by a descriptor. What is done about one is its reader's. */
#include "cli/ends.h"

#include <sys/signalfd.h>
#include <unistd.h>

bool ends_ignores(int signum) {
  struct sigaction now;
  return sigaction(signum, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

sigset_t ends_block(sigset_t *before) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  sigset_t wanted;
  sigemptyset(&wanted);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    if (!ends_ignores(numbers[i])) sigaddset(&wanted, numbers[i]);
  (void)pthread_sigmask(SIG_BLOCK, &wanted, before);
  return wanted;
}

void ends_open(struct ends *ends) {
  sigset_t wanted = ends_block(&ends->before);
  ends->fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
  /* Without a descriptor nobody would hear them: then they do what they always do. */
  if (ends->fd < 0) (void)pthread_sigmask(SIG_SETMASK, &ends->before, NULL);
}

int ends_take(struct ends *ends) {
  struct signalfd_siginfo info;
  if (read(ends->fd, &info, sizeof info) != sizeof info) return 0;
  return (int)info.ssi_signo;
}

void ends_close(struct ends *ends) {
  if (ends->fd >= 0) close(ends->fd);
  (void)pthread_sigmask(SIG_SETMASK, &ends->before, NULL);
}
