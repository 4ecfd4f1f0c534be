/* Which matrices, in which order, where on the sheet. */
#include "api/picture/picture.h"

#include "api/layout/token_label.h"
#include "api/picture/panel.h"
#include "api/picture/svg.h"

#define MARGIN 28
#define BETWEEN 36       /* panels, pixels */
#define SHEET_WIDTH 1200 /* where lines of panels end, unless one panel is wider */

/* Of labels, titles and definitions: a panel's rows and columns are no more than its cells. */
#define LABEL_BYTES 512
#define SHEET_BYTES 16384
#define PANEL_BYTES 2048

/* --- what is drawn --- */

/* The order of the flow; parts that are not named here follow in the order of a reply. */
static const enum part flow[] = {PART_INPUTS, PART_MASK,        PART_STEPS, PART_WEIGHTS,
                                 PART_OUTPUT, PART_LOG_SUM_EXP, PART_STATS};
#define FLOW (sizeof flow / sizeof *flow)

static size_t place_of(enum part part)
{
    size_t x = 0;
    while (x < FLOW && flow[x] != part)
        x++;
    return x;
}

/* Weights that stand among the steps are not drawn twice. */
static bool is_drawn(const struct reply *r, const struct section *s)
{
    return grid_is_drawn(s) && (s->id != RESULT_WEIGHTS || !section_find(&r->sections, RESULT_STEPS_WEIGHTS));
}

static size_t count_cells(const struct reply *r)
{
    size_t cells = 0;
    for (size_t x = 1; x < r->sections.count; x++)
        if (is_drawn(r, &r->sections.at[x]))
            cells += r->sections.at[x].numbers;
    return cells;
}

bool picture_check(const struct reply *r, struct error *err)
{
    size_t cells = count_cells(r);
    if (cells == 0)
        return error_set(err, ERROR_INVALID, "include",
                         "There is no matrix among what is included, so nothing to draw.");
    return cells <= PICTURE_CELLS ||
           error_set(err, ERROR_INVALID, "include",
                     "The picture would have %zu cells; the limit is %d: include fewer steps, or ask for JSON.", cells,
                     PICTURE_CELLS);
}

/* The drawing, and once more beside its frame; both grow by doubling. */
double picture_room(const struct reply *r)
{
    double cells = (double)count_cells(r);
    double sections = (double)r->sections.count;
    return 4 * (SHEET_BYTES + sections * PANEL_BYTES + cells * (PANEL_CELL_BYTES + LABEL_BYTES));
}

/* --- the sheet --- */

struct sheet {
    struct buffer *out;
    size_t x, y, line; /* where the next panel goes; how tall its line is by now */
    size_t width;
};

static void end_line(struct sheet *sheet)
{
    if (sheet->line == 0)
        return;
    sheet->y += sheet->line + BETWEEN;
    sheet->x = MARGIN;
    sheet->line = 0;
}

static void place_panel(struct sheet *sheet, const struct grid *g, size_t panel)
{
    if (sheet->x + g->width + MARGIN > SHEET_WIDTH)
        end_line(sheet);
    panel_draw(sheet->out, g, panel, sheet->x, sheet->y);
    sheet->x += g->width + BETWEEN;
    if (sheet->width < sheet->x - BETWEEN + MARGIN)
        sheet->width = sheet->x - BETWEEN + MARGIN;
    if (sheet->line < g->height)
        sheet->line = g->height;
}

/* Heads of one step share lines of their own. */
static bool place_section(struct sheet *sheet, const struct reply *r, const struct section *s)
{
    struct grid g;
    bool good = grid_open(&g, r, s, sheet->out);
    if (good && g.panels > 1)
        end_line(sheet);
    for (size_t panel = 0; good && panel < g.panels; panel++)
        place_panel(sheet, &g, panel);
    if (good && g.panels > 1)
        end_line(sheet);
    grid_close(&g);
    return good;
}

static bool place_sections(struct sheet *sheet, const struct reply *r)
{
    bool good = true;
    for (size_t place = 0; place <= FLOW; place++)
        for (size_t x = 1; good && x < r->sections.count; x++) {
            const struct section *s = &r->sections.at[x];
            if (place_of(s->result->part) == place && is_drawn(r, s))
                good = place_section(sheet, r, s);
        }
    end_line(sheet);
    return good;
}

/* --- the document --- */

static void put_id(struct buffer *out, const struct reply *r)
{
    struct buffer id = buffer_new(BUFFER_SENTENCE);
    if (!r->options->id)
        return;
    token_label_append(&id, r->options->id);
    buffer_append(&id, "", 1);
    buffer_string(out, ", id ");
    svg_text(out, id.failed ? "" : id.data);
    out->failed |= id.failed;
    buffer_free(&id);
}

static void open_document(struct buffer *out, const struct reply *r, size_t width, size_t height)
{
    const struct attention *a = r->a;
    buffer_format(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\" "
                  "role=\"img\" font-family=\"Inter, system-ui, sans-serif\">\n"
                  "<title>Attention: %zu %s, %zu %s, d_k %zu, d_v %zu",
                  width, height, width, height, a->queries, a->queries == 1 ? "query" : "queries", a->keys,
                  a->keys == 1 ? "key" : "keys", a->d_k, a->d_v);
    put_id(out, r);
    buffer_string(out, "</title>\n");
    panel_define(out);
    buffer_format(out, "<rect width=\"%zu\" height=\"%zu\" fill=\"#fbfaf7\"/>\n", width, height);
}

bool picture_write(const struct reply *r, struct buffer *out)
{
    struct buffer drawn = buffer_new(buffer_room(out) / 2);
    struct sheet sheet = {.out = &drawn, .x = MARGIN, .y = MARGIN};
    bool good = place_sections(&sheet, r) && !drawn.failed;
    if (good) {
        open_document(out, r, sheet.width, sheet.y - BETWEEN + MARGIN);
        buffer_append(out, drawn.data, drawn.length);
        buffer_string(out, "</svg>\n");
    }
    out->failed |= !good;
    out->full |= drawn.full;
    buffer_free(&drawn);
    return good && !out->failed;
}
