/* Packing by libzstd, and gzip by ISA-L, which takes a third of zlib's time, or by zlib for what lasts. */
#include "server/http/content_packing.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)64 * 1024)

/* --- gzip --- */

#define LASTING_LEVEL 6
#define LASTING_WINDOW (15 + 16)
#define LASTING_MEMORY 8

/* RFC 1952: magic, deflate, no flags, no time, no extra flags, Unix. */
static void append_gzip_head(struct buffer *out)
{
    buffer_append(out, "\x1f\x8b\x08\0\0\0\0\0\0\x03", 10);
}

static void append_little_endian(struct buffer *out, uint32_t value)
{
    const char bytes[] = {(char)value, (char)(value >> 8), (char)(value >> 16), (char)(value >> 24)};
    buffer_append(out, bytes, sizeof bytes);
}

static void append_gzip_tail(struct buffer *out, const struct content_packing_sum *sum)
{
    append_little_endian(out, (uint32_t)sum->crc);
    append_little_endian(out, (uint32_t)sum->length);
}

static struct content_packing_sum find_sum(const struct buffer *plain)
{
    return (struct content_packing_sum){crc32_gzip_refl(0, (const uint8_t *)plain->data, plain->length), plain->length};
}

/* All that is in `z` goes out when some of the room for it is left. */
static bool run_isal(struct isal_zstream *z, struct buffer *out)
{
    do {
        size_t room = z->avail_in / 2 + PIECE;
        z->next_out = (uint8_t *)buffer_reserve(out, room);
        z->avail_out = (uint32_t)room;
        if (!z->next_out || isal_deflate(z) != COMP_OK)
            return false;
        out->length += room - z->avail_out;
    } while (z->avail_out == 0);
    return true;
}

/* Deflate blocks that end at a byte, the last ones of their stream if `last`. */
static bool append_deflate(const struct buffer *plain, bool last, struct buffer *out)
{
    struct isal_zstream z;
    uint8_t *tables = plain->length <= UINT32_MAX ? malloc(ISAL_DEF_LVL1_DEFAULT) : NULL;
    if (!tables)
        return false;
    isal_deflate_init(&z);
    z.level = 1;
    z.level_buf = tables;
    z.level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    z.next_in = (uint8_t *)plain->data;
    z.avail_in = (uint32_t)plain->length;
    z.flush = last ? NO_FLUSH : SYNC_FLUSH;
    z.end_of_stream = last;
    bool good = run_isal(&z, out);
    free(tables);
    return good;
}

static bool append_gzip(const struct buffer *plain, struct buffer *out)
{
    const struct content_packing_sum sum = find_sum(plain);
    append_gzip_head(out);
    bool good = append_deflate(plain, true, out);
    append_gzip_tail(out, &sum);
    return good && !out->failed;
}

static bool run_deflate(z_stream *z, const struct buffer *plain, struct buffer *out)
{
    size_t room = deflateBound(z, plain->length);
    z->next_in = (Bytef *)plain->data;
    z->avail_in = (uInt)plain->length;
    z->next_out = (Bytef *)buffer_reserve(out, room);
    z->avail_out = (uInt)room;
    if (!z->next_out || room > UINT32_MAX || deflate(z, Z_FINISH) != Z_STREAM_END)
        return false;
    out->length += room - z->avail_out;
    return true;
}

static bool append_lasting_gzip(const struct buffer *plain, struct buffer *out)
{
    z_stream z = {0};
    if (deflateInit2(&z, LASTING_LEVEL, Z_DEFLATED, LASTING_WINDOW, LASTING_MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        return false;
    bool good = run_deflate(&z, plain, out);
    deflateEnd(&z);
    return good;
}

/* --- zstd --- */

#define LASTING_ZSTD 9 /* a window of 4 MB at most */

/* Digits hardly repeat: looking for repetitions costs three times what coding each byte by its frequency does, and wins
 * a fifth. So it is done with large strides, which still find long runs. libzstd calls the second parameter
 * experimental; one without it gets the fastest level that codes bytes by their frequency unasked. */
#define FAST_ZSTD (-200)
#define FALLBACK_ZSTD 1
#define LITERALS ZSTD_c_experimentalParam5 /* ZSTD_c_literalCompressionMode */

static void set_fast(ZSTD_CCtx *coder)
{
    bool there = !ZSTD_isError(ZSTD_CCtx_setParameter(coder, LITERALS, 1));
    ZSTD_CCtx_setParameter(coder, ZSTD_c_compressionLevel, there ? FAST_ZSTD : FALLBACK_ZSTD);
}

static void set_lasting(ZSTD_CCtx *coder)
{
    ZSTD_CCtx_setParameter(coder, ZSTD_c_compressionLevel, LASTING_ZSTD);
}

/* One frame. */
static bool append_zstd(const struct buffer *plain, void (*set)(ZSTD_CCtx *), struct buffer *out)
{
    ZSTD_CCtx *coder = ZSTD_createCCtx();
    size_t room = ZSTD_compressBound(plain->length);
    char *start = coder ? buffer_reserve(out, room) : NULL;
    size_t packed = 0;
    if (start) {
        set(coder);
        packed = ZSTD_compress2(coder, start, room, plain->data, plain->length);
    }
    ZSTD_freeCCtx(coder);
    if (!start || ZSTD_isError(packed))
        return false;
    out->length += packed;
    return true;
}

/* --- either --- */

/* Takes the packed form over if it is good. */
static bool replace(struct buffer *text, struct buffer *packed, bool good)
{
    buffer_free(good ? text : packed);
    if (good)
        *text = *packed;
    return good;
}

bool content_packing_pack(struct buffer *text, enum content_encoding coding)
{
    struct buffer packed = {0};
    bool zstd = coding == CONTENT_ENCODING_ZSTD;
    return replace(text, &packed, zstd ? append_zstd(text, set_fast, &packed) : append_gzip(text, &packed));
}

bool content_packing_pack_lasting(struct buffer *text, enum content_encoding coding)
{
    struct buffer packed = {0};
    bool zstd = coding == CONTENT_ENCODING_ZSTD;
    return replace(text, &packed, zstd ? append_zstd(text, set_lasting, &packed) : append_lasting_gzip(text, &packed));
}

void content_packing_begin(enum content_encoding coding, struct buffer *out)
{
    if (coding == CONTENT_ENCODING_GZIP)
        append_gzip_head(out);
}

bool content_packing_piece(enum content_encoding coding, const struct buffer *plain, bool last, struct buffer *out,
                           struct content_packing_sum *sum)
{
    if (coding == CONTENT_ENCODING_ZSTD)
        return append_zstd(plain, set_fast, out);
    *sum = find_sum(plain);
    return append_deflate(plain, last, out);
}

void content_packing_fold(struct content_packing_sum *stream, const struct content_packing_sum *piece)
{
    stream->crc = crc32_combine(stream->crc, piece->crc, (z_off_t)piece->length);
    stream->length += piece->length;
}

void content_packing_end(enum content_encoding coding, const struct content_packing_sum *stream, struct buffer *out)
{
    if (coding == CONTENT_ENCODING_GZIP)
        append_gzip_tail(out, stream);
}
