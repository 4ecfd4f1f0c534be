/* Content codings by zlib. */
#include "server/http/content_encoding.h"

#include "server/http/media_type.h"

#include <string.h>
#include <zlib.h>

#define PIECE ((size_t)64 * 1024)
#define LEVEL 6
#define GZIP_WINDOW (15 + 16)
#define ANY_WINDOW (15 + 32) /* zlib or gzip, whatever the first bytes say */
#define RAW_WINDOW (-15)
#define MEMORY_LEVEL 8

enum content_encoding content_encoding_find(const char *content_encoding)
{
    if (media_type_is_plain(content_encoding))
        return CONTENT_ENCODING_NONE;
    if (strcasecmp(content_encoding, "gzip") == 0 || strcasecmp(content_encoding, "x-gzip") == 0)
        return CONTENT_ENCODING_GZIP;
    return strcasecmp(content_encoding, "deflate") == 0 ? CONTENT_ENCODING_DEFLATE : CONTENT_ENCODING_UNKNOWN;
}

bool content_encoding_wants_gzip(const char *accept_encoding)
{
    if (!accept_encoding || !*accept_encoding)
        return false;
    double gzip = media_type_coding_weight(accept_encoding, "gzip");
    return gzip > 0 && gzip >= media_type_coding_weight(accept_encoding, "identity");
}

struct unpacking {
    z_stream z;
    struct buffer out;
    size_t charged;
    size_t limit;
    struct budget *budget;
    struct error *err;
};

static bool make_room(struct unpacking *u)
{
    if (u->out.length > u->limit)
        return error_set(u->err, ERROR_TOO_LARGE, "", "The body unpacks to more than %zu bytes, the limit.", u->limit);
    bool grows = u->charged < u->out.length + PIECE; /* a gzip member may be empty */
    if (grows && !budget_take(u->budget, PIECE))
        return error_set(u->err, ERROR_MEMORY, "", "The memory for request bodies is spent.");
    u->charged += grows ? PIECE : 0;
    char *room = buffer_reserve(&u->out, PIECE);
    if (!room)
        return error_set(u->err, ERROR_MEMORY, "", "There is no memory for the unpacked body.");
    u->z.next_out = (Bytef *)room;
    u->z.avail_out = (uInt)PIECE;
    return true;
}

/* One piece of output; *status is zlib's. */
static bool unpack_piece(struct unpacking *u, int *status)
{
    if (!make_room(u))
        return false;
    *status = inflate(&u->z, Z_NO_FLUSH);
    u->out.length += PIECE - u->z.avail_out;
    if (*status == Z_OK || *status == Z_STREAM_END)
        return true;
    return error_set(u->err, ERROR_SYNTAX, "", "The body is not what its Content-Encoding says, or it is cut.");
}

/* A gzip body may have several members, one after the other. */
static bool unpack_all(struct unpacking *u)
{
    int status = Z_OK;
    do {
        if (status == Z_STREAM_END)
            inflateReset(&u->z);
        if (!unpack_piece(u, &status))
            return false;
    } while (status != Z_STREAM_END || u->z.avail_in > 0);
    return u->out.length <= u->limit || make_room(u);
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

bool content_encoding_unpack(struct buffer *body, enum content_encoding coding, size_t limit, struct budget *budget,
                             size_t *charged, struct error *err)
{
    struct unpacking u = {.limit = limit, .budget = budget, .err = err};
    u.z.next_in = (Bytef *)body->data;
    u.z.avail_in = (uInt)body->length;
    if (body->length > UINT32_MAX || inflateInit2(&u.z, choose_window(body, coding)) != Z_OK)
        return error_set(err, ERROR_MEMORY, "", "There is no memory to unpack the body.");
    bool good = unpack_all(&u);
    inflateEnd(&u.z);
    buffer_free(body);
    budget_give(budget, *charged);
    *charged = u.charged;
    *body = u.out;
    return good;
}

/* Appends what `z` makes of the plain text. */
static bool run_deflate(z_stream *z, const struct buffer *plain, int flush, struct buffer *out)
{
    size_t room = deflateBound(z, plain->length) + 64;
    z->next_in = (Bytef *)plain->data;
    z->avail_in = (uInt)plain->length;
    z->next_out = (Bytef *)buffer_reserve(out, room);
    z->avail_out = (uInt)room;
    if (!z->next_out || plain->length > UINT32_MAX / 2)
        return false;
    int status = deflate(z, flush);
    out->length += room - z->avail_out;
    return status == (flush == Z_FINISH ? Z_STREAM_END : Z_OK);
}

static bool pack(const struct buffer *plain, int window, int flush, struct buffer *out)
{
    z_stream z = {0};
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, window, MEMORY_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    bool good = run_deflate(&z, plain, flush, out);
    deflateEnd(&z);
    return good;
}

bool content_encoding_pack(struct buffer *text)
{
    struct buffer packed = {0};
    if (!pack(text, GZIP_WINDOW, Z_FINISH, &packed)) {
        buffer_free(&packed);
        return false;
    }
    buffer_free(text);
    *text = packed;
    return true;
}

/* RFC 1952: magic, deflate, no flags, no time, no extra flags, Unix. */
void content_encoding_begin(struct buffer *out)
{
    buffer_append(out, "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
}

bool content_encoding_pack_piece(const struct buffer *plain, bool last, struct buffer *out,
                                 struct content_encoding_sum *sum)
{
    sum->crc = crc32_z(0, (const Bytef *)plain->data, plain->length);
    sum->length = plain->length;
    return pack(plain, RAW_WINDOW, last ? Z_FINISH : Z_SYNC_FLUSH, out);
}

void content_encoding_fold(struct content_encoding_sum *stream, const struct content_encoding_sum *piece)
{
    stream->crc = crc32_combine(stream->crc, piece->crc, (z_off_t)piece->length);
    stream->length += piece->length;
}

static void append_little_endian(struct buffer *out, uint32_t value)
{
    const char bytes[] = {(char)value, (char)(value >> 8), (char)(value >> 16), (char)(value >> 24)};
    buffer_append(out, bytes, sizeof bytes);
}

void content_encoding_end(const struct content_encoding_sum *stream, struct buffer *out)
{
    append_little_endian(out, (uint32_t)stream->crc);
    append_little_endian(out, (uint32_t)stream->length);
}
