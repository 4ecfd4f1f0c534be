/* Conformance vectors of the ONNX operators Attention and RotaryEmbedding, told as requests of this service.
 *
 * They stand in vectors/onnx of the folder named by TEST_VECTORS, or of ../shared: {"op", "attributes", "inputs",
 * "outputs"}, tensors flat. is_causal -> mask.causal; nonpad_kv_seqlen -> mask.key_lengths and query_offset (length - n
 * of each batch); attn_mask -> mask.allow or mask.bias, what it lacks of the keys hidden; rank 3 -> packed with heads;
 * past_key and past_value -> past; qk_matmul_output_mode 0 scaled, 1 capped (scaled without a softcap), 2 masked, 3
 * weights. */
#ifndef TESTS_ONNX_VECTOR_H
#define TESTS_ONNX_VECTOR_H

#include <jansson.h>

#define VECTORS_MAX 200

/* Sends a request to /v1/attention, by whatever way, and returns the reply (to be released); fails the test when
 * refused. */
typedef json_t *vector_ask(const json_t *request);

/* File names in order, their number in *count; prints one line and gives 0 when the folder is not there. */
const char *const *vector_find(int *count);

/* Holds all recorded outputs of a vector against what the service says, computed in `dtype`: at 1e-5 of each number, at
 * 1e-3 where it was recorded in float16. Fails the test where they differ. */
void vector_check(const char *file, const char *dtype, vector_ask *ask);

#endif
