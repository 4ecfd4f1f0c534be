// One sentence and one line of arithmetic for the cell in focus. Every equation is true as printed, or says that it is rounded.
import { el } from "./dom.js";
import { fixed, honest, short } from "./number.js";
import { soFar } from "./picture.js";
import { mixing, isLinear } from "./steps.js";
import { WORDS, say } from "./words.js";

/**
 * @typedef {string | Node} Piece
 * @typedef {Record<string, any>} Cell  as /v1/attention/explain returns it
 * @typedef {{cell: Cell, slice: Slice, chain: Chain, state: State, step: string, i: number, j: number, c: number}} Scene
 */

/** At most this many terms stand in a line; the others become dots. */
const TERMS = 6;

const strong = (/** @type {string} */ text) => el("b", {}, text);
const as = (/** @type {string} */ kind, /** @type {string} */ text) => el("span", { class: kind }, text);
const result = (/** @type {string} */ text) => el("b", { class: "result" }, text);

/** @param {string} text a factor that starts with a minus stands in brackets */
const factor = (text) => (text.startsWith("\u2212") ? `(${text})` : text);

/**
 * Terms with plus and minus between them, the middle left out where there are many.
 * @param {number[]} terms @param {number} decimals @returns {Piece[]}
 */
function sum(terms, decimals) {
  const texts = terms.map((x, at) => (at === 0 ? fixed(x, decimals) : x < 0 && fixed(x, decimals).startsWith("\u2212") ? ` \u2212 ${fixed(-x, decimals)}` : ` + ${fixed(x, decimals)}`));
  return texts.length > TERMS ? [...texts.slice(0, 3), " + \u2026", ...texts.slice(-1)] : texts;
}

/** @param {[string, string][]} pairs of factors @param {[string, string]} kinds @returns {Piece[]} */
function products(pairs, kinds) {
  const all = pairs.map(([a, b], at) => [at ? " + " : "", as(kinds[0], at ? factor(a) : a), " \u00d7 ", as(kinds[1], factor(b))]);
  return (all.length > TERMS ? [...all.slice(0, 3), [" + \u2026"], ...all.slice(-1)] : all).flat();
}

/** @param {number[]} xs */
const total = (xs) => xs.reduce((all, x) => all + x, 0);

/** The lines of arithmetic, by step. @type {Record<string, (scene: Scene) => Piece[]>} */
const LINES = {
  start: ({ slice, i, j }) => ["q = ", as("q", `[${slice.q[i].slice(0, 8).map(short).join("  ")}${slice.q[i].length > 8 ? " \u2026" : ""}]`), "   k = ",
    as("k", `[${slice.k[j].slice(0, 8).map(short).join("  ")}${slice.k[j].length > 8 ? " \u2026" : ""}]`)],
  scores: ({ cell }) => {
    const terms = cell.products.map((/** @type {any} */ p) => p.product), { decimals, sign } = honest([(r) => total(terms.map(r)), cell.score]);
    const factors = products(cell.products.map((/** @type {any} */ p) => [short(p.q), short(p.k)]), ["q", "k"]);
    return [...factors, ...(terms.length > 1 && terms.length <= 4 ? [" = ", ...sum(terms, decimals)] : []), ` ${sign} `, result(fixed(cell.score, decimals))];
  },
  scaled: ({ cell, slice, chain }) => {
    const d = slice.q[0].length, usual = Math.abs(chain.scale * Math.sqrt(d) - 1) < 1e-12;
    const { decimals, sign } = honest([(r) => (usual ? r(cell.score) / Math.sqrt(d) : r(cell.score) * r(chain.scale)), cell.scaled]);
    return [fixed(cell.score, decimals), usual ? ` \u00f7 \u221a${d} ${sign} ` : ` \u00d7 ${factor(fixed(chain.scale, decimals))} ${sign} `, result(fixed(cell.scaled, decimals))];
  },
  capped: ({ cell, state }) => {
    const c = state.request.softcap, { decimals, sign } = honest([(r) => c * Math.tanh(r(cell.scaled) / c), cell.capped]);
    return [`${short(c)} \u00d7 tanh( ${fixed(cell.scaled, decimals)} \u00f7 ${short(c)} ) ${sign} `, result(fixed(cell.capped, decimals))];
  },
  biased: ({ cell }) => {
    const from = cell.capped ?? cell.scaled;
    if (cell.biased === null || cell.bias === null) return [fixed(from), " + (\u2212\u221e) = ", result("\u2212\u221e")];
    const { decimals, sign } = honest([(r) => r(from) + r(cell.bias), cell.biased]);
    return [...sum([from, cell.bias], decimals), ` ${sign} `, result(fixed(cell.biased, decimals))];
  },
  masked: ({ cell }) => (cell.masked === null ? ["\u2212\u221e, and ", el("span", {}, "e", el("sup", {}, "\u2212\u221e")), " = ", result("0")] : [result(fixed(cell.masked))]),
  row_max: ({ cell, slice, i }) => {
    const seen = slice.steps.masked[i].filter((/** @type {number | null} */ x) => x !== null).map((/** @type {number} */ x) => fixed(x));
    return ["max( ", (seen.length > TERMS ? [...seen.slice(0, 4), "\u2026", ...seen.slice(-1)] : seen).join(", "), " ) = ", result(fixed(cell.row_max))];
  },
  shifted: ({ cell }) => {
    if (cell.masked === null) return ["\u2212\u221e stays ", result("\u2212\u221e")];
    const { decimals, sign } = honest([(r) => r(cell.masked) - r(cell.row_max), cell.shifted]);
    return [`${fixed(cell.masked, decimals)} \u2212 ${factor(fixed(cell.row_max, decimals))} ${sign} `, result(fixed(cell.shifted, decimals))];
  },
  exp: ({ cell }) => {
    if (cell.shifted === null) return [el("span", {}, "e", el("sup", {}, "\u2212\u221e")), " = ", result("0")];
    const { decimals, sign } = honest([(r) => Math.exp(r(cell.shifted)), cell.exp]);
    return [el("span", {}, "e", el("sup", {}, fixed(cell.shifted, decimals))), ` ${sign} `, result(fixed(cell.exp, decimals))];
  },
  row_sum: ({ cell, slice, i, state }) => {
    const terms = counted(slice, i, state), { decimals, sign } = honest([(r) => total(terms.map(r)), cell.row_sum]);
    return [...sum(terms, decimals), ` ${sign} `, result(fixed(cell.row_sum, decimals))];
  },
  weights: ({ cell, slice, i, state }) => {
    if (!cell.allowed || !cell.row_sum) return [result("0")];
    const terms = counted(slice, i, state), whole = /** @type {[(r: (x: number) => number) => number, number]} */ ([(r) => total(terms.map(r)), cell.row_sum]);
    const share = /** @type {typeof whole} */ ([(r) => r(cell.exp) / r(cell.row_sum), cell.weight]), both = honest(whole, share);
    const few = terms.length > 1 && terms.length <= TERMS && both.sign === "=", plain = few ? both : honest(share), d = plain.decimals;
    return [as("q", fixed(cell.exp, d)), " \u00f7 ", ...(few ? ["( ", ...sum(terms, d), " ) = ", as("q", fixed(cell.exp, d)), " \u00f7 "] : []), fixed(cell.row_sum, d), ` ${plain.sign} `, result(fixed(cell.weight, d))];
  },
  dropped: ({ slice, i, j, state }) => {
    const w = slice.weights[i][j], kept = slice.steps.dropped[i][j], rest = 1 - (state.request.dropout?.p ?? 0), { decimals, sign } = honest([(r) => r(w) / rest, kept]);
    return kept === 0 ? [fixed(w), " is dropped: ", result("0")] : [`${fixed(w, decimals)} \u00f7 ${short(rest)} ${sign} `, result(fixed(kept, decimals))];
  },
  mix: ({ slice, i, j, c }) => {
    const w = mixing(slice)[i][j], v = slice.v[j][c], now = soFar(slice, i, c)[j], before = j ? soFar(slice, i, c)[j - 1] : 0;
    if (w === 0) return ["0 \u00d7 ", as("k", factor(short(v))), " = ", result("0")];
    const { decimals: d, sign } = honest([(r) => r(w) * Number(v), w * v], [(r) => r(before) + r(w * v), now]);
    return [as("q", fixed(w, d)), " \u00d7 ", as("k", factor(short(v))), ` ${sign} `, result(fixed(w * v, d)), ...(j ? ["     ", ...sum([before, w * v], d), ` ${sign} `, result(fixed(now, d))] : [])];
  },
  output: (scene) => (scene.chain.result ? joinedLine(scene) : outputLine(scene)),
};

/** The exponentials that a row adds up, the sink's last. @param {Slice} slice @param {number} i @param {State} state @returns {number[]} */
function counted(slice, i, state) {
  const hides = slice.steps.masked[i].map((/** @type {any} */ x) => x === null);
  const seen = slice.steps.exp[i].filter((/** @type {number} */ _, /** @type {number} */ j) => !hides[j]);
  const sink = state.request.sinks?.[state.head];
  return sink === undefined ? seen : [...seen, Math.exp(sink - slice.steps.row_max[i])];
}

/** @param {Scene} scene @returns {Piece[]} */
function outputLine({ slice, i, c }) {
  const used = mixing(slice)[i].map((w, j) => [w, slice.v[j][c]]).filter(([w]) => w !== 0), value = slice.output[i][c];
  if (!used.length) return [result("0")];
  const { decimals, sign } = honest([(r) => total(used.map(([w, v]) => r(w) * v)), value]);
  return [...products(used.map(([w, v]) => [fixed(w, decimals), short(v)]), ["q", "k"]), ` ${sign} `, result(fixed(value, decimals))];
}

/** @param {Scene} scene @returns {Piece[]} */
function joinedLine({ chain, state, i, c }) {
  const merged = chain.slices[state.batch].flatMap((head) => head.output[i]), w = state.request.w_o, add = state.request.b_o?.[c];
  const value = chain.result?.[state.batch][i][c] ?? 0;
  if (!Array.isArray(w)) return [result(fixed(value))];
  const { decimals, sign } = honest([(r) => total(merged.map((x, t) => r(x) * w[t][c])) + (add ?? 0), value]);
  return [...products(merged.map((x, t) => [fixed(x, decimals), short(w[t][c])]), ["q", "k"]), ...(add ? [` + ${factor(short(add))}`] : []), ` ${sign} `, result(fixed(value, decimals))];
}

/** Which sentence fits. @param {Scene} scene @returns {string} */
function sentence({ cell, slice, step, i, chain }) {
  if (step === "output") return chain.result ? WORDS.say.joined : WORDS.say.output;
  if (["scores", "scaled", "capped", "biased", "start"].includes(step)) return WORDS.say[/** @type {"scores"} */ (step)];
  if (step === "weights" && isLinear(slice)) return WORDS.say.linear;
  if (!slice.allowed[i].includes(true)) return WORDS.say.empty;
  if (step === "row_sum" || step === "mix") return WORDS.say[step];
  if (step === "row_max") return slice.steps.masked[i].includes(cell.row_max) ? WORDS.say.row_max : WORDS.say.row_max_sink;
  if (!cell.allowed) return step === "masked" ? WORDS.say.hidden : WORDS.say.nothing;
  if (step === "shifted" && cell.shifted === 0) return WORDS.say.shifted_best;
  return WORDS.say[/** @type {"masked"} */ (step)];
}

/** @param {Cell} cell @returns {string} */
function why(cell) {
  const first = cell.hidden_by?.[0];
  return WORDS.why[/** @type {"causal"} */ (first)] ?? "";
}

/** @param {Scene} scene @returns {Piece[]} */
export function sentenceOf(scene) {
  const { cell, slice, chain, i, j, c, state } = scene, { labels } = chain;
  const list = (/** @type {number[]} */ row) => `[${row.slice(0, 6).map(short).join(", ")}${row.length > 6 ? ", \u2026" : ""}]`;
  const best = slice.steps.masked?.[i].indexOf(cell.row_max) ?? -1;
  return say(sentence(scene), {
    query: strong(labels.query[i]), key: strong(labels.key[j]), q: list(slice.q[i]), k: list(slice.k[j]), why: why(cell),
    score: fixed(cell.score), scaled: fixed(cell.scaled), capped: fixed(cell.capped), biased: fixed(cell.biased), masked: fixed(cell.masked), largest: fixed(cell.row_max),
    best: best >= 0 ? strong(labels.key[best]) : "", away: fixed(cell.shifted === null ? null : -cell.shifted), exp: fixed(cell.exp), sum: fixed(cell.row_sum),
    weight: fixed(mixing(slice)[i][j]), value: scene.step === "mix" ? list(slice.v[j]) : fixed((chain.result?.[state.batch] ?? slice.output)[i][c]),
    sofar: scene.step === "mix" ? fixed(soFar(slice, i, c)[j]) : "", part: fixed(mixing(slice)[i][j] * slice.v[j][Math.min(c, slice.v[j].length - 1)]), feature: String(c + 1),
  });
}

/** @param {Scene} scene @returns {Piece[]} */
export function lineOf(scene) {
  if (scene.step === "weights" && isLinear(scene.slice)) return LINES.scaled(scene);
  return LINES[scene.step]?.(scene) ?? [];
}
