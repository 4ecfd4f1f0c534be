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
    suggest_consider(&meant, "color");
    printable_path(shown, sizeof shown, name);
    if (meant.best)
        snprintf(query->fault, sizeof query->fault, "There is no query parameter %s; did you mean %s?", shown,
                 meant.best);
    else
        snprintf(query->fault, sizeof query->fault, "There is no query parameter %s; there are pretty and color.",
                 shown);
    return MHD_NO;
}

static enum MHD_Result take_pretty(struct query *query, const char *value)
{
    query->pretty = !value || !*value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    if (query->pretty || strcmp(value, "false") == 0 || strcmp(value, "0") == 0)
        return MHD_YES;
    snprintf(query->fault, sizeof query->fault, "The query parameter pretty is true or false.");
    return MHD_NO;
}

static enum MHD_Result take_color(struct query *query, const char *value)
{
    query->color = value && strcmp(value, "always") == 0;
    if (query->color || (value && strcmp(value, "never") == 0))
        return MHD_YES;
    snprintf(query->fault, sizeof query->fault, "The query parameter color is never or always.");
    return MHD_NO;
}

static enum MHD_Result take_parameter(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
    struct query *query = context;
    (void)kind;
    return strcmp(name, "pretty") == 0  ? take_pretty(query, value)
           : strcmp(name, "color") == 0 ? take_color(query, value)
                                        : refuse_name(query, name);
}

void query_read(struct query *query, struct MHD_Connection *connection)
{
    *query = (struct query){.pretty = false};
    MHD_get_connection_values(connection, MHD_GET_ARGUMENT_KIND, take_parameter, query);
}
