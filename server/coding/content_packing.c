/* Packing by libzstd; gzip by ISA-L, which takes a third of zlib's time, or by zlib for what lasts. */
#include "server/coding/content_packing.h"

#include <endian.h>
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)64 * 1024)

/* Two pieces for each half of what is left. */
size_t content_packing_most(size_t plain)
{
    return 2 * plain + 8 * PIECE;
}

/* --- gzip --- */

#define END_OF_BLOCK 256
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

static bool append_matched(const struct buffer *plain, bool last, struct buffer *out)
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

/* Whether the text is digits of many kinds, and hardly anything else. */
static bool is_of_numbers(const struct isal_huff_histogram *counts, size_t length)
{
    static const char marks[] = "0123456789,.-+e[]";
    uint64_t all = 0;
    uint64_t most = 0;
    for (const char *mark = marks; *mark; mark++) {
        uint64_t count = counts->lit_len_histogram[(unsigned char)*mark];
        all += count;
        most = count > most ? count : most;
    }
    return all > length - length / 10 && most < length / 3;
}

static void count_bytes(const struct buffer *plain, struct isal_huff_histogram *counts)
{
    for (size_t i = 0; i < plain->length; i++)
        counts->lit_len_histogram[(unsigned char)plain->data[i]]++;
    counts->lit_len_histogram[END_OF_BLOCK] = 1;
}

/* Bits of deflate, the lowest first. */
struct bits {
    uint64_t held;
    unsigned count; /* below 8 between calls */
    char *out;
};

static inline void put_bits(struct bits *bits, uint64_t value, unsigned count)
{
    bits->held |= value << bits->count;
    bits->count += count;
}

/* Writes eight bytes and moves by those that are full. */
static inline void flush_bits(struct bits *bits)
{
    const uint64_t little = htole64(bits->held);
    memcpy(bits->out, &little, sizeof little);
    bits->out += bits->count / 8;
    bits->held >>= bits->count & ~7u;
    bits->count &= 7;
}

/* Codes have 15 bits at most: three of them fit. */
static void put_bytes(struct bits *bits, const struct isal_hufftables *codes, const struct buffer *plain)
{
    const unsigned char *at = (const unsigned char *)plain->data;
    const unsigned char *end = at + plain->length;
    for (; end - at >= 3; at += 3) {
        for (int i = 0; i < 3; i++)
            put_bits(bits, codes->lit_table[at[i]], codes->lit_table_sizes[at[i]]);
        flush_bits(bits);
    }
    for (; at < end; at++)
        put_bits(bits, codes->lit_table[*at], codes->lit_table_sizes[*at]);
    put_bits(bits, codes->lit_table[END_OF_BLOCK], codes->lit_table_sizes[END_OF_BLOCK]);
    flush_bits(bits);
    flush_bits(bits);
}

/* An empty stored block, which ends at a byte, or the rest of the last byte. */
static void put_end(struct bits *bits, bool last)
{
    put_bits(bits, 0, last ? 0 : 3);
    put_bits(bits, 0, (8 - bits->count % 8) % 8);
    flush_bits(bits);
    if (last)
        return;
    memcpy(bits->out, "\0\0\xff\xff", 4);
    bits->out += 4;
}

/* One block in which each byte has a code by its frequency. The head is ISA-L's, whose first bit says whether it is the
 * last block. */
static bool append_coded(const struct buffer *plain, const struct isal_huff_histogram *counts, bool last,
                         struct buffer *out)
{
    struct isal_hufftables codes;
    struct isal_huff_histogram copy = *counts;
    char *start = buffer_reserve(out, 2 * plain->length + PIECE);
    if (!start || isal_create_hufftables(&codes, &copy) != 0)
        return false;
    memcpy(start, codes.deflate_hdr, codes.deflate_hdr_count);
    struct bits bits = {.out = start + codes.deflate_hdr_count};
    put_bits(&bits, codes.deflate_hdr[codes.deflate_hdr_count], codes.deflate_hdr_extra_bits);
    start[0] = (char)((start[0] & ~1) | last);
    put_bytes(&bits, &codes, plain);
    put_end(&bits, last);
    out->length += (size_t)(bits.out - start);
    return true;
}

/* Deflate blocks that end at a byte, the last ones of their stream if `last`. Digits hardly repeat: where there is
 * little else, looking for repetitions takes three times what coding each byte takes, and wins a tenth. */
static bool append_deflate(const struct buffer *plain, bool last, struct buffer *out)
{
    struct isal_huff_histogram counts = {0};
    count_bytes(plain, &counts);
    return is_of_numbers(&counts, plain->length) ? append_coded(plain, &counts, last, out)
                                                 : append_matched(plain, last, out);
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
    struct buffer packed = buffer_new(content_packing_most(text->length));
    bool zstd = coding == CONTENT_ENCODING_ZSTD;
    return replace(text, &packed, zstd ? append_zstd(text, set_fast, &packed) : append_gzip(text, &packed));
}

bool content_packing_pack_lasting(struct buffer *text, enum content_encoding coding)
{
    struct buffer packed = buffer_new(content_packing_most(text->length));
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
    *sum = (struct content_packing_sum){0}; /* zstd needs none */
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
