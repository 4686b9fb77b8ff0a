/* rein models: what models cost and how much they hold, with the date and the source of
 * each row; those of the config first. What a request costs by it is core/price.c's. */
#include "cli/command.h"
#include "cli/session.h"
#include "core/price.h"
#include "json/write.h"

#define LIST_BYTES_MAX (1u << 20)

static void put_rate(struct buf *out, int64_t micro_per_million) {
  money_put(out, money_times(micro_per_million, PICO_PER_MICRO));
}

/* -- as text -- */

static void put_column(struct buf *out, int64_t rate) {
  struct buf b;
  buf_init(&b, 64);
  put_rate(&b, rate);
  buf_fmt(out, " %9.*s", (int)b.n, b.n ? b.p : "");
  buf_release(&b);
}

static void put_rates_text(struct buf *out, struct str name, const struct rates *r) {
  buf_fmt(out, "%-32.*s", (int)name.n, name.p);
  put_column(out, r->input);
  put_column(out, r->cache_read);
  put_column(out, r->cache_write);
  put_column(out, r->output);
}

static void put_text(struct buf *out, struct str name, const struct model_facts *f,
                     struct str as_of, struct str source) {
  struct buf above;
  if (!f->priced) {
    buf_fmt(out, "%-32.*s %9s %9s %9s %9s", (int)name.n, name.p, "-", "-", "-", "-");
  } else {
    put_rates_text(out, name, &f->rates);
  }
  buf_fmt(out, " %9.0lld  ", (long long)f->window); /* not known: blank */
  buf_put(out, as_of);
  if (as_of.n) buf_lit(out, ", ");
  buf_put(out, source);
  buf_c(out, '\n');
  if (!f->long_above) return;
  buf_init(&above, 64);
  buf_fmt(&above, "  (above %lld)", (long long)f->long_above);
  put_rates_text(out, buf_str(&above), &f->long_rates);
  buf_c(out, '\n');
  buf_release(&above);
}

static void put_all_text(struct buf *out, const struct cli *cli) {
  struct model_row row;
  struct model_facts facts;
  struct err err;
  struct str ours = str_of(text_raw(T_CLI_MODELS_CONFIG, cli->lang));
  TEXT_PUT(out, cli->lang, T_CLI_MODELS_HEAD);
  buf_fmt(out, "\n%-32s %9s %9s %9s %9s %9s\n", "", "in", "read", "write", "out", "window");
  for (const struct json *m = cli->models ? cli->models->first : NULL; m; m = m->next)
    if (model_facts(m->key, cli->models, &facts, &err) == REIN_OK)
      put_text(out, m->key, &facts, STR_NONE, ours);
  for (size_t i = 0; model_row(i, &row); i++)
    put_text(out, str_of(row.name), &row.facts, str_of(row.as_of), str_of(row.source));
}

/* -- as JSON -- */

static void put_number(struct json_out *w, const char *key, int64_t rate) {
  struct buf b;
  buf_init(&b, 64);
  put_rate(&b, rate);
  json_key(w, key);
  json_put_raw(w, buf_str(&b));
  buf_release(&b);
}

static void put_json(struct json_out *w, struct str name, const struct model_facts *f,
                     const char *as_of, const char *source) {
  json_open(w, '{');
  json_key(w, "model");
  json_put_text(w, name);
  if (f->priced) {
    put_number(w, "input", f->rates.input);
    put_number(w, "cache_read", f->rates.cache_read);
    put_number(w, "cache_write", f->rates.cache_write);
    put_number(w, "output", f->rates.output);
  }
  if (f->long_above) {
    json_key(w, "long_above");
    json_put_num(w, f->long_above);
    put_number(w, "long_input", f->long_rates.input);
    put_number(w, "long_cache_read", f->long_rates.cache_read);
    put_number(w, "long_cache_write", f->long_rates.cache_write);
    put_number(w, "long_output", f->long_rates.output);
  }
  json_key(w, "window");
  if (f->window)
    json_put_num(w, f->window);
  else
    json_put_null(w);
  json_key(w, "as_of");
  json_put_text(w, str_of(as_of));
  json_key(w, "source");
  json_put_text(w, str_of(source));
  json_close(w, '}');
}

static void put_all_json(struct buf *out, const struct cli *cli) {
  struct json_out w = json_out(out);
  struct model_row row;
  struct model_facts facts;
  struct err err;
  json_open(&w, '[');
  for (const struct json *m = cli->models ? cli->models->first : NULL; m; m = m->next)
    if (model_facts(m->key, cli->models, &facts, &err) == REIN_OK)
      put_json(&w, m->key, &facts, "", "config");
  for (size_t i = 0; model_row(i, &row); i++)
    put_json(&w, str_of(row.name), &row.facts, row.as_of, row.source);
  json_close(&w, ']');
  buf_c(out, '\n');
}

static int run(struct cli *cli) {
  struct buf out;
  if (cli->word_count) return cli_usage(cli, T_CLI_NO_WORDS, STR("models"), cli->words[0]);
  buf_init(&out, LIST_BYTES_MAX);
  if (session_output(cli) == OUTPUT_TEXT)
    put_all_text(&out, cli);
  else
    put_all_json(&out, cli);
  int exit = cli_print(cli, &out);
  buf_release(&out);
  return exit;
}

const struct command command_models = {
    .name = "models",
    .summary = T_CLI_CMD_MODELS,
    .usage = "[options]",
    .takes = TAKES(CONFIG) | TAKES(OUTPUT),
    .configured = true,
    .run = run,
};
