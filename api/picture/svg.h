/* Text inside SVG. */
#ifndef API_PICTURE_SVG_H
#define API_PICTURE_SVG_H

#include "api/numbers/buffer.h"

/* Appends UTF-8 as the content of an element or attribute: what XML takes for markup is escaped, what it may not hold
 * becomes U+FFFD. */
void svg_text(struct buffer *out, const char *text);

/* The same of a formula or number, set as in print: minus signs, dots and crosses for products, "-inf" as a sign. */
void svg_formula(struct buffer *out, const char *text);

#endif
