/* Pricing a request. */
#include "api/price.h"

#include "api/explain/explain_gradient.h"
#include "api/text/query_steps.h"
#include "api/writing/array.h"
#include "core/backward/backward_way.h"

#include <math.h>

#define TEXT_BESIDE 65536.0 /* bytes of a reply that are not numbers, usually, and of what is reserved ahead */

static double rows_of(const struct attention *a)
{
    return (double)a->batch * (double)a->heads * (double)a->queries;
}

static double keys_of(const struct attention *a, size_t keys)
{
    return (double)a->batch * (double)a->kv_heads * (double)keys;
}

/* A result beside the exact one, which is computed too. */
static bool is_rounded(const struct attention *a)
{
    return a->request->quantize.on || a->precision.on;
}

/* --- what enters the scores --- */

static double count_latent(const struct attention *a, bool shows_keys)
{
    double expanded = (double)a->batch * (double)a->keys * (double)a->heads * (double)(a->d_k + a->d_v);
    if (!a->request->latent.on)
        return 0;
    return latent_numbers(a) - (a->request->latent.absorbed && !shows_keys ? expanded : 0);
}

static double count_projected(const struct attention *a)
{
    const struct attention_request *r = a->request;
    double numbers = 0;
    if (r->x.data)
        numbers += rows_of(a) * (double)a->d_k + keys_of(a, a->keys - a->past) * (double)(a->d_k + a->d_v);
    if (r->rope.on)
        numbers += rows_of(a) * (double)a->d_k;
    if (r->rope.on || r->past_k.data)
        numbers += keys_of(a, a->keys) * (double)a->d_k;
    if (r->past_v.data)
        numbers += keys_of(a, a->keys) * (double)a->d_v;
    return numbers;
}

static double count_quantized(const struct attention *a)
{
    double widths = (double)a->d_k * (double)a->d_k + (double)a->d_v * (double)a->d_v;
    return a->request->quantize.on ? quantize_numbers(&a->quantized_k) + quantize_numbers(&a->quantized_v) + 4 * widths
                                   : 0;
}

static double price_operands(const struct attention *a, bool shows_keys)
{
    double numbers = a->request->latent.on ? count_latent(a, shows_keys) : count_projected(a);
    return (double)dtype_size(a->dtype) * (numbers + count_quantized(a));
}

/* Latent and quantised ones go when they have been used. */
static double price_lasting(const struct attention *a)
{
    return a->request->latent.on ? 0 : (double)dtype_size(a->dtype) * count_projected(a);
}

/* --- what is computed --- */

static double price_output(const struct attention *a)
{
    double returned = a->request->w_o.data ? (double)a->batch * (double)a->queries * (double)a->d_out : 0;
    return (double)dtype_size(a->dtype) * (rows_of(a) * (double)a->d_v + returned);
}

/* Quantities that are not computed again while the reply is written. */
static double price_quantities(const struct reply *r)
{
    double bytes = 0;
    for (size_t x = 1; x < r->sections.count; x++) {
        const struct section *s = &r->sections.at[x];
        bool own = s->result->quantity != QUANTITY_COUNT || s->id == RESULT_STEPS_HEAD_OUTPUTS;
        bool held = s->source == SECTION_VIEW && own && s->id != RESULT_OUTPUT;
        bytes += held ? (double)s->numbers * (double)dtype_size(s->t.dtype) : 0;
    }
    double whole = fmin((double)REPLY_WHOLE_MAX, (double)(r->sections.numbers + r->checked.numbers));
    return r->whole ? bytes + whole * sizeof(double) : bytes;
}

static double price_backward(const struct reply *r)
{
    const struct attention *a = r->a;
    if (!a->request->backward)
        return 0;
    double parts = (double)(backward_splits(a) - 1) * rows_of(a) * (double)a->d_k;
    double bias = reply_needs(r, RESULT_GRADIENTS_BIAS) ? (double)backward_bias_room(a) : 0;
    return (double)dtype_size(a->dtype) * (way_back_numbers(a, &r->sections) + parts) +
           2 * rows_of(a) * sizeof(double) + bias;
}

static double price_readout(const struct reply *r)
{
    const struct attention *a = r->a;
    double rows = (double)a->batch * (r->options->readout.all_rows ? (double)a->queries : 1);
    return rows * (double)r->options->readout_tokens.count * sizeof(struct readout_word);
}

/* Bytes that reading the rows of any section of the list takes at most. */
static double price_rows_of(const struct reply *r, const struct section_list *list)
{
    const struct backward back = {.a = r->a};
    double most = 0;
    for (size_t x = 1; x < list->count; x++) {
        const struct section_rows rows = {.a = r->a, .section = &list->at[x], .back = &back};
        most = fmax(most, (double)section_rows_room(&rows));
    }
    return most;
}

/* What is computed to be compared; gradients take scratch as large as they are. */
static double price_checked(const struct reply *r)
{
    double bytes = (double)r->options->expect.count * sizeof(struct result_check);
    for (size_t x = 1; x < r->checked.count; x++) {
        const struct section *s = &r->checked.at[x];
        bool held = s->source == SECTION_VIEW || s->result->document;
        bytes += held ? 2 * (double)s->numbers * sizeof(double) : 0;
    }
    return bytes + price_rows_of(r, &r->checked);
}

static double price_results(const struct reply *r)
{
    const struct attention *a = r->a;
    double twice = is_rounded(a) ? 2 : 1;
    return twice * price_output(a) + price_quantities(r) + price_backward(r) + price_readout(r) + price_checked(r);
}

static double price_scratch(const struct attention *a)
{
    double run = (double)attention_run_room(a);
    return is_rounded(a) ? run + fmax(run, (double)compare_room(a)) : run;
}

/* --- what is written --- */

double price_rows(const struct reply *r)
{
    return price_rows_of(r, &r->sections);
}

double price_numbers(const struct reply *r)
{
    return (double)r->sections.numbers * (double)array_number_room(&r->options->style, r->a->dtype);
}

static double price_text(const struct reply *r, struct price_order order)
{
    const struct attention *a = r->a;
    double told = order.tells_query ? (double)query_steps_room(a) + (double)query_steps_contributions_room(a) : 0;
    told += order.tells_query && a->request->backward ? (double)explain_gradient_room(a) : 0;
    double numbers = r->whole ? price_numbers(r) : 0;
    return order.in_one_piece || r->whole ? TEXT_BESIDE + order.drawn + numbers + fmax(told, price_rows(r)) : 0;
}

/* --- all of it --- */

struct price price_find(const struct reply *r, struct price_order order)
{
    return (struct price){.operands = price_operands(r->a, order.shows_keys),
                          .lasting = price_lasting(r->a),
                          .results = price_results(r),
                          .scratch = price_scratch(r->a),
                          .text = price_text(r, order)};
}

double price_sum(struct price price)
{
    return price.operands + price.results + price.scratch + price.text;
}

bool price_check(struct price price, size_t given, size_t limit, struct error *err)
{
    double sum = (double)given + price_sum(price);
    return sum <= (double)limit ||
           error_set(err, ERROR_TOO_LARGE, "",
                     "This request would take %.0f bytes of memory: %zu as it came, %.0f for queries, keys and values "
                     "made of it, %.0f for results, %.0f of scratch, %.0f for the text; the limit is %zu "
                     "(--request-memory).",
                     sum, given, price.operands, price.results, price.scratch, price.text, limit);
}
