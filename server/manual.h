/* What the program tells about itself on the command line. */
#ifndef SERVER_MANUAL_H
#define SERVER_MANUAL_H

#include "server/settings.h"

#include <stdio.h>

void manual_print_help(FILE *out);
void manual_print_version(FILE *out);

#endif
