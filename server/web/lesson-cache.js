// The cache at fewer bits: what is kept of keys and values, and what that does to scores, weights and output (`quantize`).
import { take } from "./chain.js";
import { makeSegments } from "./choices.js";
import { dress, el, fill, write } from "./dom.js";
import { makeAsker, makeFigure } from "./figure.js";
import { LESSONS } from "./lesson-words.js";
import { fixed } from "./number.js";
import { places, signed } from "./picture.js";
import { share } from "./colour.js";
import { WORDS, say } from "./words.js";

/** The bits that each method has. @type {Record<string, [number, number]>} */
const METHODS = { affine: [1, 8], symmetric: [2, 8], turboquant: [1, 4] };

/** @param {Tools} tools @returns {Lesson} */
export function makeLesson({ api, store }) {
  const words = LESSONS.cache, select = (/** @type {number} */ i, /** @type {number} */ j) => store.set({ query: i, key: j });
  let method = "affine", bits = 2;
  const kinds = makeSegments(words.method, Object.keys(METHODS).map((name) => [name, words.methods[/** @type {"affine"} */ (name)]]), (name) => { method = name; settle(); });
  const slider = el("input", { type: "range", min: 1, max: 8, value: bits, "aria-label": words.bits, oninput: () => { bits = Number(slider.value); settle(); } }), shown = el("span", { class: "num" });
  const exact = makeFigure(words.exact), kept = makeFigure(words.kept), right = makeFigure(words.weights, { onSelect: select, onAct: select }), apart = makeFigure(words.apart, { onSelect: select, onAct: select });
  const output = makeFigure(words.output), sentence = el("p", { class: "say" }), refusal = el("p", { class: "refusal", role: "status" }), facts = el("dl", { class: "facts num" });
  const node = el("div", { class: "stage lesson" }, el("div", { class: "row" }, kinds.node, el("label", { class: "rate" }, words.bits, slider, shown)), refusal,
    sentence, el("div", { class: "flow" }, right.node, apart.node), el("div", { class: "flow" }, exact.node, kept.node), el("div", { class: "flow" }, output.node, facts));
  /** @type {Sight | null} */
  let sight = null;
  /** @type {any} */
  let reply = null;
  const asker = makeAsker(api, (answer) => { write(refusal, answer ? (answer.problem?.detail ?? "") : WORDS.lens.away); reply = answer?.json ?? null; if (sight) draw(sight); });

  function settle() {
    const [least, most] = METHODS[method];
    bits = Math.min(most, Math.max(least, bits));
    if (sight) ask(sight);
  }

  /** @param {Sight} now */
  function ask({ body, model }) {
    const [least, most] = METHODS[method];
    kinds.press(method);
    dress(slider, { min: least, max: most });
    slider.value = String(bits);
    write(shown, String(bits));
    if (model.waiting || model.problem) return;
    const side = { method, bits };
    asker.ask({ ...body, quantize: { k: side, v: side }, include: ["output", "weights", "exact.weights", "exact.output"] });
  }

  /** @param {Sight} now */
  function draw({ state, chain, slice }) {
    if (!reply?.quantization) return;
    const { batch, head, query: i, key: j } = state, { query: rows, key: cols } = chain.labels, { axes, quantization, error } = reply;
    const group = chain.shape.heads / chain.shape.kvHeads, keys = take(quantization.k.dequantized, axes.quantization.k.dequantized, batch, Math.floor(head / group));
    const table = (/** @type {number[][]} */ values, /** @type {string[]} */ names, /** @type {string} */ letter, /** @type {number | undefined} */ top) => ({ rows: names, cols: places(letter, values[0].length), rowAxis: "key", colAxis: "feature", ...signed(values, state, top) });
    const top = Math.max(1e-9, ...slice.k.flat().map(Math.abs));
    exact.update(table(slice.k, cols, "k", top), { i: j, j: 0 });
    kept.update(table(keys, cols, "k", top), { i: j, j: 0 });
    const weights = take(reply.weights, axes.weights, batch, head), before = take(reply.exact.weights, axes.exact.weights, batch, head);
    const pairs = { rows, cols, rowAxis: "query", colAxis: "key" }, hatched = slice.allowed.map((row) => row.map((x) => !x));
    right.update({ ...pairs, ...signed(weights, state, 1), paint: (x) => share(x), hatched }, { i, j });
    const moved = weights.map((/** @type {number[]} */ row, /** @type {number} */ a) => row.map((x, b) => x - before[a][b]));
    apart.update({ ...pairs, ...signed(moved, state, 0.2), hatched }, { i, j });
    const far = take(reply.output, axes.output, batch, head), near = take(reply.exact.output, axes.exact.output, batch, head);
    output.update(table(far.map((/** @type {number[]} */ row, /** @type {number} */ a) => row.map((x, c) => x - near[a][c])), rows, "o", 0.5), { i, j: Math.min(state.feature, far[0].length - 1) });
    tell(quantization, error, weights[i][j], before[i][j], chain, i, j);
  }

  /** @param {any} quantization @param {any} error @param {number} now @param {number} before @param {Chain} chain @param {number} i @param {number} j */
  function tell(quantization, error, now, before, chain, i, j) {
    const bold = (/** @type {string} */ text) => el("b", {}, text);
    fill(sentence, ...say(words.told, { query: bold(chain.labels.query[i]), key: bold(chain.labels.key[j]), before: fixed(before), now: bold(fixed(now)), bits }));
    const rows = [[words.scores, fixed(error.scores.max, 4)], [words.shares, fixed(error.weights.max, 4)], [words.outputs, fixed(error.output.max, 4)], [words.flips, String(error.weights.argmax_changed)],
      [words.size, `${fixed(quantization.k.bits_per_number, 1)} / ${fixed(quantization.v.bits_per_number, 1)}`], [words.ratio, `${fixed(quantization.k.ratio, 2)} / ${fixed(quantization.v.ratio, 2)}`]];
    fill(facts, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  }

  return { node, update(now) { sight = now; ask(now); draw(now); } };
}
