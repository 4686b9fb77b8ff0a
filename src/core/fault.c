/* Which failures of a request are tried again, and when (official SDKs' rules). */
#include "core/fault.h"

#include "base/hash.h"
#include "text/text.h"

const char *fault_word(enum fault_kind kind) {
  static const char *const words[] = {
#define FAULT_X(id, word, retry) [FAULT_##id] = word,
      FAULTS(FAULT_X)
#undef FAULT_X
  };
  return words[kind];
}

const char *rewrite_word(enum rewrite rewrite) {
  static const char *const words[] = {
#define REWRITE_X(id, word, sentence, value) [REWRITE_##id] = word,
      REWRITES(REWRITE_X)
#undef REWRITE_X
  };
  return words[rewrite];
}

void rewrite_put(struct buf *out, enum rein_lang lang, enum rewrite rewrite) {
  static const struct {
    enum text_id sentence;
    const char *value;
  } rows[] = {
#define REWRITE_X(id, word, sentence, value) [REWRITE_##id] = {T_CORE_REWRITE_##sentence, value},
      REWRITES(REWRITE_X)
#undef REWRITE_X
  };
  TEXT_PUT(out, lang, rows[rewrite].sentence, str_of(rows[rewrite].value));
}

bool fault_is_worth_retrying(const struct fault *f) {
  static const bool retried[] = {
#define FAULT_X(id, word, retry) [FAULT_##id] = retry,
      FAULTS(FAULT_X)
#undef FAULT_X
  };
  if (f->should_retry >= 0) return f->should_retry == 1;
  if (f->kind == FAULT_STALLED && f->began) return false;
  return retried[f->kind];
}

int64_t fault_wait_ms(const struct fault *f, int retries_done, uint64_t seed) {
  if (f->retry_after_ms > 0) return f->retry_after_ms;
  int64_t base = retries_done > 3 ? 8000 : (int64_t)500 << retries_done;
  uint64_t dice = hash_end(hash_num(HASH_START, seed)) % 1000;
  return base - base * (int64_t)dice / 4000;
}
