// A reply of the service as the chain that the page draws: the same shape as its own arithmetic has.
import { labelsOf, mix } from "./arithmetic.js";

/**
 * One batch and one head of a tensor, by the names of its axes.
 * @param {any} tensor @param {string[]} axes @param {number} batch @param {number} head
 */
export function take(tensor, axes, batch, head) {
  let at = tensor;
  if (axes[0] === "batch") at = at[batch];
  return axes.includes("head") ? at[head] : at;
}

/** @param {any} reply @param {Shape} shape @param {number} b @param {number} h @returns {Slice} */
function sliceOf(reply, shape, b, h) {
  const { axes } = reply, group = shape.heads / shape.kvHeads;
  const input = (/** @type {"q" | "k" | "v"} */ name) => take(reply.inputs[name], axes.inputs[name], b, name === "q" ? h : Math.floor(h / group));
  const steps = Object.fromEntries(Object.entries(reply.steps ?? {}).map(([name, tensor]) => [name, take(tensor, axes.steps[name], b, h)]));
  const weights = take(reply.weights, axes.weights, b, h), v = input("v");
  const allowed = reply.mask ? take(reply.mask.allowed, axes.mask.allowed, b, h) : weights.map((/** @type {number[]} */ row) => row.map(() => true));
  return { q: input("q"), k: input("k"), v, allowed, steps: { ...steps, weights }, weights, output: outputOf(reply, shape, b, h) ?? mix(steps.dropped ?? weights, v, allowed) };
}

/** The output of one head where the reply has it: cut out of packed columns, or as it stands. @param {any} reply @param {Shape} shape @param {number} b @param {number} h */
function outputOf(reply, shape, b, h) {
  const all = take(reply.output, reply.axes.output, b, h);
  if (reply.axes.output.includes("head") || shape.heads === 1 && all[0].length === shape.dv) return all;
  return all[0].length === shape.heads * shape.dv ? all.map((/** @type {number[]} */ row) => row.slice(h * shape.dv, (h + 1) * shape.dv)) : null;
}

/**
 * @param {any} reply  of /v1/attention, with everything that asked() includes
 * @param {boolean} joined  the request has w_o
 * @returns {Chain}
 */
export function chainOf(reply, joined) {
  const { batch, heads, kv_heads: kvHeads, queries, keys, d_k: dk, d_v: dv } = reply.shape;
  const shape = { batch, heads, kvHeads, queries, keys, dk, dv };
  const all = (/** @type {number} */ count, /** @type {(i: number) => any} */ make) => Array.from({ length: count }, (_, i) => make(i));
  return {
    shape, scale: reply.scale, labels: labelsOf(reply.labels, queries, keys),
    slices: all(batch, (b) => all(heads, (h) => {
      const slice = sliceOf(reply, shape, b, h);
      return joined ? { ...slice, output: mix(slice.steps.dropped ?? slice.weights, slice.v, slice.allowed) } : slice;
    })),
    result: joined ? all(batch, (b) => take(reply.output, reply.axes.output, b, 0)) : null,
  };
}
