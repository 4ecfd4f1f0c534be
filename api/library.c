/* jansson's start and version. */
#include "api/library.h"

#include <jansson.h>

void library_start(void)
{
    json_object_seed(0);
}

const char *library_jansson(void)
{
    return jansson_version_str();
}
