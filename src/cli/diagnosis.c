/* Feeds the records to core/miswired and shows its sentences: on stdout where people
 * read the records, on stderr where stdout holds lines of JSON.
 */
#include "cli/diagnosis.h"

#include "cli/past.h"
#include "cli/reveal.h"
#include "core/miswired.h"

#define DIAGNOSIS_ARENA_MAX ((size_t)2 << 30)
#define DIAGNOSIS_COLUMNS 900

struct diagnosis {
  struct cli *cli;
  struct miswired *miswired;
  bool text;
};

static enum rein_code hear(void *ctx, size_t record, const struct event *event, struct err *err) {
  struct diagnosis *d = ctx;
  (void)record;
  if (miswired_hear(d->miswired, event)) return REIN_OK;
  return ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
}

/* What the model was given before the first word. */
static bool hear_start(struct miswired *m, const struct agent_config *config) {
  bool fine = miswired_source(m, config->system) && miswired_source(m, config->root);
  for (size_t i = 0; i < config->row_count && fine; i++)
    fine = miswired_source(m, str_of(config->rows[i].description)) &&
           miswired_source(m, str_of(config->rows[i].schema));
  return fine;
}

static void show_sentence(void *ctx, struct str sentence) {
  struct diagnosis *d = ctx;
  struct buf line;
  buf_init(&line, 65536);
  reveal_line(&line, sentence, DIAGNOSIS_COLUMNS);
  if (line.fail) {
    cli_no_memory(d->cli);
  } else if (d->text) {
    buf_c(&line, '\n');
    screen_answer(&d->cli->screen, buf_str(&line));
  } else {
    cli_say(d->cli, T_CLI_DIAGNOSIS, buf_str(&line));
  }
  buf_release(&line);
}

enum rein_code diagnosis_tell(struct cli *cli, struct journal *journal, bool text,
                              struct err *err) {
  struct diagnosis d = {.cli = cli, .miswired = miswired_new(), .text = text};
  struct agent_config config;
  struct record_head head;
  struct arena first;
  if (!d.miswired) return ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  arena_init(&first, DIAGNOSIS_ARENA_MAX);
  enum rein_code code = past_start(journal, &first, &config, &head, err);
  bool fine = code || hear_start(d.miswired, &config);
  if (!code && fine) code = past_each(journal, hear, &d, err);
  if (!code && fine) fine = miswired_tell(d.miswired, cli->lang, show_sentence, &d);
  if (!fine) code = ERR(err, REIN_MEMORY, T_CLI_NO_MEMORY);
  miswired_free(d.miswired);
  arena_release(&first);
  return code;
}
