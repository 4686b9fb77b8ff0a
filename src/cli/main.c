/* The program rein. All of it is in program.c, which tests can link as well. */
#include "cli/program.h"

int main(int argc, char **argv, char **envp) {
  return program(argc, argv, envp);
}
