// The chain of attention, computed in this page: to check the service, and to go on without it.
import { operands, product } from "./operands.js";

/** @param {number[]} a @param {number[]} b */
export const dot = (a, b) => a.reduce((sum, x, t) => sum + x * b[t], 0);

/** @param {Holes} a @param {(x: number, i: number, j: number) => number | null} f @returns {any} */
const each = (a, f) => a.map((row, i) => row.map((x, j) => (x === null ? null : f(x, i, j))));

/** @param {(number | null)[]} row @param {number | null} sink */
function largest(row, sink) {
  const seen = row.filter((x) => x !== null);
  if (sink !== null) seen.push(sink);
  return seen.length ? Math.max(...seen) : null;
}

/** @param {Matrix} w @param {Matrix} v @param {boolean[][]} allowed @returns {Matrix} hidden values are never touched */
export function mix(w, v, allowed) {
  return w.map((row, i) => v[0].map((_, c) => row.reduce((sum, x, j) => (allowed[i][j] ? sum + x * v[j][c] : sum), 0)));
}

/** The steps before the softmax. @param {Head} head @param {Question} request @param {number} scale @returns {Steps} */
function before(head, request, scale) {
  /** @type {Steps} */
  const steps = { scores: head.q.map((q) => head.k.map((k) => dot(q, k))) };
  steps.scaled = each(steps.scores, (x) => x * scale);
  let last = steps.scaled;
  if (request.softcap) last = steps.capped = each(last, (x) => request.softcap * Math.tanh(x / request.softcap));
  if (head.bias || head.slope) {
    const extra = (/** @type {number} */ i, /** @type {number} */ j) => (head.bias ? head.bias[i][j] : 0);
    last = steps.biased = each(last, (x, i, j) => (extra(i, j) === null ? null : x + Number(extra(i, j)) - head.slope * head.away[i][j]));
  }
  const shown = (/** @type {number} */ x, /** @type {number} */ i, /** @type {number} */ j) => (head.allowed[i][j] ? x : request.variant === "mask_with_zero" ? 0 : null);
  steps.masked = request.variant === "mask_after_softmax" ? last : each(last, shown);
  return steps;
}

/** The softmax. @param {Steps} steps @param {Head} head @param {Question} request */
function soften(steps, head, request) {
  const late = request.variant === "mask_after_softmax", wrong = late || request.variant === "mask_with_zero";
  const empty = head.allowed.map((row) => !row.includes(true));
  steps.row_max = steps.masked.map((/** @type {(number | null)[]} */ row, /** @type {number} */ i) => (empty[i] && !wrong ? head.sink : largest(row, head.sink)));
  steps.shifted = each(steps.masked, (x, i) => (steps.row_max[i] === null ? null : x - steps.row_max[i]));
  steps.exp = steps.shifted.map((/** @type {(number | null)[]} */ row) => row.map((x) => (x === null ? 0 : Math.exp(x))));
  steps.row_sum = steps.exp.map((/** @type {number[]} */ row, /** @type {number} */ i) =>
    row.reduce((sum, x) => sum + x, 0) + (head.sink === null ? 0 : Math.exp(head.sink - steps.row_max[i])));
  steps.weights = steps.exp.map((/** @type {number[]} */ row, /** @type {number} */ i) =>
    row.map((x, j) => (empty[i] || (late && !head.allowed[i][j]) ? 0 : x / steps.row_sum[i])));
}

/** @param {Head} head @param {Question} request @param {number} scale @returns {Slice} */
function run(head, request, scale) {
  if (request.variant === "linear") return linear(head, scale);
  const steps = before(head, request, scale);
  soften(steps, head, request);
  const touched = request.variant === "mask_with_zero" ? head.allowed.map((row) => row.map(() => row.includes(true))) : head.allowed;
  return { ...head, steps, weights: steps.weights, output: mix(steps.weights, head.v, touched) };
}

/** @param {Head} head @param {number} scale @returns {Slice} */
function linear(head, scale) {
  const scores = head.q.map((q) => head.k.map((k) => dot(q, k)));
  const weights = each(scores, (x) => x * scale);
  return { ...head, steps: { scores, scaled: weights, weights }, weights, output: mix(weights, head.v, head.allowed) };
}

/** Heads side by side, and W_O where there is one. @param {Slice[]} heads @param {Question} request @returns {Matrix} */
function joined(heads, request) {
  const merged = heads[0].output.map((_, i) => heads.flatMap((head) => head.output[i]));
  const out = product(merged, request.w_o);
  return request.b_o ? out.map((row) => row.map((x, c) => x + request.b_o[c])) : out;
}

/** @param {any} tokens @param {number} n @param {number} m @returns {{query: string[], key: string[]}} */
export function labelsOf(tokens, n, m) {
  const name = (/** @type {any} */ given, /** @type {number} */ count, /** @type {string} */ letter) =>
    Array.from({ length: count }, (_, i) => (Array.isArray(given) && typeof given[i] === "string" ? given[i] : `${letter}${i}`));
  const query = Array.isArray(tokens) ? tokens : tokens?.query, key = Array.isArray(tokens) ? tokens : tokens?.key;
  return { query: name(query, n, "q"), key: name(key, m, "k") };
}

/**
 * @param {Question} request
 * @returns {Chain}
 * @throws {import("./operands.js").Unable} for what only the service computes
 */
export function compute(request) {
  const plain = operands(request);
  const { batch, heads, kvHeads, n, m, dk, dv, scale } = plain;
  const slices = plain.all.map((ofBatch) => ofBatch.map((head) => run(head, request, scale)));
  return {
    shape: { batch, heads, kvHeads, queries: n, keys: m, dk, dv }, scale, labels: labelsOf(request.tokens, n, m), slices,
    result: request.w_o ? slices.map((ofBatch) => joined(ofBatch, request)) : null,
  };
}

/**
 * The largest difference between two chains, over every number of every step.
 * @param {Chain} one @param {Chain} two @returns {number}
 */
export function difference(one, two) {
  let most = 0;
  const compare = (/** @type {any} */ a, /** @type {any} */ b) => {
    if (Array.isArray(a) && Array.isArray(b)) a.forEach((x, i) => compare(x, b[i]));
    else if (a !== b && !(Number.isNaN(a) && Number.isNaN(b))) most = Math.max(most, typeof a === "number" && typeof b === "number" ? Math.abs(a - b) : Infinity);
  };
  one.slices.forEach((heads, b) => heads.forEach((slice, h) => {
    for (const name of Object.keys(slice.steps)) compare(slice.steps[name], two.slices[b][h].steps[name]);
    compare(slice.output, two.slices[b][h].output);
  }));
  compare(one.result, two.result);
  return most;
}
