/* Outcomes: the word and the exit code of each, from the list in rein.h. */
#include <rein.h>

const char *rein_outcome_word(enum rein_outcome outcome) {
  switch (outcome) {
  case REIN_OUTCOME_NONE: return "none";
#define WORD_X(id, word, exit)                                                                     \
  case REIN_OUTCOME_##id: return word;
    REIN_OUTCOMES(WORD_X)
#undef WORD_X
  }
  return "none";
}

int rein_outcome_exit(enum rein_outcome outcome) {
  switch (outcome) {
  case REIN_OUTCOME_NONE: return 1; /* whoever asks before the end has made a mistake */
#define EXIT_X(id, word, exit)                                                                     \
  case REIN_OUTCOME_##id: return exit;
    REIN_OUTCOMES(EXIT_X)
#undef EXIT_X
  }
  return 1;
}
