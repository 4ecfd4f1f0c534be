/* Bodies in content codings, packed and unpacked by zlib and libzstd. */
#ifndef TESTS_HTTP_PACKED_H
#define TESTS_HTTP_PACKED_H

#include "tests/http/client.h"

#include <stddef.h>

struct bytes {
    unsigned char *data; /* to be freed */
    size_t length;
};

/* Formats: windows of zlib, or of zstd as a power of 2 below 0. */
#define PACKED_GZIP (15 + 16)
#define PACKED_ZLIB 15
#define PACKED_RAW (-15)
#define PACKED_ZSTD 0 /* a window as large as the text */
#define PACKED_ZSTD_WINDOW(log) (-(log))

struct bytes packed_make(const char *text, size_t length, int format);

/* The text of a reply in that coding, to be freed; whatever is wrong with it fails the test. */
char *packed_read(const char *coding, const struct client_reply *reply, size_t *length);

#endif
