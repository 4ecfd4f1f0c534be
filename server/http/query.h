/* The query of a target: parameters that every path takes. */
#ifndef SERVER_HTTP_QUERY_H
#define SERVER_HTTP_QUERY_H

#include <microhttpd.h>
#include <stdbool.h>

struct query {
    bool pretty;     /* JSON is wanted with line ends and indents */
    bool color;      /* cells of text have colours */
    char fault[128]; /* one sentence: a parameter or value that there is not; "": none */
};

/* Reads ?pretty, ?pretty=true or ?pretty=false, and ?color=never or ?color=always. */
void query_read(struct query *query, struct MHD_Connection *connection);

#endif
