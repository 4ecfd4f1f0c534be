/* Cutting matrices out of a JSON text. */
#include "api/json/cutter.h"
#include "api/json/matrix.h"
#include "api/json/matrix_start.h"
#include "api/numbers/base64.h"
#include "api/numbers/space.h"
#include "api/writing/writer.h"

#include <string.h>

/* What jansson takes for a container or a member, at least, on 64 bits: a few bytes of text can cost that much. */
#define CONTAINER_BYTES 320
#define MEMBER_BYTES 112
/* The outline's bytes stand in it, in the tree's strings, and while it is read a second time in the longest of them. */
#define OUTLINE_TIMES 3
#define RESERVED_STEP ((size_t)64 * 1024)
/* No request has as many, and each takes the parser a microsecond and more. */
#define MEMBERS_MAX 100000
#define BASE64_LEAST 64 /* characters of a string that is worth being cut out */

struct scanner {
    const char *text, *at, *end;
    const char *copied; /* text up to here is in the outline */
    const char *leaf;   /* brackets before it open no matrix: they have been looked at */
    const char *base64; /* where the value of a member "base64" begins, the last one seen; NULL: none was */
    size_t depth;
    size_t tree;     /* bytes that the parser's tree will take beside its strings */
    size_t reserved; /* bytes of `reservation`, a block of the arena for the outline and all that the parser takes */
    void *reservation;
    size_t members;
    struct cutter *outline;
    struct document *document;
    struct matrix_buffer buffer;
    size_t matrix_room, anchor_room;
    struct pool *pool;
    struct arena *arena;
    struct error *err;
    bool refused;   /* the error is in err */
    bool cut_short; /* at a NUL byte: nothing is copied any more */
};

static bool stop_at(struct scanner *c, const char *at, const char *why)
{
    c->outline->fault = (struct cutter_fault){(size_t)(at - c->text), why};
    return false;
}

static bool refuse(struct scanner *c)
{
    c->refused = true;
    return false;
}

/* `block` of *room elements with room for one more behind `count`, or NULL. */
static void *widen(struct scanner *c, void *block, size_t size, size_t count, size_t *room)
{
    if (count < *room)
        return block;
    size_t more = *room ? 2 * *room : 8;
    void *moved = arena_resize(c->arena, block, more * size, c->err);
    if (moved)
        *room = more;
    else
        c->refused = true;
    return moved;
}

/* In the arena's account, so that its limit holds for what malloc gives, too: `slack` bytes may be left for later. It
 * stays until the arena ends. Pages that nobody touches cost nothing. */
static bool reserve(struct scanner *c, size_t slack)
{
    size_t wanted = c->tree + OUTLINE_TIMES * c->outline->text.length;
    if (c->outline->text.failed) {
        buffer_check(&c->outline->text, "what stands outside arrays of numbers", c->err);
        return refuse(c);
    }
    if (wanted <= c->reserved + slack)
        return true;
    void *block = arena_resize(c->arena, c->reservation, wanted, c->err);
    if (!block)
        return refuse(c);
    c->reservation = block;
    c->reserved = wanted;
    return true;
}

/* jansson drops a NUL byte between two tokens, so what it gets is searched for one; the text of matrices, which is most
 * of it, need not be: no number has one. */
static bool copy_up_to(struct scanner *c, const char *at)
{
    if (c->cut_short)
        return false;
    const char *nul = memchr(c->copied, '\0', (size_t)(at - c->copied));
    const char *stop = nul ? nul : at;
    c->cut_short = nul != NULL;
    if (stop > c->copied)
        buffer_append(&c->outline->text, c->copied, (size_t)(stop - c->copied));
    c->copied = at;
    if (!reserve(c, RESERVED_STEP))
        return false;
    return nul ? stop_at(c, nul, "a NUL byte stands here") : true;
}

/* What is appended next comes from `at`. */
static bool drop_anchor(struct scanner *c, const char *at)
{
    struct cutter *e = c->outline;
    struct cutter_anchor *anchors = widen(c, e->anchors, sizeof *anchors, e->anchor_count, &c->anchor_room);
    if (!anchors)
        return false;
    e->anchors = anchors;
    e->anchors[e->anchor_count++] = (struct cutter_anchor){e->text.length, (size_t)(at - c->text)};
    c->copied = at;
    return true;
}

/* jansson refuses a NUL in a member's name even where its escape is fine JSON. No option is called like that, so the
 * replacement character says the same: unknown. */
static bool copy_name_without_nul(struct scanner *c, const char *string, const char *after)
{
    if (!copy_up_to(c, string))
        return false;
    size_t start = c->outline->text.length;
    if (!copy_up_to(c, after) || c->outline->text.failed)
        return false;
    char *at = c->outline->text.data + start;
    char *end = c->outline->text.data + c->outline->text.length;
    for (at = memchr(at, '\\', (size_t)(end - at)); at; at = memchr(at, '\\', (size_t)(end - at))) {
        if (end - at > 6 && memcmp(at, "\\u0000", 6) == 0)
            memcpy(at, "\\ufffd", 6);
        at += 2;
    }
    return true;
}

/* Behind a member "base64": where its value begins. */
static void note_base64(struct scanner *c, const char *name, const char *colon)
{
    static const char base64[] = "\"base64\"";
    if (c->at - name == sizeof base64 - 1 && memcmp(name, base64, sizeof base64 - 1) == 0)
        c->base64 = space_skip(colon + 1, c->end);
}

/* From the quote to behind the closing one, or to the end when there is none. */
static bool pass_string(struct scanner *c)
{
    const char *start = c->at;
    const char *at = start + 1;
    bool has_nul = false;
    const char *quote = memchr(at, '"', (size_t)(c->end - at));
    while (quote) {
        const char *escape = memchr(at, '\\', (size_t)(quote - at));
        if (!escape)
            break;
        has_nul |= c->end - escape > 6 && memcmp(escape, "\\u0000", 6) == 0;
        at = escape + 2;
        if (at > quote)
            quote = memchr(at, '"', (size_t)(c->end - at));
    }
    c->at = quote ? quote + 1 : c->end;
    const char *next = space_skip(c->at, c->end);
    if (next >= c->end || *next != ':')
        return true;
    note_base64(c, start, next);
    return !has_nul || copy_name_without_nul(c, start, c->at);
}

static bool pass_values(struct scanner *c, size_t floor);

/* A string or an object in a matrix: it stays in the outline, for its grammar. */
static bool pass_other(struct scanner *c, struct matrix_reader *r)
{
    buffer_append(&c->outline->text, ",", 1);
    if (!drop_anchor(c, r->at))
        return false;
    c->at = r->at;
    size_t depth = c->depth;
    c->depth += r->level;
    c->tree += MEMBER_BYTES;
    bool good = *c->at == '"' ? pass_string(c) : pass_values(c, c->depth);
    if (!good || !copy_up_to(c, c->at))
        return false;
    c->depth = depth;
    r->at = c->at;
    return true;
}

static bool read_matrix(struct scanner *c, struct matrix_reader *r)
{
    for (;;) {
        enum matrix_step step = matrix_read(r);
        if (step == MATRIX_OTHER && pass_other(c, r))
            continue;
        if (step == MATRIX_BROKEN)
            return stop_at(c, r->at, r->why);
        if (step == MATRIX_REFUSED)
            return refuse(c);
        return step == MATRIX_DONE;
    }
}

/* Its place is kept while it is read: something else in it may hold further ones. */
static bool add_matrix(struct scanner *c, size_t *number)
{
    struct document *d = c->document;
    struct matrix *matrices = widen(c, d->matrices, sizeof *matrices, d->matrix_count, &c->matrix_room);
    if (!matrices)
        return false;
    d->matrices = matrices;
    *number = d->matrix_count++;
    return true;
}

static bool cut_matrix(struct scanner *c)
{
    size_t number;
    struct writer w = {.out = &c->outline->text};
    struct matrix_reader r = {.at = c->at,
                              .end = c->end,
                              .depth = c->depth,
                              .pool = c->pool,
                              .arena = c->arena,
                              .buffer = &c->buffer,
                              .err = c->err};
    if (!copy_up_to(c, c->at) || !drop_anchor(c, c->at) || !add_matrix(c, &number))
        return false;
    c->tree += CONTAINER_BYTES;
    writer_array_begin(&w);
    writer_integer(&w, (int64_t)number);
    if (!read_matrix(c, &r))
        return false;
    c->document->matrices[number] = r.matrix;
    buffer_append(&c->outline->text, "]", 1);
    c->at = r.at;
    return drop_anchor(c, c->at);
}

/* Decodes the string at `at`, without its quotes. NULL when it is short or no base64 (a parser is to look at it), or
 * when there is no room for it. */
static unsigned char *decode_base64(struct scanner *c, const char **end, size_t *count)
{
    const char *start = c->at + 1;
    *end = memchr(start, '"', (size_t)(c->end - start));
    size_t length = *end ? (size_t)(*end - start) : 0;
    if (length < BASE64_LEAST)
        return NULL;
    *count = base64_bytes(start, length);
    unsigned char *data = arena_alloc(c->arena, *count, c->err);
    c->refused = !data;
    if (data && !base64_decode(start, length, data)) {
        arena_drop(c->arena, data);
        return NULL;
    }
    return data;
}

/* The value of a member "base64": its bytes go where matrices go, and its number stays. */
static bool cut_base64(struct scanner *c)
{
    size_t number;
    const char *end;
    struct document_bytes bytes = {0};
    struct writer w = {.out = &c->outline->text};
    bytes.data = decode_base64(c, &end, &bytes.count);
    if (!bytes.data)
        return !c->refused && pass_string(c);
    if (!copy_up_to(c, c->at) || !drop_anchor(c, c->at) || !add_matrix(c, &number))
        return false;
    c->document->matrices[number] = (struct matrix){.bytes = bytes};
    c->tree += CONTAINER_BYTES;
    writer_array_begin(&w);
    writer_integer(&w, (int64_t)number);
    writer_array_end(&w);
    c->at = end + 1;
    return drop_anchor(c, c->at);
}

static bool open_bracket(struct scanner *c)
{
    if (c->depth == DOCUMENT_DEPTH_MAX)
        return stop_at(c, c->at, "this is nested deeper than 32 levels");
    c->depth++;
    c->tree += CONTAINER_BYTES;
    c->at++;
    return true;
}

/* The next quote, bracket, comma or colon. */
static const char *find_mark(const char *at, const char *end)
{
    static const bool marks[256] = {
        ['"'] = true, ['['] = true, [']'] = true, ['{'] = true, ['}'] = true, [','] = true, [':'] = true};
    while (at < end && !marks[(unsigned char)*at])
        at++;
    return at;
}

static bool pass_colon(struct scanner *c)
{
    if (++c->members > MEMBERS_MAX) {
        error_set(c->err, ERROR_TOO_LARGE, "", "the document has more than %d members in its objects", MEMBERS_MAX);
        return refuse(c);
    }
    c->at++;
    return true;
}

static bool pass_mark(struct scanner *c, size_t floor)
{
    switch (*c->at) {
    case '"':
        return c->at == c->base64 ? cut_base64(c) : pass_string(c);
    case '[':
        return matrix_starts(c->at, c->end, &c->leaf) ? cut_matrix(c) : open_bracket(c);
    case '{':
        return open_bracket(c);
    case ',':
        c->tree += MEMBER_BYTES;
        c->at++;
        return true;
    case ':':
        return pass_colon(c);
    default:
        c->depth -= c->depth > floor;
        c->at++;
        return true;
    }
}

/* Up to where the brackets open at `floor` are closed again, or to the end. */
static bool pass_values(struct scanner *c, size_t floor)
{
    do {
        c->at = find_mark(c->at, c->end);
        if (c->at < c->end && !pass_mark(c, floor))
            return false;
    } while (c->at < c->end && c->depth > floor);
    return true;
}

static bool cut_all(struct scanner *c)
{
    bool good = true;
    while (good && c->at < c->end)
        good = pass_values(c, 0);
    copy_up_to(c, c->at);
    return !c->refused;
}

bool cutter_cut(struct cutter *outline, struct document *document, const char *text, size_t length, struct pool *pool,
                struct arena *arena, struct error *err)
{
    struct scanner c = {.text = text,
                        .at = text,
                        .copied = text,
                        .leaf = text,
                        .end = text + length,
                        .outline = outline,
                        .document = document,
                        .pool = pool,
                        .arena = arena,
                        .err = err};
    outline->text = buffer_new(arena_room(arena));
    bool good = cut_all(&c);
    arena_drop(arena, c.buffer.values);
    return good && reserve(&c, 0);
}

void cutter_free(struct cutter *outline)
{
    buffer_free(&outline->text);
}

size_t cutter_original(const struct cutter *outline, size_t byte)
{
    const struct cutter_anchor *anchor = NULL;
    for (size_t i = 0; i < outline->anchor_count && outline->anchors[i].outline <= byte; i++)
        anchor = &outline->anchors[i];
    return anchor ? anchor->original + (byte - anchor->outline) : byte;
}
