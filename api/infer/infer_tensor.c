/* Datatypes, shapes, counts. */
#include "api/infer/infer_tensor.h"

#include "api/raw/raw_request.h"
#include "api/request/json_path.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool refuse(const struct infer_tensor *input, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse(const struct infer_tensor *input, const char *format, ...)
{
    char why[300];
    va_list values;
    va_start(values, format);
    vsnprintf(why, sizeof why, format, values);
    va_end(values);
    return error_set(input->err, ERROR_INVALID, "", "Input \"%s\" %s", input->name.name, why);
}

/* --- what it says of itself --- */

static const char *list_datatypes(const struct option *o)
{
    switch (o->kind) {
    case OPTION_ALLOW:
        return "BOOL";
    case OPTION_INTEGERS:
    case OPTION_OFFSETS:
    case OPTION_POSITIONS:
        return "INT64";
    case OPTION_REALS:
    case OPTION_SLOPES:
        return "FP32, FP64";
    default:
        return "FP32, FP64, FP16, BF16";
    }
}

/* Whether one of the words of a list is `word`. */
static bool has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    const char *at = length > 0 ? strstr(list, word) : NULL;
    return at && (at[length] == ',' || at[length] == '\0');
}

static bool read_datatype(struct infer_tensor *input, const char *datatype)
{
    const char *taken = list_datatypes(input->name.option);
    char shown[JSON_PATH_SHOWN];
    return (has_word(taken, datatype) && infer_names_find_datatype(datatype, &input->t.dtype)) ||
           refuse(input, "is of datatype \"%s\"; it takes %s.", json_path_show(datatype, shown), taken);
}

static bool read_shape(struct infer_tensor *input, const json_t *shape)
{
    const struct matrix *m = document_matrix(input->document, shape);
    size_t sizes[TENSOR_RANK_MAX];
    if (!m || m->fault != MATRIX_GOOD || m->rank != 1 || m->has_booleans || m->has_hidden)
        return refuse(input, "needs \"shape\", a list of sizes such as [4,8].");
    if (m->count > TENSOR_RANK_MAX)
        return refuse(input, "has a shape of %zu sizes; %d are the most.", m->count, TENSOR_RANK_MAX);
    for (size_t axis = 0; axis < m->count; axis++) {
        double size = m->values[axis];
        if (!(size >= 1) || size != floor(size) || size >= 0x1p53)
            return refuse(input, "has %.17g as size %zu of its shape; sizes are integers of at least 1.", size, axis);
        sizes[axis] = (size_t)size;
    }
    input->t = tensor_dense(input->t.dtype, m->count, sizes, NULL);
    return raw_request_bytes(input->t.dtype, m->count, sizes, &input->bytes) ||
           error_set(input->err, ERROR_TOO_LARGE, "", "The shape of input \"%s\" has more numbers than can be counted.",
                     input->name.name);
}

static bool check_size(struct infer_tensor *input, const json_t *size)
{
    char shape[128];
    double given = json_number_value(size);
    if (!json_is_number(size) || !(given >= 0) || given != floor(given))
        return refuse(input, "has a binary_data_size that is no number of bytes.");
    return given == (double)input->bytes ||
           refuse(input, "of shape %s and datatype %s takes %zu bytes; its binary_data_size is %.0f.",
                  tensor_shape_text(input->t, shape, sizeof shape), infer_names_datatype(input->t.dtype), input->bytes,
                  given);
}

bool infer_tensor_describe(struct infer_tensor *input, const char *datatype, const json_t *shape, const json_t *size,
                           const json_t *data)
{
    if (!read_datatype(input, datatype) || !read_shape(input, shape))
        return false;
    input->binary = size != NULL;
    if (size && data)
        return refuse(input, "has both data and a binary_data_size.");
    if (!size && !data)
        return refuse(input, "needs data, or parameters.binary_data_size and its bytes behind the JSON.");
    if (size)
        return check_size(input, size);
    bool half = input->t.dtype == DTYPE_FLOAT16 || input->t.dtype == DTYPE_BFLOAT16;
    return !half || refuse(input, "is of %s, which has no form in JSON: send it as binary, or as FP32.",
                           infer_names_datatype(input->t.dtype));
}

/* --- data as JSON --- */

static bool check_count(const struct infer_tensor *input, size_t count)
{
    char shape[128];
    size_t wanted = tensor_count(input->t);
    return count == wanted || refuse(input, "has %zu numbers in data; its shape %s takes %zu.", count,
                                     tensor_shape_text(input->t, shape, sizeof shape), wanted);
}

static bool is_hidden(const json_t *value)
{
    const char *text = json_string_value(value);
    return json_is_null(value) || (text && strcmp(text, "-Infinity") == 0);
}

/* A flat list that begins with "-Infinity" is none of numbers to the document. */
static json_t *read_hiding(struct infer_tensor *input, const json_t *list)
{
    size_t index;
    json_t *entry;
    double *values = NULL;
    if (check_count(input, json_array_size(list)))
        values = arena_calloc(input->arena, json_array_size(list), sizeof *values, input->err);
    if (!values)
        return NULL;
    json_array_foreach((json_t *)list, index, entry)
    {
        values[index] = is_hidden(entry) ? -HUGE_VAL : json_number_value(entry);
        if (!is_hidden(entry) && !json_is_number(entry)) {
            refuse(input, "has an entry %zu in data that is neither a number nor \"-Infinity\".", index);
            return NULL;
        }
    }
    struct tensor t = tensor_dense(DTYPE_FLOAT64, input->t.rank, input->t.shape, values);
    return document_add_tensor(input->document, t, input->arena, input->err);
}

json_t *infer_tensor_data(struct infer_tensor *input, const json_t *data)
{
    struct matrix *m = document_matrix(input->document, data);
    if (!m && input->name.option->kind == OPTION_BIAS && is_hidden(json_array_get(data, 0)))
        return read_hiding(input, data);
    if (!m || m->fault != MATRIX_GOOD) {
        refuse(input, "needs data as a list of %s, flat or nested in rows of one length.",
               input->t.dtype == DTYPE_BOOL ? "booleans" : "numbers");
        return NULL;
    }
    if (!check_count(input, m->count))
        return NULL;
    m->rank = input->t.rank;
    memcpy(m->shape, input->t.shape, sizeof m->shape);
    return json_incref((json_t *)data);
}
