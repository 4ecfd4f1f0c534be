/* jansson's start and version. */
#include "api/json/jansson_start.h"

#include <jansson.h>

void jansson_start(void)
{
    json_object_seed(0);
}

const char *jansson_start_version(void)
{
    return jansson_version_str();
}
