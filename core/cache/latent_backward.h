/* The way back through latent attention, from the gradients of q, k and v to those of its steps and weights. */
#ifndef CORE_CACHE_LATENT_BACKWARD_H
#define CORE_CACHE_LATENT_BACKWARD_H

#include "core/backward/backward_way.h"

/* dk_C and dk_R = sum of the heads' are the two parts of dk; dc = dk_C W_uk^T + dv W_uv^T, dW_uk = c^T dk_C, dW_uv =
 * c^T dv; with norm rms, x the row, g its gain and r = sqrt(mean(x^2) + epsilon): dg = sum of dc x / r, dx = (g dc - x
 * (g dc . x) / (width r^2)) / r; dW_dkv = x^T dc, dW_kr = x^T rotated back dk_R; queries likewise. An absorbed
 * request has its k and v expanded for this. */
bool latent_backward(struct backward_way *way, struct error *err);

/* What it takes besides the results: numbers of the dtype that it makes on its way, 0 without `latent`; and
 * floating-point operations. */
double latent_backward_numbers(const struct attention *a);
double latent_backward_flops(const struct attention *a);

#endif
