/* One member of a request, declared once: parsing, checks, the schema and the tables of the manual come from it. */
#ifndef API_REQUEST_OPTION_H
#define API_REQUEST_OPTION_H

#include "api/numbers/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a member takes, and the type of the field that holds it. Integers are exact numbers up to 2^53, also written 2.0
 * or 2e0. */
enum option_kind {
    OPTION_NUMBER,    /* double */
    OPTION_INTEGER,   /* int64_t */
    OPTION_COUNT,     /* size_t, from 1 */
    OPTION_SIDE,      /* int64_t; null is WINDOW_UNLIMITED, and so is the default */
    OPTION_BOOLEAN,   /* bool */
    OPTION_CHOICE,    /* an enum: the index into `choices`; the first is the default */
    OPTION_SWITCH,    /* bool: whether it is the second of two choices */
    OPTION_STRING,    /* const char *, at most `maximum` bytes */
    OPTION_BYTES,     /* struct document_bytes, as base64 */
    OPTION_STRINGS,   /* struct strings */
    OPTION_INTEGERS,  /* struct integers, a list */
    OPTION_OFFSETS,   /* struct integers, a number or a list */
    OPTION_POSITIONS, /* struct integers, a list or a list of lists */
    OPTION_REALS,     /* struct reals, a list */
    OPTION_SLOPES,    /* struct reals; true or false without a list; `present` is the switch */
    OPTION_TENSOR,    /* struct tensor of the request's dtype */
    OPTION_ROTATION,  /* struct quantize_turn: the index into `choices`, or a tensor */
    OPTION_BIAS,      /* the same as a tensor; null or "-Infinity" is -infinity */
    OPTION_ALLOW,     /* struct tensor of booleans */
    OPTION_INCLUDE,   /* struct include */
    OPTION_OBJECT,    /* an object of `inner` */
    OPTION_MODE,      /* OPTION_SWITCH or OPTION_OBJECT */
    OPTION_PROFILE,   /* a string, which is the first member of `inner`, an OPTION_CHOICE, or an object of `inner` */
    OPTION_PAIR,      /* an object of `inner`, or one list for both of its members */
    OPTION_TARGET,    /* struct words: a string, a list of strings and nulls, or a list of such lists */
    OPTION_EXPECT,    /* struct expect: members of `inner`, and tensors or numbers under names of results */
    OPTION_OBJECTS,   /* struct objects: a list of objects of `inner`, each in a struct of its own of `size` bytes */
    OPTION_REQUESTS,  /* the same of whole requests, each with a dtype of its own */
    OPTION_KINDS
};

struct strings {
    const char *const *values; /* NULL: absent */
    size_t count;
};

/* Words by row. */
struct words {
    const char *const *values; /* NULL: absent; an entry is NULL for null */
    size_t count;
    size_t rows; /* 0: one flat list; otherwise [rows][count / rows] */
    bool scalar; /* given as a bare string */
};

struct objects {
    void *items; /* NULL: absent */
    size_t count;
};

struct option_table;

struct option {
    const char *name;
    enum option_kind kind;
    const char *standard;    /* the default as text, "" for none; a plain number is also put into the field */
    double minimum, maximum; /* infinite: no end; both 0: no range */
    bool above, below;       /* the range is open at that end: minimum, maximum are not in it */
    bool required;
    const char *const *choices; /* ends with NULL */
    size_t offset;              /* of the field in the struct that the table fills */
    size_t present;             /* of a bool that is set when the member is given; 0: none */
    const struct option_table *inner;
    size_t size;         /* of an item */
    const char *shape;   /* of a tensor or list, in letters */
    const char *meaning; /* one line of Markdown */
    const char *hint;    /* a sentence, without its end, for who sends what it does not take; NULL: none */
    const char *example; /* members of a request that use it, without the outer braces */
};

/* One of the ways to fill an object: lists of names with blanks between them. */
struct option_form {
    const char *suffix; /* of the title of its schema; NULL ends a list of forms */
    const char *needs;
    const char *lacks;
};

/* The members of one object. All offsets count from the same struct, also those of inner tables. */
struct option_table {
    const char *title; /* of the schema */
    const struct option *options;
    size_t count;
    const struct option_table *base; /* its members belong here too, or NULL */
    const struct option_form *forms; /* exactly one of which a value has, or NULL: any */
};

bool option_has_range(const struct option *option);

/* The option of that name, or NULL. */
const struct option *option_find(const struct option_table *table, const char *name);

/* Calls `visit` for every option of the table, those of its base first. */
typedef void option_visit(void *context, const struct option *option);
void option_each(const struct option_table *table, option_visit *visit, void *context);

/* Whether the name is in one of a form's lists. */
bool option_is_listed(const char *list, const char *name);

/* Puts the defaults into a zeroed struct. */
void option_defaults(const struct option_table *table, void *into);

/* What the value must be, as words: "a number greater than 0", "one of \"start\", \"end\"". */
void option_words(const struct option *option, struct buffer *out);

/* Rows of a Markdown table "| member | type, default | meaning | example |" of the options and those of inner tables,
 * dotted. */
void option_markdown(const struct option_table *table, struct buffer *out);

#endif
