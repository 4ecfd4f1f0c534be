/* Content codings by zlib and libzstd. */
#include "server/coding/content_encoding.h"

#include "server/coding/media_type.h"

#include <stdint.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)64 * 1024)
#define GZIP_WINDOW (15 + 16)
#define ANY_WINDOW (15 + 32) /* zlib or gzip, whatever the first bytes say */
#define RAW_WINDOW (-15)
#define ZSTD_WINDOW 23 /* 8 MB: RFC 9659 */

static const struct {
    const char *name;
    enum content_encoding coding;
} names[] = {{"zstd", CONTENT_ENCODING_ZSTD},
             {"gzip", CONTENT_ENCODING_GZIP},
             {"x-gzip", CONTENT_ENCODING_GZIP},
             {"deflate", CONTENT_ENCODING_DEFLATE}};

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum content_encoding content_encoding_find(const char *content_encoding)
{
    if (media_type_is_plain(content_encoding))
        return CONTENT_ENCODING_NONE;
    for (size_t i = 0; i < COUNT_OF(names); i++)
        if (strcasecmp(content_encoding, names[i].name) == 0)
            return names[i].coding;
    return CONTENT_ENCODING_UNKNOWN;
}

const char *content_encoding_name(enum content_encoding coding)
{
    for (size_t i = 0; i < COUNT_OF(names) && coding != CONTENT_ENCODING_NONE; i++)
        if (names[i].coding == coding)
            return names[i].name;
    return NULL;
}

enum content_encoding content_encoding_choose(const char *accept_encoding, enum settings_compression most)
{
    if (!accept_encoding || !*accept_encoding || most == SETTINGS_COMPRESS_NONE)
        return CONTENT_ENCODING_NONE;
    double gzip = media_type_coding_weight(accept_encoding, "gzip");
    double zstd = most == SETTINGS_COMPRESS_ALL ? media_type_named_weight(accept_encoding, "zstd") : 0;
    double best = zstd > gzip ? zstd : gzip;
    if (best <= 0 || best < media_type_coding_weight(accept_encoding, "identity"))
        return CONTENT_ENCODING_NONE;
    return zstd >= gzip ? CONTENT_ENCODING_ZSTD : CONTENT_ENCODING_GZIP;
}

/* --- bodies --- */

struct unpacking {
    struct buffer out;
    size_t charged; /* for `out` */
    size_t limit;
    struct budget *budget;
    struct error *err;
};

/* PIECE bytes past the text, or NULL. */
static char *make_room(struct unpacking *u)
{
    if (u->out.length > u->limit) {
        error_set(u->err, ERROR_TOO_LARGE, "", "The body unpacks to more than %zu bytes, the limit.", u->limit);
        return NULL;
    }
    bool grows = u->charged < u->out.length + PIECE; /* a gzip member may be empty */
    if (grows && !budget_take(u->budget, PIECE)) {
        error_set(u->err, ERROR_MEMORY, "", "The memory for request bodies is spent.");
        return NULL;
    }
    u->charged += grows ? PIECE : 0;
    char *room = buffer_reserve(&u->out, PIECE);
    if (!room)
        error_set(u->err, ERROR_MEMORY, "", "There is no memory for the unpacked body.");
    return room;
}

static bool refuse(struct unpacking *u)
{
    return error_set(u->err, ERROR_SYNTAX, "", "The body is not what its Content-Encoding says, or it is cut.");
}

/* One piece of output; *status is zlib's. */
static bool inflate_piece(struct unpacking *u, z_stream *z, int *status)
{
    z->next_out = (Bytef *)make_room(u);
    z->avail_out = (uInt)PIECE;
    if (!z->next_out)
        return false;
    *status = inflate(z, Z_NO_FLUSH);
    u->out.length += PIECE - z->avail_out;
    return *status == Z_OK || *status == Z_STREAM_END || refuse(u);
}

/* A gzip body may have several members, one after the other. */
static bool inflate_all(struct unpacking *u, z_stream *z)
{
    int status = Z_OK;
    do {
        if (status == Z_STREAM_END)
            inflateReset(z);
        if (!inflate_piece(u, z, &status))
            return false;
    } while (status != Z_STREAM_END || z->avail_in > 0);
    return true;
}

/* "deflate" is zlib's format, yet some senders leave its header out. */
static int choose_window(const struct buffer *body, enum content_encoding coding)
{
    bool headed = body->length >= 2 && (body->data[0] & 0x0f) == Z_DEFLATED &&
                  ((unsigned char)body->data[0] * 256 + (unsigned char)body->data[1]) % 31 == 0;
    if (coding == CONTENT_ENCODING_GZIP)
        return GZIP_WINDOW;
    return headed ? ANY_WINDOW : RAW_WINDOW;
}

static bool unpack_deflate(struct unpacking *u, const struct buffer *body, enum content_encoding coding)
{
    z_stream z = {.next_in = (Bytef *)body->data, .avail_in = (uInt)body->length};
    if (body->length > UINT32_MAX || inflateInit2(&z, choose_window(body, coding)) != Z_OK)
        return error_set(u->err, ERROR_MEMORY, "", "There is no memory to unpack the body.");
    bool good = inflate_all(u, &z);
    inflateEnd(&z);
    return good;
}

/* What the decoder holds, a window of 8 MB at most, is known when it has read the head of a frame. */
static bool charge_decoder(struct unpacking *u, const ZSTD_DCtx *decoder, size_t *held)
{
    size_t size = ZSTD_sizeof_DCtx(decoder);
    size_t more = size > *held ? size - *held : 0;
    if (!budget_take(u->budget, more))
        return error_set(u->err, ERROR_MEMORY, "", "The memory for request bodies is spent.");
    *held += more;
    return true;
}

/* One piece of output; *wanted is 0 at the end of a frame. */
static bool decompress_piece(struct unpacking *u, ZSTD_DCtx *decoder, ZSTD_inBuffer *in, size_t *wanted)
{
    ZSTD_outBuffer out = {.dst = make_room(u), .size = PIECE};
    if (!out.dst)
        return false;
    *wanted = ZSTD_decompressStream(decoder, &out, in);
    if (ZSTD_isError(*wanted))
        return refuse(u);
    u->out.length += out.pos;
    bool cut = *wanted != 0 && in->pos == in->size && out.pos < out.size;
    return !cut || refuse(u);
}

/* A zstd body may have several frames, one after the other. */
static bool decompress_all(struct unpacking *u, ZSTD_DCtx *decoder, const struct buffer *body, size_t *held)
{
    ZSTD_inBuffer in = {.src = body->data, .size = body->length};
    size_t wanted = 1;
    ZSTD_DCtx_setParameter(decoder, ZSTD_d_windowLogMax, ZSTD_WINDOW);
    do {
        if (!decompress_piece(u, decoder, &in, &wanted) || !charge_decoder(u, decoder, held))
            return false;
    } while (wanted != 0 || in.pos < in.size);
    return true;
}

static bool unpack_zstd(struct unpacking *u, const struct buffer *body)
{
    size_t held = 0;
    ZSTD_DCtx *decoder = ZSTD_createDCtx();
    if (!decoder)
        return error_set(u->err, ERROR_MEMORY, "", "There is no memory to unpack the body.");
    bool good = decompress_all(u, decoder, body, &held);
    ZSTD_freeDCtx(decoder);
    budget_give(u->budget, held);
    return good;
}

bool content_encoding_unpack(struct buffer *body, enum content_encoding coding, size_t limit, struct budget *budget,
                             size_t *charged, struct error *err)
{
    struct unpacking u = {.out = buffer_new(limit + 2 * PIECE), .limit = limit, .budget = budget, .err = err};
    bool good = coding == CONTENT_ENCODING_ZSTD ? unpack_zstd(&u, body) : unpack_deflate(&u, body, coding);
    good = good && (u.out.length <= limit || make_room(&u));
    buffer_free(body);
    budget_give(budget, *charged);
    *charged = u.charged;
    *body = u.out;
    return good;
}
