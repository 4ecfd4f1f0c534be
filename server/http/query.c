/* Parameters in targets. */
#include "server/http/query.h"

#include "api/request/suggest.h"

#include "server/watch/printable.h"

#include <stdio.h>
#include <string.h>

#define SHOWN 64 /* bytes of a name that a refusal repeats */

static enum MHD_Result refuse_name(struct query *query, const char *name)
{
    char shown[SHOWN];
    struct suggestion meant = {.wanted = name};
    suggest_consider(&meant, "pretty");
    printable_path(shown, sizeof shown, name);
    snprintf(query->fault, sizeof query->fault, "There is no query parameter %s; %s", shown,
             meant.best ? "did you mean pretty?" : "the only one is pretty.");
    return MHD_NO;
}

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct query *query = context;
    (void)kind;
    if (strcmp(name, "pretty") != 0)
        return refuse_name(query, name);
    query->pretty = !value || !*value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (query->pretty || strcmp(value, "false") == 0 || strcmp(value, "0") == 0)
        return MHD_YES;
    snprintf(query->fault, sizeof query->fault, "The query parameter pretty is true or false.");
    return MHD_NO;
}

void query_read(struct query *query, struct MHD_Connection *connection)
{
    *query = (struct query){.pretty = false};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_parameter, query);
}
