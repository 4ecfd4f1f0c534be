/* Walking the tables of the contract. */
#include "api/infer/infer_names.h"

#include "api/request/options.h"
#include "api/request/suggest.h"

#include <stdio.h>
#include <string.h>

#define SLOPES "_slopes"

/* --- options --- */

/* Members that say how a reply is written, which this protocol does itself, or that need lists of strings. */
static bool is_of_text(const char *name)
{
    static const char *const names[] = {"dtype", "decimals", "nonfinite", "encoding", "cost", "readout"};
    for (size_t x = 0; x < sizeof names / sizeof *names; x++)
        if (strcmp(name, names[x]) == 0)
            return true;
    return false;
}

static bool is_parameter(const struct option *o)
{
    switch (o->kind) {
    case OPTION_NUMBER:
    case OPTION_INTEGER:
    case OPTION_COUNT:
    case OPTION_SIDE:
    case OPTION_BOOLEAN:
    case OPTION_CHOICE:
    case OPTION_SWITCH:
    case OPTION_OFFSETS:
    case OPTION_SLOPES:
    case OPTION_ROTATION:
        return true;
    default:
        return false;
    }
}

static bool is_input(const struct option *o)
{
    switch (o->kind) {
    case OPTION_TENSOR:
    case OPTION_BIAS:
    case OPTION_ALLOW:
    case OPTION_INTEGERS:
    case OPTION_OFFSETS:
    case OPTION_POSITIONS:
    case OPTION_REALS:
    case OPTION_SLOPES:
    case OPTION_ROTATION:
        return true;
    default:
        return false;
    }
}

static bool is_object(const struct option *o)
{
    return o->kind == OPTION_OBJECT || o->kind == OPTION_MODE || o->kind == OPTION_PROFILE || o->kind == OPTION_PAIR;
}

struct walk {
    infer_names_visit *visit;
    void *context;
    const char *path; /* of the object that it is in, with its dot */
};

/* The switch of ALiBi is a parameter, its slopes are an input of another name. */
static void name_as(struct infer_name *n, enum infer_kind kind)
{
    const char *short_path = strncmp(n->path, "mask.", 5) == 0 ? n->path + 5 : n->path;
    snprintf(n->name, sizeof n->name, "%s", short_path);
    for (char *c = n->name; *c; c++)
        *c = (char)(*c == '.' ? '_' : *c);
    n->kind = kind;
    if (kind == INFER_INPUT && n->option->kind == OPTION_SLOPES)
        strncat(n->name, SLOPES, sizeof n->name - strlen(n->name) - 1);
}

static void visit_as(const struct walk *walk, struct infer_name *n, enum infer_kind kind)
{
    name_as(n, kind);
    walk->visit(walk->context, n);
}

static void walk_option(void *context, const struct option *o)
{
    const struct walk *walk = context;
    struct infer_name n = {.option = o};
    snprintf(n.path, sizeof n.path, "%s%s", walk->path, o->name);
    if (is_of_text(n.path))
        return;
    if (is_parameter(o))
        visit_as(walk, &n, INFER_PARAMETER);
    if (is_input(o))
        visit_as(walk, &n, INFER_INPUT);
    if (!is_object(o))
        return;
    char path[INFER_NAME_MAX + 1];
    snprintf(path, sizeof path, "%s.", n.path);
    struct walk inner = {walk->visit, walk->context, path};
    option_each(o->inner, walk_option, &inner);
}

void infer_names_each(infer_names_visit *visit, void *context)
{
    struct walk walk = {visit, context, ""};
    option_each(options_table(), walk_option, &walk);
}

/* --- finding one --- */

struct search {
    const char *rest; /* of the name that is wanted, inside the object that it is in */
    enum infer_kind kind;
    const char *path; /* of that object */
    struct infer_name *found;
    bool there;
};

static bool is_of_kind(const struct option *o, enum infer_kind kind)
{
    return kind == INFER_PARAMETER ? is_parameter(o) : is_input(o);
}

static void take(struct search *search, const struct option *o)
{
    struct infer_name n = {.option = o};
    snprintf(n.path, sizeof n.path, "%s%s", search->path, o->name);
    if (is_of_text(n.path))
        return;
    name_as(&n, search->kind);
    *search->found = n;
    search->there = true;
}

static void search_option(void *context, const struct option *o)
{
    struct search *search = context;
    size_t length = strlen(o->name);
    bool begins = strncmp(search->rest, o->name, length) == 0;
    const char *end = search->kind == INFER_INPUT && o->kind == OPTION_SLOPES ? SLOPES : "";
    bool mask = !search->path[0] && strcmp(o->name, "mask") == 0;
    if (begins && strcmp(search->rest + length, end) == 0 && is_of_kind(o, search->kind))
        take(search, o);
    if (!is_object(o) || (!mask && (!begins || search->rest[length] != '_')))
        return;
    char path[INFER_NAME_MAX];
    snprintf(path, sizeof path, "%s%s.", search->path, o->name);
    struct search inner = *search;
    inner.rest += mask ? 0 : length + 1;
    inner.path = path;
    option_each(o->inner, search_option, &inner);
    search->there |= inner.there;
}

/* What a mistyped name is near to. The suggestion keeps the pointer that it was given, so the name that it takes is
 * copied at once. */
struct nearness {
    struct suggestion suggestion;
    enum infer_kind kind;
    char *near;
};

static void consider(struct suggestion *suggestion, const char *name, char near[INFER_NAME_MAX])
{
    const char *before = suggestion->best;
    suggest_consider(suggestion, name);
    if (suggestion->best == before)
        return;
    snprintf(near, INFER_NAME_MAX, "%s", name);
    suggestion->best = near;
}

static void consider_name(void *context, const struct infer_name *n)
{
    struct nearness *nearness = context;
    if (n->kind == nearness->kind)
        consider(&nearness->suggestion, n->name, nearness->near);
}

bool infer_names_find(const char *name, enum infer_kind kind, struct infer_name *found, char suggestion[INFER_NAME_MAX])
{
    struct search search = {.rest = name, .kind = kind, .path = "", .found = found};
    struct nearness nearness = {.suggestion = {.wanted = name}, .kind = kind, .near = suggestion};
    suggestion[0] = '\0';
    option_each(options_table(), search_option, &search);
    if (!search.there)
        infer_names_each(consider_name, &nearness);
    return search.there;
}

/* --- results --- */

static bool is_single(enum result_id id)
{
    return part_kind(result_row(id)->part) == PART_ONE;
}

/* steps.weights are the weights. */
static bool is_named_alone(const char *name)
{
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (is_single((enum result_id)r) && strcmp(result_row((enum result_id)r)->name, name) == 0)
            return true;
    return false;
}

const char *infer_names_output(enum result_id id, char name[INFER_NAME_MAX])
{
    char whole[RESULT_NAME_MAX];
    const char *path = result_name(id, whole);
    if (result_row(id)->document)
        return NULL;
    snprintf(name, INFER_NAME_MAX, "%s", strncmp(path, "steps.", 6) == 0 ? path + 6 : path);
    for (char *c = name; *c; c++)
        *c = (char)(*c == '.' ? '_' : *c);
    return !is_single(id) && is_named_alone(name) ? NULL : name;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(end);
    size_t all = strlen(text);
    return all >= length && strcmp(text + all - length, end) == 0;
}

enum result_id infer_names_find_output(const char *wanted, char suggestion[INFER_NAME_MAX])
{
    struct suggestion near = {.wanted = wanted};
    char room[INFER_NAME_MAX];
    const char *name;
    suggestion[0] = '\0';
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if (ends_with(wanted, result_row((enum result_id)r)->name) &&
            (name = infer_names_output((enum result_id)r, room)) != NULL && strcmp(name, wanted) == 0)
            return (enum result_id)r;
    for (size_t r = 0; r < RESULT_COUNT; r++)
        if ((name = infer_names_output((enum result_id)r, room)) != NULL)
            consider(&near, name, suggestion);
    return RESULT_COUNT;
}

/* --- types of numbers --- */

static const struct {
    const char *datatype;
    enum dtype dtype;
} datatypes[] = {
    {"FP32", DTYPE_FLOAT32}, {"FP64", DTYPE_FLOAT64}, {"FP16", DTYPE_FLOAT16}, {"BF16", DTYPE_BFLOAT16},
    {"BOOL", DTYPE_BOOL},    {"INT64", DTYPE_INT64},  {"INT16", DTYPE_INT16},
};

const char *infer_names_datatype(enum dtype dtype)
{
    for (size_t x = 0; x < sizeof datatypes / sizeof *datatypes; x++)
        if (datatypes[x].dtype == dtype)
            return datatypes[x].datatype;
    return NULL;
}

bool infer_names_find_datatype(const char *datatype, enum dtype *dtype)
{
    for (size_t x = 0; x < sizeof datatypes / sizeof *datatypes; x++)
        if (strcmp(datatypes[x].datatype, datatype) == 0) {
            *dtype = datatypes[x].dtype;
            return true;
        }
    return false;
}
