/* From options and environment to all that a run needs. Nothing is started and
 * nothing is sent here, so --dry-run shows exactly this.
 *
 *   struct setup setup = {0};
 *   int exit = setup_make(cli, SETUP_TOOLS, &setup);
 *   setup_release(&setup);                          // in any case
 */
#pragma once

#include "cli/cli.h"
#include "cli/own_places.h"
#include "cli/env.h"
#include "cli/packs.h"
#include "core/agent.h"
#include "driver/provider.h"
#include "host/files.h"
#include "host/http.h"
#include "host/sandbox.h"
#include "policy/policy.h"

#define GIT_ENV_MAX 4 /* author and committer, name and address */

enum setup_kind {
  SETUP_TOOLS, /* a run */
  SETUP_BARE,  /* rein ask: one request, no tool */
};

struct setup {
  struct provider provider;
  struct files files;
  struct own_places own;
  bool has_files;
  struct policy policy;
  struct str provider_name; /* for the journal: as -m has it, a script by its whole path */
  struct rein_tool rows[ROWS_MAX];
  struct agent_config agent;
  struct str base_url; /* empty: the wire's own */
  struct str key;      /* borrowed from the environment; empty: none */
  int64_t idle_ms;
  size_t read_points_max;
  struct sandbox *sandbox; /* of commands; NULL: no tool runs any */
  struct env_proxy proxy;
  struct str ca_dir, ca_file;
  struct str github_url, github_token;
  const char *git_env[GIT_ENV_MAX + 1]; /* NAME=value of who commits; NULL at the end */
};

/* 0, or the exit code after a sentence was said. */
int setup_make(struct cli *cli, enum setup_kind kind, struct setup *setup);
void setup_release(struct setup *setup);
/* The rows that --tools names, and the policy over them, for `rein tools`. */
int setup_rows(struct cli *cli, struct setup *setup);
int setup_unknown_tool(struct cli *cli, struct str name); /* says so, with the nearest; 2 */
int setup_policy(struct cli *cli, struct setup *setup);
/* A policy against its own tests, over all tools there are. */
enum rein_code setup_check_tests(const struct cli *cli, const struct policy *policy,
                                 struct err *err) REIN_CHECKED;
/* The folder that file tools see. */
int setup_root(struct cli *cli, struct setup *setup);
enum rein_no_progress setup_progress(const struct cli *cli); /* of --no-progress */
/* Keys, addresses, proxies and the rest, without a provider's. */
int setup_outside(struct cli *cli, struct setup *setup);
struct http_options setup_http(const struct setup *setup); /* borrowed from it */
/* Where requests go; the wire's own address where none was given. */
struct str setup_url(const struct setup *setup);
