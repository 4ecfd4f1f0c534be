/* Where a value stands in a request, and faults that say so. */
#ifndef API_REQUEST_JSON_PATH_H
#define API_REQUEST_JSON_PATH_H

#include "core/tensor/error.h"

#include <stdbool.h>
#include <stddef.h>

/* A member of an object, or an element of a (nested) array; made on the stack while decoding goes down. */
struct json_path {
    const struct json_path *parent; /* NULL: the request itself is */
    const char *name;               /* a member; NULL: an element */
    const size_t *index;            /* of an element: one index per level */
    size_t rank;
};

#define JSON_PATH_TEXT 200

/* "mask.bias.0.2" for error_set (a ready pointer where a name has dots), or with brackets "mask.bias[0][2]" for a
 * sentence. NULL: the request. */
char *json_path_name(const struct json_path *at, char out[JSON_PATH_TEXT]);
char *json_path_words(const struct json_path *at, char out[JSON_PATH_TEXT]);

/* ERROR_INVALID at this place: the sentence is its words and then the format ("%s must be ..."). Returns false. */
bool json_path_fault(struct error *err, const struct json_path *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ERROR_INVALID for a member that is not known. The name is the client's: it is shown short, printable and quoted. */
bool json_path_unknown(struct error *err, const struct json_path *object, const char *member, const char *suggestion);

/* The same for a name that another library uses; `here` says what it is here (foreign_names.h). */
bool json_path_foreign(struct error *err, const struct json_path *object, const char *member, const char *here);

/* A client's string as an error may show it: short and printable. Returns `out`. */
#define JSON_PATH_SHOWN 44
char *json_path_show(const char *string, char out[JSON_PATH_SHOWN]);

#endif
