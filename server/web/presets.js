// Examples of the page's own, beside those of the service: what is easiest to see when it can be changed by hand.
import { THE_CAT } from "./state.js";

/** @param {number} n @param {number} [size] */
const identity = (n, size = 1) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => (i === j ? size : 0)));

/** A fixed pattern of numbers between -1 and 1. @param {number} rows @param {number} cols @param {number} seed */
const waves = (rows, cols, seed) => Array.from({ length: rows }, (_, i) => Array.from({ length: cols }, (_, j) => Math.round(100 * Math.sin((i + 1) * (j + seed) * 1.7 + seed)) / 100));

/** The gallery's shelves, and what stands on each. */
export const SHELVES = Object.entries({
  "To begin with": "sat-down the-cat one-query lookup average cross-attention projections readout",
  "Sharp and flat": "sharp flat no-scale",
  "Who may look where": "one-query-hidden causal window empty-row sink",
  "Several heads": "eight multi-head grouped-query multi-query",
  "Where words stand": "permutation alibi rotary",
  "What a model keeps": "past cache-multi-head cache-grouped cache-multi-query cache-latent",
  "In fewer bits": "the-cat-bfloat the-cat-float-eight edge-of-float16 cache-eight-bits cache-four-bits cache-three-bits cache-two-bits keys-by-channel keys-by-token cache-turboquant cache-sketch",
  "How it learns": "value-or-key hidden-gradient collapsed copy-head",
  "Wrong ways and other ways": "mask-after-softmax wrong-mask-gradient linear tiles",
}).map(([title, names]) => ({ title, names: names.split(" ") }));

/** @type {(Example & {request: Question})[]} */
export const PRESETS = [
  { name: "sat-down", title: "The cat sat down", teaches: "Four words, each looking only back: the whole chain at a glance.", request: THE_CAT },
  { name: "lookup", title: "A dictionary", teaches: "When a query equals one key and no other, attention is a lookup: it returns that key's value.", step: "weights",
    request: { tokens: { query: ["red?", "green?", "blue?"], key: ["red", "green", "blue"] }, q: identity(3, 12), k: identity(3), v: [[1, 0, 0], [0, 1, 0], [0, 0, 1]] } },
  { name: "average", title: "An average", teaches: "When all keys are the same, every share is the same, and the output is the plain mean of the values.", step: "weights",
    request: { tokens: { query: ["any"], key: ["a", "b", "c", "d"] }, q: [[1, 2]], k: [[1, 1], [1, 1], [1, 1], [1, 1]], v: [[4], [8], [0], [12]] } },
  { name: "sharp", title: "Sharp", teaches: "Low temperature: the best key takes nearly everything. Move the slider and watch the row flatten.", temperature: 0.2, step: "weights", request: THE_CAT },
  { name: "flat", title: "Flat", teaches: "High temperature: all visible keys become alike, whatever they scored.", temperature: 8, step: "weights", request: THE_CAT },
  { name: "eight", title: "Eight heads of eight", teaches: "Eight words, eight heads: each head has its own idea of who matters.", step: "weights",
    request: { tokens: ["when", "the", "rain", "had", "stopped", "we", "went", "out"], heads: 8, q: waves(8, 64, 1), k: waves(8, 64, 2), v: waves(8, 16, 3), mask: "causal" } },
];
