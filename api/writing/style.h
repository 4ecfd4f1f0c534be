/* How the numbers of a reply are written. */
#ifndef API_WRITING_STYLE_H
#define API_WRITING_STYLE_H

#include <stdbool.h>
#include <stdint.h>

struct style {
    bool rounded; /* to `decimals` places; otherwise the shortest text that reads back */
    int64_t decimals;
    bool infinity_text; /* -infinity is "-Infinity"; otherwise null */
    bool base64;        /* tensors are packed objects; otherwise nested arrays */
};

#endif
