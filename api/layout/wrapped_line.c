/* Pieces and line ends. */
#include "api/layout/wrapped_line.h"

#include "api/layout/text_table.h"

void wrapped_line_put(struct wrapped_line *line, const char *piece)
{
    size_t width = token_label_width(piece);
    if (line->column + width > TEXT_TABLE_LINE && line->column > line->indent) {
        buffer_string(line->out, "\n");
        text_table_indent(line->out, line->indent);
        line->column = line->indent;
    }
    buffer_string(line->out, piece);
    line->column += width;
}
