/* The program as a function: what main calls. */
#pragma once

/* The exit code. */
int program(int argc, char *const *argv, char *const *envp);
