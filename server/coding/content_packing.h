/* Packing replies: whole texts, and streams block by block. */
#ifndef SERVER_CODING_CONTENT_PACKING_H
#define SERVER_CODING_CONTENT_PACKING_H

#include "api/numbers/buffer.h"
#include "server/coding/content_encoding.h"

#include <stdbool.h>
#include <stddef.h>

#define CONTENT_PACKING_LEAST ((size_t)1024) /* bytes of a reply below which packing does not pay */

/* A maximum for the packed form of so many bytes. */
size_t content_packing_most(size_t plain);

/* Replaces a whole text by its form in a coding, gzip or zstd; false (and the text stays) when there is no memory. */
bool content_packing_pack(struct buffer *text, enum content_encoding coding);

/* The same for texts that are packed once and sent often: slower and smaller. */
bool content_packing_pack_lasting(struct buffer *text, enum content_encoding coding);

/* A stream in pieces that are packed independently, on any thread: content_packing_begin once, content_packing_piece
 * for each piece (`last` for the last), the sum of a piece folded into the stream's in order, content_packing_end once.
 * A piece is a zstd frame, or some deflate blocks of the one member of gzip. */
struct content_packing_sum {
    unsigned long crc;
    size_t length;
};

void content_packing_begin(enum content_encoding coding, struct buffer *out);
bool content_packing_piece(enum content_encoding coding, const struct buffer *plain, bool last, struct buffer *out,
                           struct content_packing_sum *sum);
void content_packing_fold(struct content_packing_sum *stream, const struct content_packing_sum *piece);
void content_packing_end(enum content_encoding coding, const struct content_packing_sum *stream, struct buffer *out);

#endif
