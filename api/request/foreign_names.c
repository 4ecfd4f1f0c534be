/* One row a name. Sources: the documentation of PyTorch (scaled_dot_product_attention, MultiheadAttention,
 * flex_attention), Keras (MultiHeadAttention), JAX (jax.nn.dot_product_attention), Flax, ONNX (Attention, version 23),
 * transformers, FlashAttention and xFormers. */
#include "api/request/foreign_names.h"

#include <stddef.h>
#include <string.h>

#define MASK_BOTH \
    "\"mask\":{\"allow\":..} for booleans, where true = may attend, or \"mask\":{\"bias\":..} for numbers that are " \
    "added"
#define MASK_KEEPS \
    "\"mask\":{\"allow\":..}: booleans, true = may attend (where yours has 1 or true for tokens to keep, write true)"
#define MASK_HIDES \
    "\"mask\":{\"allow\":..}: booleans, true = may attend: the opposite of yours, where true hides; " \
    "\"mask\":{\"key_lengths\":[..]} if only the end is padding"
#define CAUSAL "\"mask\":\"causal\""
#define HEADS "\"heads\""
#define KV_HEADS "\"kv_heads\""
#define WINDOW "\"mask\":{\"window\":{\"left\":..,\"right\":..}}, both ends included, null = unlimited"
#define SOFTCAP "\"softcap\""
#define WEIGHTS "\"weights\" in the list \"include\""
#define BIAS "\"mask\":{\"bias\":..}, added to the scaled scores"
#define PAST "\"past\":{\"k\":..,\"v\":..}, as \"present\" in the list \"include\" returns it"
#define SCALE "\"scale\""
#define DROPOUT "\"dropout\":{\"p\":..,\"seed\":..}"

static const struct {
    const char *name, *here;
} rows[] = {
    {"query", "\"q\" (labels of queries are \"tokens\":{\"query\":..})"},
    {"queries", "\"q\""},
    {"key", "\"k\" (labels of keys are \"tokens\":{\"key\":..})"},
    {"keys", "\"k\""},
    {"value", "\"v\""},
    {"values", "\"v\""},
    {"query_states", "\"q\""},
    {"key_states", "\"k\""},
    {"value_states", "\"v\""},
    {"hidden_states", "\"x\""},
    {"encoder_hidden_states", "\"context\""},
    {"attn_mask", MASK_BOTH},
    {"attention_mask", MASK_KEEPS "; numbers that are added go into \"mask\":{\"bias\":..}"},
    {"src_mask", MASK_BOTH},
    {"memory_mask", MASK_BOTH},
    {"key_padding_mask", MASK_HIDES},
    {"src_key_padding_mask", MASK_HIDES},
    {"padding_mask", MASK_HIDES},
    {"key_mask", MASK_KEEPS},
    {"query_mask", MASK_KEEPS},
    {"value_mask", MASK_KEEPS},
    {"bool_mask", MASK_BOTH},
    {"block_mask", MASK_KEEPS},
    {"attn_bias", BIAS},
    {"scores_bias", BIAS},
    {"attention_bias", BIAS},
    {"position_bias", BIAS},
    {"relative_position_bias", BIAS},
    {"score_mod", "\"mask\":{\"bias\":..} or \"alibi\" in it, \"softcap\""},
    {"alibi_slopes", "\"mask\":{\"alibi\":[..]}, one slope per head, or true for the standard ones"},
    {"is_causal", CAUSAL},
    {"causal", CAUSAL},
    {"causal_mask", CAUSAL},
    {"use_causal_mask", CAUSAL},
    {"unidirectional", CAUSAL},
    {"num_heads", HEADS},
    {"n_heads", HEADS},
    {"n_head", HEADS},
    {"nhead", HEADS},
    {"num_attention_heads", HEADS},
    {"q_num_heads", HEADS},
    {"num_query_heads", HEADS},
    {"num_kv_heads", KV_HEADS},
    {"kv_num_heads", KV_HEADS},
    {"n_kv_heads", KV_HEADS},
    {"num_key_value_heads", KV_HEADS},
    {"enable_gqa", "nothing: fewer heads in k and v than in q (or \"kv_heads\") is grouped-query attention"},
    {"num_key_value_groups", "\"kv_heads\", which is heads divided by it"},
    {"need_weights", WEIGHTS},
    {"output_attentions", WEIGHTS},
    {"return_attention_scores", WEIGHTS},
    {"return_attn_probs", WEIGHTS},
    {"return_attention_weights", WEIGHTS},
    {"return_lse", "\"log_sum_exp\" in the list \"include\""},
    {"return_softmax_lse", "\"log_sum_exp\" in the list \"include\""},
    {"qk_matmul_output_mode",
     "\"steps.scaled\", \"steps.capped\", \"steps.masked\" or \"weights\" in the list \"include\""},
    {"average_attn_weights", "nothing: weights come head by head"},
    {"window", "\"mask\":{\"window\":{\"left\":1,\"right\":0}}"},
    {"sliding_window", WINDOW " (a window of w tokens is \"left\": w - 1, \"right\": 0)"},
    {"window_size", WINDOW},
    {"local_window_size", WINDOW},
    {"logits_soft_cap", SOFTCAP},
    {"attn_logit_softcapping", SOFTCAP},
    {"soft_cap", SOFTCAP},
    {"temperature",
     "\"scale\", which multiplies: 1 / (temperature * sqrt(d_k)); \"temperature\" of the words is in \"readout\""},
    {"softmax_scale", SCALE},
    {"sm_scale", SCALE},
    {"scaling", SCALE},
    {"scale_factor", SCALE},
    {"dropout_p", DROPOUT},
    {"dropout_rate", DROPOUT},
    {"attention_dropout", DROPOUT},
    {"dropout_seed", DROPOUT},
    {"kv_cache", PAST},
    {"past_key_values", PAST},
    {"past_key_value", PAST},
    {"past_key", "\"past\":{\"k\":..}"},
    {"past_value", "\"past\":{\"v\":..}"},
    {"layer_past", PAST},
    {"use_cache", "\"present\" in the list \"include\""},
    {"cache_seqlens", "\"mask\":{\"key_lengths\":[..]}"},
    {"seqused_k", "\"mask\":{\"key_lengths\":[..]}"},
    {"nonpad_kv_seqlen", "\"mask\":{\"key_lengths\":[..]}"},
    {"key_value_seq_lengths", "\"mask\":{\"key_lengths\":[..]}"},
    {"cu_seqlens_q", "\"mask\":{\"documents\":..}: an id for each token"},
    {"cu_seqlens_k", "\"mask\":{\"documents\":..}: an id for each token"},
    {"segment_ids", "\"mask\":{\"documents\":..}: an id for each token"},
    {"position_ids", "\"rope\":{\"query_positions\":[..],\"key_positions\":[..]}"},
    {"rotary", "\"rope\":{\"theta\":..}"},
    {"rope_theta", "\"rope\":{\"theta\":..}"},
    {"rotary_dim", "\"rope\":{\"dims\":..}"},
    {"rotary_embedding_dim", "\"rope\":{\"dims\":..}"},
    {"partial_rotary_factor", "\"rope\":{\"dims\":..}, which is the factor times d_k"},
    {"q_proj", "\"w_q\", the transpose of nn.Linear's weight"},
    {"k_proj", "\"w_k\", the transpose of nn.Linear's weight"},
    {"v_proj", "\"w_v\", the transpose of nn.Linear's weight"},
    {"o_proj", "\"w_o\", the transpose of nn.Linear's weight"},
    {"out_proj", "\"w_o\", the transpose of nn.Linear's weight"},
    {"in_proj_weight", "\"w_q\", \"w_k\", \"w_v\", each the transpose of its third"},
    {"cell", "\"cell\":{\"query\":0,\"key\":0} of POST /v1/attention/explain, or "
             "\"backward\":{\"cell\":{\"query\":0,\"feature\":0}}"},
    {"sink", "\"sinks\":[..], one per head"},
    {"s_aux", "\"sinks\":[..], one per head"},
    {"learnable_sink", "\"sinks\":[..], one per head"},
};

const char *foreign_names_find(const char *name)
{
    for (size_t x = 0; x < sizeof rows / sizeof *rows; x++)
        if (strcmp(rows[x].name, name) == 0)
            return rows[x].here;
    return NULL;
}
