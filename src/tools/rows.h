/* The rows of the built-in tools, each in the file of its name. */
#pragma once

#include <rein.h>

extern const struct rein_tool tool_get_time;
extern const struct rein_tool tool_read_file;
extern const struct rein_tool tool_list_files;
extern const struct rein_tool tool_search_files;
extern const struct rein_tool tool_github_repo_info;
extern const struct rein_tool tool_http_get;
extern const struct rein_tool tool_http_post;
extern const struct rein_tool tool_write_file;
extern const struct rein_tool tool_edit_file;
extern const struct rein_tool tool_delete_file;
extern const struct rein_tool tool_write_report;
extern const struct rein_tool tool_exec;
extern const struct rein_tool tool_git_diff;
