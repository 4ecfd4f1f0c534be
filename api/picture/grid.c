/* Reading, naming, measuring. */
#include "api/picture/grid.h"

#include "api/reply/section_rows.h"
#include "api/text/step_formula.h"
#include "api/writing/array.h"

#include <math.h>
#include <stdio.h>

#define DECIMALS 3
#define NUMBERED_MAX 24 /* rows and columns whose cells have numbers in them */
#define TITLE_HEIGHT 46
#define LEGEND_HEIGHT 28
#define HEAD_WIDTH 300   /* at least, of panels side by side: those of one head stand below each other */
#define NUMBER_PIXELS 8  /* widths of a character: in a cell, */
#define LABEL_PIXELS 8   /* of a label, */
#define SMALL_PIXELS 6   /* of a small one, */
#define NAME_PIXELS 9    /* of the name, */
#define FORMULA_PIXELS 6 /* of the formula */

static size_t most_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

bool grid_is_drawn(const struct section *s)
{
    return s->result && s->source != SECTION_NONE && s->t.rank > 0 && s->numbers > 0;
}

/* --- shape --- */

static void find_shape(struct grid *g)
{
    const struct section *s = g->section;
    size_t rank = s->t.rank;
    enum axis last = s->axes[rank - 1];
    g->column = last == AXIS_QUERY && (rank == 1 || s->axes[rank - 2] == AXIS_HEAD || s->axes[rank - 2] == AXIS_BATCH);
    g->rows = g->column ? s->t.shape[rank - 1] : rank > 1 ? s->t.shape[rank - 2] : 1;
    g->columns = g->column ? 1 : s->t.shape[rank - 1];
    g->down = g->column ? last : rank > 1 ? s->axes[rank - 2] : AXIS_NONE;
    g->across = g->column ? AXIS_NONE : last;
    g->panels = tensor_count(s->t) / (g->rows * g->columns);
    g->small = g->rows > NUMBERED_MAX || g->columns > NUMBERED_MAX;
}

/* --- numbers --- */

static bool read_values(struct grid *g)
{
    const struct section *s = g->section;
    struct section_rows source = {.a = reply_attention(g->reply, s),
                                  .section = s,
                                  .owner = g->owner,
                                  .weights = reply_weights(g->reply),
                                  .back = &g->reply->back.core};
    size_t width = array_width(&s->t);
    bool good = true;
    for (size_t row = 0; good && row < array_rows(&s->t); row++) {
        const void *values = section_rows_row(&source, row);
        good = values != NULL;
        for (size_t c = 0; good && c < width; c++)
            g->values[row * width + c] = dtype_get(s->t.dtype, values, c);
    }
    section_rows_close(&source);
    return good;
}

/* Steps from the mask on: what is 0 there for a key out of sight is no result of arithmetic. */
static bool follows_mask(const struct grid *g)
{
    const struct section *s = g->section;
    enum quantity quantity = s->result->quantity;
    return quantity >= QUANTITY_MASKED && quantity < QUANTITY_COUNT && g->across == AXIS_KEY &&
           !attention_lacks(reply_attention(g->reply, s), QUANTITY_ALLOWED);
}

static void hide_row(struct grid *g, size_t row, unsigned char *visible)
{
    const struct attention *a = reply_attention(g->reply, g->section);
    size_t head = row / a->queries;
    struct mask_span span =
        mask_row(&a->mask, head / a->heads, head % a->heads, row % a->queries, 0, g->columns, visible);
    for (size_t c = 0; c < g->columns; c++) {
        bool seen = c >= span.begin && c < span.end && (!span.some || visible[c]);
        if (!seen && g->values[row * g->columns + c] == 0)
            g->hidden[row * g->columns + c] = 1;
    }
}

static void find_hidden(struct grid *g, unsigned char *visible)
{
    size_t count = g->panels * g->rows * g->columns;
    for (size_t x = 0; x < count; x++)
        g->hidden[x] = (unsigned char)!isfinite(g->values[x]);
    for (size_t row = 0; follows_mask(g) && row < g->panels * g->rows; row++)
        if (g->section->axes[g->section->t.rank - 2] == AXIS_QUERY)
            hide_row(g, row, visible);
}

static void choose_colours(struct grid *g)
{
    double least = 0;
    for (size_t x = 0; x < g->panels * g->rows * g->columns; x++) {
        least = g->hidden[x] ? least : fmin(least, g->values[x]);
        g->most = g->hidden[x] ? g->most : fmax(g->most, fabs(g->values[x]));
    }
    g->ramp = section_is_share(g->section) && least >= 0 ? RAMP_SHARE : RAMP_AROUND;
    if (g->ramp == RAMP_SHARE)
        g->most = fmax(g->most, 1);
}

/* --- names --- */

/* Bytes of the name that a title begins with: "scores = q . k", "present.k   (past and new)", "rotation of k". */
static size_t find_name_end(const char *title)
{
    static const char *const ends[] = {" = ", "   ", ": "};
    size_t end = strlen(title);
    for (size_t x = 0; x < sizeof ends / sizeof *ends; x++) {
        const char *found = strstr(title, ends[x]);
        if (found && (size_t)(found - title) < end)
            end = (size_t)(found - title);
    }
    return end;
}

static void cut_title(struct grid *g, const char *title)
{
    size_t name = find_name_end(title);
    snprintf(g->name, sizeof g->name, "%.*s", (int)name, title);
    snprintf(g->formula, sizeof g->formula, "%s", title + name + strspn(title + name, ": "));
}

static bool write_title(struct grid *g)
{
    const struct result *result = g->section->result;
    struct buffer title = buffer_new(BUFFER_SENTENCE);
    if (result->title)
        buffer_string(&title, result->title);
    else
        step_formula_write(&title, g->reply->a, result->quantity);
    buffer_append(&title, "", 1);
    bool good = !title.failed;
    if (good)
        cut_title(g, title.data);
    buffer_free(&title);
    return good;
}

static char *write_label(const struct grid *g, enum axis axis, size_t index, char out[TOKEN_LABEL_TEXT])
{
    const struct options *options = g->reply->options;
    if (axis == AXIS_QUERY)
        return token_label_query(options, index, out);
    if (axis == AXIS_KEY || axis == AXIS_NEW_KEY)
        return token_label_key(options, index + (axis == AXIS_NEW_KEY ? g->reply->a->past : 0), out);
    *out = '\0';
    if (axis != AXIS_NONE)
        snprintf(out, TOKEN_LABEL_TEXT, "%zu", index);
    return out;
}

char *grid_row_label(const struct grid *g, size_t row, char out[TOKEN_LABEL_TEXT])
{
    return write_label(g, g->down, row, out);
}

char *grid_column_label(const struct grid *g, size_t column, char out[TOKEN_LABEL_TEXT])
{
    return write_label(g, g->across, column, out);
}

char *grid_cell_text(const struct grid *g, size_t at, char out[DECIMAL_TEXT_SIZE])
{
    bool whole = g->section->t.dtype == DTYPE_BOOL || g->section->result->quantity == QUANTITY_ARGMAX_KEY ||
                 (g->hidden[at] && g->values[at] == 0);
    return decimal_text_print(out, g->values[at], whole ? 0 : g->decimals);
}

/* --- sizes --- */

static size_t widest_cell(const struct grid *g)
{
    char text[DECIMAL_TEXT_SIZE];
    size_t widest = 0;
    for (size_t x = 0; x < g->panels * g->rows * g->columns; x++)
        widest = most_of(widest, strlen(grid_cell_text(g, x, text)));
    return widest;
}

static size_t widest_label(const struct grid *g, enum axis axis, size_t count)
{
    char text[TOKEN_LABEL_TEXT];
    size_t widest = 0;
    for (size_t x = 0; x < count; x++)
        widest = most_of(widest, token_label_width(write_label(g, axis, x, text)));
    return widest;
}

static void measure_cells(struct grid *g)
{
    size_t above = widest_label(g, g->across, g->columns);
    size_t left = widest_label(g, g->down, g->rows);
    if (g->small) {
        g->cell_width = g->cell_height = 14;
        g->gap = 1;
        g->label_width = SMALL_PIXELS * left + 8;
        g->label_height = SMALL_PIXELS * above + 10;
        g->tilt = SMALL_PIXELS * above / 2;
        return;
    }
    g->cell_width = most_of(56, most_of(NUMBER_PIXELS * widest_cell(g) + 14, LABEL_PIXELS * above + 8));
    g->cell_height = 34;
    g->gap = 3;
    g->label_width = left > 0 ? LABEL_PIXELS * left + 12 : 0;
    g->label_height = 24;
}

static void measure(struct grid *g)
{
    measure_cells(g);
    size_t cells = g->label_width + g->columns * (g->cell_width + g->gap) + g->tilt;
    size_t title = most_of(NAME_PIXELS * strlen(g->name) + (g->panels > 1 ? 100 : 0),
                           FORMULA_PIXELS * token_label_width(g->formula));
    g->width = most_of(most_of(cells, title), g->panels > 1 ? HEAD_WIDTH : g->label_width + 150);
    g->height = TITLE_HEIGHT + g->label_height + g->rows * (g->cell_height + g->gap) + LEGEND_HEIGHT;
}

/* --- all of it --- */

bool grid_open(struct grid *g, const struct reply *reply, const struct section *section, struct buffer *owner)
{
    const struct style *style = &reply->options->style;
    *g = (struct grid){.reply = reply, .section = section, .owner = owner};
    g->decimals = style->rounded ? (int)style->decimals : DECIMALS;
    find_shape(g);
    size_t count = g->panels * g->rows * g->columns;
    size_t bytes = count * sizeof *g->values + count + g->columns;
    g->values = buffer_lend(owner, bytes);
    if (!g->values)
        return false;
    memset(g->values, 0, bytes);
    if (!read_values(g))
        return false;
    g->hidden = (unsigned char *)(g->values + count);
    find_hidden(g, g->hidden + count);
    choose_colours(g);
    bool good = write_title(g);
    measure(g);
    return good;
}

void grid_close(struct grid *g)
{
    buffer_take_back(g->owner, g->values);
    g->values = NULL;
}
