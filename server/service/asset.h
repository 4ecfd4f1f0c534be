/* The files of server/web, which the build puts into the program. */
#ifndef SERVER_SERVICE_ASSET_H
#define SERVER_SERVICE_ASSET_H

#include <stddef.h>

struct asset {
    const char *name; /* "main.js" */
    const unsigned char *data;
    size_t length;
};

/* Row `index`, or NULL past the last. */
const struct asset *asset_row(size_t index);

/* The file of this name, or NULL. */
const struct asset *asset_find(const char *name);

/* A word that is another one when any file is: the part of a path that files may be kept under for good. */
const char *asset_release(void);

/* What the name's ending says: "text/javascript; charset=utf-8". */
const char *asset_media_type(const struct asset *asset);

#endif
