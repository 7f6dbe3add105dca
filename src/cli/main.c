/* assay, the only process of its command. */
#include "cli/cli.h"

int main(int argc, char **argv) { return (int)as_command_run(argc, argv, NULL); }
