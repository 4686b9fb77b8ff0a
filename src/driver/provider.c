/* PROVIDER/MODEL to a wire and a model's name. Reads no file and no
 * environment: its callers do. */
#include "driver/provider.h"

#include "base/utf8.h"
#include "text/text.h"
#include "wire/wires.h"

bool provider_script_path(struct str name, struct str *path) {
  if (!str_starts(name, STR("script:"))) return false;
  *path = str_part(name, STR("script:").n, name.n);
  return true;
}

/* The name goes into a request and into every sentence about it. */
static bool printable(struct str s) {
  for (size_t i = 0; i < s.n; i++)
    if ((unsigned char)s.p[i] < ' ' || s.p[i] == 127) return false;
  return utf8_valid(s);
}

static enum rein_code open_script(struct str text, struct str model, struct provider *provider,
                                  struct err *err) {
  provider->wire = &wire_anthropic;
  provider->model = model;
  return script_new(text, &provider->script, err);
}

static enum rein_code open_wire(struct str name, struct provider *provider, struct err *err) {
  struct str wire, model;
  if (name.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_PROVIDER_NONE);
  if (!str_split(name, '/', &wire, &model))
    return wire_by_name(name) ? ERR(err, REIN_INPUT, T_DRIVER_MODEL_NONE, name)
                              : ERR(err, REIN_INPUT, T_DRIVER_PROVIDER_BARE, name);
  provider->wire = wire_by_name(wire);
  if (!provider->wire) return ERR(err, REIN_INPUT, T_DRIVER_PROVIDER_UNKNOWN, wire);
  if (model.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_MODEL_NONE, name);
  provider->model = model;
  return REIN_OK;
}

enum rein_code provider_open(struct str name, struct str script_text, struct provider *provider,
                             struct err *err) {
  struct str path;
  *provider = (struct provider){0};
  if (!printable(name)) return ERR(err, REIN_INPUT, T_DRIVER_MODEL_BYTE);
  if (str_is(name, "demo")) return open_script(str_of(script_demo), name, provider, err);
  if (!provider_script_path(name, &path)) return open_wire(name, provider, err);
  if (path.n == 0) return ERR(err, REIN_INPUT, T_DRIVER_SCRIPT_NONE);
  return open_script(script_text, STR("script"), provider, err);
}

void provider_close(struct provider *provider) {
  script_free(provider->script);
  *provider = (struct provider){0};
}
