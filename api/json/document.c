/* JSON documents: matrices cut out, jansson for the rest, every refusal at its place in the original text. */
#include "api/json/document.h"

#include "api/json/cutter.h"
#include "api/numbers/number.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <string.h>

#define EXCERPT_MAX 20
#define LARGE ((size_t)64 * 1024)     /* an outline: its parsing can be cancelled */
#define TRIMMED ((size_t)1024 * 1024) /* an outline: the pieces of its tree go back to the system */
#define REMEMBERED_MAX 4096           /* bytes of an outline */

/* The original text, and what was found wrong in it. */
struct reading {
    const char *text;
    size_t length;
    struct cutter outline;
    const atomic_bool *cancel;
    struct error *err;
};

/* At most EXCERPT_MAX printable ASCII characters of the client's, or nothing. */
static size_t take_excerpt(const struct reading *r, size_t byte, char *out)
{
    size_t count = 0;
    while (count < EXCERPT_MAX && byte + count < r->length) {
        char c = r->text[byte + count];
        if (c < 0x20 || c > 0x7e)
            break;
        out[count++] = c;
    }
    out[count] = '\0';
    return count;
}

static void place(const struct reading *r, size_t byte)
{
    struct error *err = r->err;
    err->byte = byte;
    err->line = 1;
    err->column = 1;
    err->placed = true;
    for (size_t i = 0; i < byte && i < r->length; i++) {
        unsigned char c = (unsigned char)r->text[i];
        if (c == '\n') {
            err->line++;
            err->column = 1;
        } else if ((c & 0xc0) != 0x80) /* not inside a UTF-8 sequence */
            err->column++;
    }
}

/* What other programs write for numbers that JSON does not have. */
static bool is_no_number(const struct reading *r, size_t byte)
{
    static const char *const words[] = {"NaN", "nan", "Infinity", "inf", "-Infinity", "-inf", "-nan", "-NaN"};
    for (size_t x = 0; x < sizeof words / sizeof *words; x++)
        if (r->length - byte >= strlen(words[x]) && memcmp(r->text + byte, words[x], strlen(words[x])) == 0)
            return true;
    return false;
}

static bool refuse_at(const struct reading *r, size_t byte, const char *why)
{
    char excerpt[EXCERPT_MAX + 1];
    if (is_no_number(r, byte))
        why = "JSON has no NaN and no Infinity: send a finite number, or in a bias the string \"-Infinity\" or null, "
              "which "
              "hide; in binary -infinity is itself";
    if (r->err->code == ERROR_NONE)
        place(r, byte);
    if (take_excerpt(r, byte, excerpt) > 0)
        return error_set(r->err, ERROR_SYNTAX, "", "%s, at: %s", why, excerpt);
    return error_set(r->err, ERROR_SYNTAX, "", "%s", why);
}

/* What jansson says first, and what we say instead: its own texts carry the client's bytes. */
static const struct {
    const char *theirs, *ours;
    bool at_position; /* jansson stands at the byte that is wrong; else behind the token */
    int back;         /* or this far behind it */
} sentences[] = {
    {"unable to decode byte", "this is not UTF-8", true, 0},
    {"control character", "a control character stands in a string without an escape", true, 0},
    {"unexpected newline", "a line ends inside a string", true, 0},
    {"invalid escape", "JSON has no such escape", true, 1},
    {"invalid Unicode", "a surrogate escape stands without its other half", false, 0},
    {"duplicate object key", "this member is repeated", false, 0},
    {"real number overflow", "this number is beyond what a 64-bit float holds", false, 0},
    {"end of file expected", "the document is complete, yet more follows", false, 0},
    {"string or '}' expected", "a member's name or '}' is expected here", false, 0},
    {"':' expected", "':' is expected here", false, 0},
    {"'}' expected", "',' or '}' is expected here", false, 0},
    {"']' expected", "',' or ']' is expected here", false, 0},
    {"", "a value is expected here", false, 0},
};

static size_t find_sentence(const char *theirs)
{
    size_t i = 0;
    while (strncmp(theirs, sentences[i].theirs, strlen(sentences[i].theirs)) != 0)
        i++;
    return i;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++)
        at += *at == '\\';
    return at < end ? at + 1 : end;
}

/* Behind the token at `at`, cut as jansson cuts; to the end when it is broken. */
static const char *skip_token(const char *at, const char *end)
{
    double value;
    if (*at == '"')
        return skip_string(at, end);
    if (*at == '-' || (*at >= '0' && *at <= '9')) {
        const char *after = number_read(at, end, &value);
        return after ? after : end;
    }
    const char *start = at;
    while (at < end && is_letter(*at))
        at++;
    if (at > start)
        return at;
    for (at++; at < end && (*at & 0xc0) == 0x80; at++)
        continue;
    return at;
}

/* The start of the token that ends at `after`: jansson only says where it had read up to. */
static size_t find_token(const struct cutter *outline, size_t after)
{
    const char *text = outline->text.data;
    const char *end = text + after;
    const char *at = text;
    const char *token = text;
    while (at < end) {
        if (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t') {
            at++;
            continue;
        }
        token = at;
        at = skip_token(at, end);
    }
    return (size_t)(token - text);
}

static bool refuse_end(const struct reading *r)
{
    if (r->length == 0)
        return refuse_at(r, 0, "the document is empty");
    return refuse_at(r, r->length, "the text ends before the document is complete");
}

/* What cutting found, when jansson did not stumble before. */
static bool refuse_found(const struct reading *r)
{
    return refuse_at(r, r->outline.fault.byte, r->outline.fault.why);
}

/* jansson calls a string invalid that it has no memory to copy. */
static bool is_good_string(const struct cutter *outline, size_t token, const char *theirs)
{
    const char *text = outline->text.data;
    bool refused = strncmp(theirs, "invalid token", strlen("invalid token")) == 0 ||
                   strncmp(theirs, "string or", strlen("string or")) == 0;
    return refused && text && text[token] == '"';
}

static bool refuse_memory(const struct reading *r)
{
    return error_set(r->err, ERROR_MEMORY, "", "the system has no memory left for this document");
}

static bool refuse_parsed(const struct reading *r, const json_error_t *theirs)
{
    enum json_error_code code = json_error_code(theirs);
    size_t after = (size_t)theirs->position;
    size_t i = find_sentence(theirs->text);
    bool cut_escape = i == find_sentence("invalid escape") && after == r->outline.text.length;
    if (code == json_error_unknown || code == json_error_out_of_memory)
        return refuse_memory(r);
    if (code == json_error_premature_end_of_input || cut_escape)
        return r->outline.fault.why ? refuse_found(r) : refuse_end(r);
    size_t byte = sentences[i].at_position ? after - (size_t)sentences[i].back : find_token(&r->outline, after);
    if (!sentences[i].at_position && is_good_string(&r->outline, byte, theirs->text))
        return refuse_memory(r);
    return refuse_at(r, cutter_original(&r->outline, byte), sentences[i].ours);
}

static bool starts_with_mark(const struct reading *r)
{
    return r->length >= 3 && memcmp(r->text, "\xef\xbb\xbf", 3) == 0;
}

static bool is_cancelled(const struct reading *r)
{
    return r->cancel && atomic_load_explicit(r->cancel, memory_order_relaxed);
}

/* Hands a large outline over piece by piece: it ends early when nobody waits for it any more. */
struct feeder {
    const struct reading *r;
    size_t done;
};

static size_t feed(void *buffer, size_t size, void *context)
{
    struct feeder *feeder = context;
    const struct buffer *text = &feeder->r->outline.text;
    size_t left = is_cancelled(feeder->r) ? 0 : text->length - feeder->done;
    size_t count = left < size ? left : size;
    memcpy(buffer, text->data + feeder->done, count);
    feeder->done += count;
    return count;
}

static bool parse(struct reading *r, struct document *document)
{
    const struct buffer *text = &r->outline.text;
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL;
    struct feeder feeder = {r, 0};
    json_error_t theirs = {0};  /* without memory jansson leaves the code in its text unset */
    if (text->length > INT_MAX) /* jansson counts positions in int */
        return error_set(r->err, ERROR_TOO_LARGE, "",
                         "the document has %zu bytes outside its arrays of numbers; %d is the most", text->length,
                         INT_MAX);
    document->huge = text->length >= TRIMMED;
    document->root = text->length < LARGE ? json_loadb(text->data ? text->data : "", text->length, flags, &theirs)
                                          : json_load_callback(feed, &feeder, flags, &theirs);
    if (is_cancelled(r))
        return error_set(r->err, ERROR_CANCELLED, "", "Nobody waits for this any more.");
    if (!document->root)
        return refuse_parsed(r, &theirs);
    return r->outline.fault.why ? refuse_found(r) : true;
}

/* --- the last outline --- */

static bool recall(const struct document_memory *memory, const struct cutter *outline, struct document *document)
{
    if (!memory || !memory->root || outline->fault.why || memory->text.length != outline->text.length ||
        memcmp(memory->text.data, outline->text.data, outline->text.length) != 0)
        return false;
    document->root = json_incref(memory->root);
    return true;
}

static void remember(struct document_memory *memory, struct cutter *outline, const struct document *document)
{
    if (!memory || outline->text.length > REMEMBERED_MAX)
        return;
    document_forget(memory);
    memory->text = outline->text;
    memory->root = json_incref(document->root);
    outline->text = (struct buffer){0};
}

void document_forget(struct document_memory *memory)
{
    json_decref(memory->root);
    buffer_free(&memory->text);
    memory->root = NULL;
}

static bool read_outline(struct reading *r, struct document *document, struct document_memory *memory)
{
    if (recall(memory, &r->outline, document))
        return true;
    if (!parse(r, document))
        return false;
    remember(memory, &r->outline, document);
    return true;
}

bool document_read(struct document *document, const char *text, size_t length, struct read_context context,
                   struct arena *arena, struct error *err)
{
    struct reading r = {.text = text, .length = length, .cancel = context.cancel, .err = err};
    *document = (struct document){0};
    if (starts_with_mark(&r))
        return refuse_at(&r, 0, "the text starts with a byte order mark");
    bool good = cutter_cut(&r.outline, document, text, length, context.pool, arena, err) &&
                read_outline(&r, document, context.memory);
    cutter_free(&r.outline);
    if (!good)
        document_free(document);
    return good;
}

void document_free(struct document *document)
{
    json_decref(document->root);
    document->root = NULL;
#ifdef __GLIBC__
    if (document->huge)
        malloc_trim(0);
#endif
    document->huge = false;
}

static struct matrix *find_cut(const struct document *document, const json_t *value)
{
    const json_t *first = json_is_array(value) ? json_array_get(value, 0) : NULL;
    if (!json_is_real(first))
        return NULL;
    double number = json_real_value(first);
    return number >= 0 && number < (double)document->matrix_count ? &document->matrices[(size_t)number] : NULL;
}

struct matrix *document_matrix(const struct document *document, const json_t *value)
{
    struct matrix *cut = find_cut(document, value);
    return cut && !cut->bytes.data && !cut->beside.data ? cut : NULL;
}

struct document_bytes *document_bytes(const struct document *document, const json_t *value)
{
    struct matrix *cut = find_cut(document, value);
    return cut && cut->bytes.data ? &cut->bytes : NULL;
}

json_t *document_add_tensor(struct document *document, struct tensor tensor, struct arena *arena, struct error *err)
{
    size_t index = document->matrix_count;
    struct matrix *matrices = arena_resize(arena, document->matrices, (index + 1) * sizeof *matrices, err);
    if (!matrices)
        return NULL;
    matrices[index] = (struct matrix){.beside = tensor};
    document->matrices = matrices;
    document->matrix_count++;
    json_t *value = json_pack("[f]", (double)index);
    if (!value)
        error_set(err, ERROR_MEMORY, "", "the system has no memory left for this document");
    return value;
}

const struct tensor *document_tensor(const struct document *document, const json_t *value)
{
    const struct matrix *cut = find_cut(document, value);
    return cut && cut->beside.data ? &cut->beside : NULL;
}
