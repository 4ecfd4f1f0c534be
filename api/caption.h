/* What a step is, as a formula in one line: "scaled = scores * 0.5". */
#ifndef API_CAPTION_H
#define API_CAPTION_H

#include "api/text.h"
#include "core/attention.h"

/* Appends the line, without its end. */
void caption_write(struct text *out, const struct attention *a, enum quantity quantity);

/* The step whose numbers enter the masks: "biased", "capped" or "scaled". */
enum quantity caption_before_mask(const struct attention *a);

/* The members of the mask that can hide a key, "causal, window"; empty when none can. */
void caption_mask(struct text *out, const struct attention *a);

#endif
