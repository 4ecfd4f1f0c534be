/* "$ref". */
#include "api/openapi/schema_reference.h"

#include <stdio.h>

void schema_reference_member(struct writer *w, const char *name)
{
    char path[100];
    snprintf(path, sizeof path, "#/components/schemas/%s", name);
    writer_member_string(w, "$ref", path);
}

void schema_reference(struct writer *w, const char *name)
{
    writer_object_begin(w);
    schema_reference_member(w, name);
    writer_object_end(w);
}
