/* One section of a reply as text: its title and a grid of the rows of one head. */
#ifndef API_PANEL_H
#define API_PANEL_H

#include "api/reply.h"
#include "api/story.h"

#define PANEL_INDENT 2
#define PANEL_ROWS 10 /* shown of a head; the rest is counted */

/* Where we are: a head of a reply. */
struct panel {
    const struct reply *reply;
    const struct options *options;
    const struct attention *a;
    struct text *out;
    struct story story;
    size_t b, h;
};

/* The formula or name of the section, in a line. */
void panel_title(const struct panel *panel, const struct section *section);

/* Title and grid of the part of a section that belongs to the head. All return false when there is no memory. */
bool panel_section(const struct panel *panel, const struct section *section);

/* Rows first, first + 1, .. of the section as the rows of a grid; `axis` ("query", "key") names them. */
bool panel_rows(const struct panel *panel, const struct section *section, size_t first, const char *axis, size_t count,
                size_t indent);

#endif
