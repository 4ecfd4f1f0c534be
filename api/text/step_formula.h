/* What a step is, as a formula in one line: "scaled = scores * 0.5". */
#ifndef API_TEXT_STEP_FORMULA_H
#define API_TEXT_STEP_FORMULA_H

#include "api/numbers/buffer.h"
#include "core/attention.h"

/* Appends the line, without its end. */
void step_formula_write(struct buffer *out, const struct attention *a, enum quantity quantity);

/* The step whose numbers enter the masks: "biased", "capped" or "scaled". */
enum quantity step_formula_before_mask(const struct attention *a);

/* The members of the mask that can hide a key, "causal, window"; empty when none can. */
void step_formula_mask(struct buffer *out, const struct attention *a);

#endif
