/* Bodies in content codings. */
#include "tests/http/packed.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define ROOM ((size_t)256 << 20)

/* One frame, with a check sum. Its window is that of the text unless `window` is given, as a power of 2. */
static struct bytes pack_zstd(const char *text, size_t length, int window)
{
    size_t room = ZSTD_compressBound(length);
    struct bytes packed = {.data = malloc(room)};
    ZSTD_CCtx *coder = ZSTD_createCCtx();
    ck_assert(packed.data && coder);
    ZSTD_CCtx_setParameter(coder, ZSTD_c_checksumFlag, 1);
    ZSTD_CCtx_setParameter(coder, ZSTD_c_windowLog, window);
    ZSTD_inBuffer in = {text, length, 0};
    ZSTD_outBuffer out = {packed.data, room, 0};
    if (window > 0) /* the length is not known then */
        ck_assert(!ZSTD_isError(ZSTD_compressStream2(coder, &out, &in, ZSTD_e_continue)));
    ck_assert_uint_eq(ZSTD_compressStream2(coder, &out, &in, ZSTD_e_end), 0);
    packed.length = out.pos;
    ZSTD_freeCCtx(coder);
    return packed;
}

struct bytes packed_make(const char *text, size_t length, int format)
{
    if (format <= 0 && format != PACKED_RAW)
        return pack_zstd(text, length, -format);
    z_stream z = {0};
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, format, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, length) + 64;
    struct bytes packed = {.data = malloc(room)};
    ck_assert_ptr_nonnull(packed.data);
    z.next_in = (Bytef *)(size_t)text;
    z.avail_in = (uInt)length;
    z.next_out = packed.data;
    z.avail_out = (uInt)room;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    packed.length = room - z.avail_out;
    deflateEnd(&z);
    return packed;
}

/* One gzip member and nothing after it; check sum and length are zlib's to check. */
static char *unpack_gzip(const char *data, size_t length, size_t *plain_length)
{
    z_stream z = {0};
    char *text = malloc(ROOM);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(inflateInit2(&z, PACKED_GZIP), Z_OK);
    z.next_in = (Bytef *)(size_t)data;
    z.avail_in = (uInt)length;
    z.next_out = (Bytef *)text;
    z.avail_out = (uInt)ROOM - 1;
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.avail_in, 0);
    *plain_length = z.total_out;
    text[z.total_out] = '\0';
    inflateEnd(&z);
    return text;
}

/* Frames one after the other, each with a window of at most 8 MB (RFC 9659). */
static char *unpack_zstd(const char *data, size_t length, size_t *plain_length)
{
    char *text = malloc(ROOM);
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    ck_assert(text && decoder);
    ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, 23);
    ZSTD_inBuffer in = {data, length, 0};
    ZSTD_outBuffer out = {text, ROOM - 1, 0};
    size_t wanted = 1;
    while (in.pos < in.size) {
        wanted = ZSTD_decompressStream(decoder, &out, &in);
        ck_assert_msg(!ZSTD_isError(wanted), "%s", ZSTD_getErrorName(wanted));
    }
    ck_assert_uint_eq(wanted, 0);
    ZSTD_freeDCtx(decoder);
    text[out.pos] = '\0';
    *plain_length = out.pos;
    return text;
}

char *packed_read(const char *coding, const struct client_reply *reply, size_t *plain_length)
{
    bool zstd = strcmp(coding, "zstd") == 0;
    return (zstd ? unpack_zstd : unpack_gzip)(reply->body, reply->length, plain_length);
}
