/* What the program tells about itself on the command line. */
#ifndef SERVER_MANUAL_H
#define SERVER_MANUAL_H

#include "server/settings.h"

#include <stdio.h>

void manual_print_help(FILE *out);
/* One "flag = value  # source" a line. */
void manual_print_settings(FILE *out, const struct settings *settings);
void manual_print_version(FILE *out);
bool manual_print_openapi(FILE *out);

#endif
