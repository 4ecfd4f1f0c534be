/* What the program tells about itself on the command line. */
#ifndef SERVER_RUN_CLI_HELP_H
#define SERVER_RUN_CLI_HELP_H

#include "server/config/settings.h"

#include <stdio.h>

void cli_help_print_help(FILE *out);
/* One "flag = value  # source" a line. */
void cli_help_print_settings(FILE *out, const struct settings *settings);
void cli_help_print_version(FILE *out);
bool cli_help_print_openapi(FILE *out);

#endif
