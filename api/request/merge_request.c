/* Merging partial results. */
#include "api/request/merge_request.h"

#include "api/writing/array.h"

#include <math.h>
#include <stddef.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define AT(field) .offset = offsetof(struct merge_request, field)

/* clang-format off */

const struct option_table *merge_request_table(void)
{
    static const char *const dtypes[] = {"float64", "float32", NULL};
    static const char *const nonfinites[] = {"null", "string", NULL};
    static const char *const encodings[] = {"json", "base64", NULL};
    static const struct option part[] = {
        {"output", OPTION_TENSOR, "", .required = true, .offset = offsetof(struct merge_part, output), .shape = "as returned", .meaning = "the result over some of the keys (before any w_o)", .example = "\"parts\":[{\"output\":[[1,2]],\"log_sum_exp\":[0.5]}]"},
        {"log_sum_exp", OPTION_BIAS, "", .required = true, .offset = offsetof(struct merge_part, log_sum_exp), .shape = "as returned", .meaning = "per query; null or \"-Infinity\" where the part has no visible key", .example = "\"parts\":[{\"output\":[[1,2]],\"log_sum_exp\":[0.5]}]"},
    };
    static const struct option_table part_table = {"MergePart", part, COUNT(part), NULL, NULL};
    static const struct option options[] = {
        {"dtype", OPTION_CHOICE, "\"float64\"", .choices = dtypes, AT(dtype), .meaning = "of the numbers read and printed; the arithmetic is float64", .example = "\"dtype\":\"float32\""},
        {"parts", OPTION_OBJECTS, "", .required = true, AT(parts), .inner = &part_table, .size = sizeof(struct merge_part), .meaning = "what /v1/attention returned for each range of keys; sinks in one of them at most", .example = "\"parts\":[{\"output\":[[1,2]],\"log_sum_exp\":[0.5]},{\"output\":[[3,4]],\"log_sum_exp\":[0]}]"},
        {"decimals", OPTION_INTEGER, "", .minimum = 0, .maximum = 17, AT(style.decimals), .present = offsetof(struct merge_request, style.rounded), .meaning = "places to which printed numbers are rounded", .example = "\"decimals\":3"},
        {"nonfinite", OPTION_SWITCH, "\"null\"", .choices = nonfinites, AT(style.infinity_text), .meaning = "how -infinity is printed: null, or \"-Infinity\"", .example = "\"nonfinite\":\"string\""},
        {"encoding", OPTION_SWITCH, "\"json\"", .choices = encodings, AT(style.base64), .meaning = "tensors of the reply as nested arrays or as packed objects", .example = "\"encoding\":\"base64\""},
        {"id", OPTION_STRING, "", .maximum = 128, AT(id), .meaning = "echoed", .example = "\"id\":\"seven\""},
    };
    static const struct option_table table = {"MergeRequest", options, COUNT(options), NULL, NULL};
    return &table;
}

/* clang-format on */

bool merge_request_check(struct merge_request *merge, const struct request_limits *limits, struct error *err)
{
    const struct merge_part *parts = merge->parts.items;
    if (merge->style.rounded && merge->style.base64)
        return error_set(err, ERROR_INVALID, "decimals",
                         "decimals means nothing here: encoding base64 prints no numbers.");
    if (!merge_check(parts, merge->parts.count, &merge->layout, err))
        return false;
    merge->output = parts[0].output;
    merge->log_sum_exp = parts[0].log_sum_exp;
    size_t numbers = tensor_count(merge->output) + tensor_count(merge->log_sum_exp);
    return numbers <= limits->reply_elements ||
           error_set(err, ERROR_TOO_LARGE, "",
                     "The reply would hold %zu numbers; the limit is %zu (--max-reply-elements).", numbers,
                     limits->reply_elements);
}

double merge_request_flops(const struct merge_request *merge)
{
    return 2.0 * (double)tensor_count(merge->output) * (double)merge->parts.count;
}

static bool make_room(struct tensor *t, struct arena *arena, struct error *err)
{
    t->data = arena_calloc(arena, tensor_count(*t), dtype_size(t->dtype), err);
    return t->data != NULL;
}

bool merge_request_run(struct merge_request *merge, struct arena *arena, struct error *err)
{
    if (!make_room(&merge->output, arena, err) || !make_room(&merge->log_sum_exp, arena, err))
        return false;
    double *share = arena_calloc(arena, merge->parts.count, sizeof *share, err);
    if (!share)
        return false;
    merge_run(merge->parts.items, merge->parts.count, &merge->layout, share, merge->output.data,
              merge->log_sum_exp.data);
    return true;
}

bool merge_request_reply(const struct merge_request *merge, struct buffer *out)
{
    struct writer w = {.out = out};
    writer_object_begin(&w);
    if (merge->id)
        writer_member_string(&w, "id", merge->id);
    writer_key(&w, "output");
    array_tensor(out, &merge->style, merge->output);
    w.comma = true;
    writer_key(&w, "log_sum_exp");
    array_tensor(out, &merge->style, merge->log_sum_exp);
    writer_object_end(&w);
    buffer_string(out, "\n");
    return !out->failed;
}
