/* The one list of built-in tools. Adding one is adding a row here and a file
 * beside it. */
#include "tools/tools.h"

#include "tools/rows.h"

#include <string.h>

const struct rein_tool *const builtin_tools[] = {
    &tool_get_time,         &tool_read_file,
    &tool_list_files,       &tool_search_files,
    &tool_github_repo_info, &tool_http_get,
    &tool_http_post,        &tool_write_file,
    &tool_edit_file,        &tool_delete_file,
    &tool_write_report,     &tool_exec,
    &tool_git_diff,         NULL,
};

const struct rein_tool *builtin_tool(const char *name) {
  for (size_t i = 0; builtin_tools[i]; i++)
    if (!strcmp(builtin_tools[i]->name, name)) return builtin_tools[i];
  return NULL;
}
