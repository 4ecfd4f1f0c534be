// Low precision: the same chain in the numbers of fast kernels, and what the rounding does to shares and output (`precision`).
import { take } from "./chain.js";
import { makeSegments } from "./choices.js";
import { share } from "./colour.js";
import { el, fill, write } from "./dom.js";
import { makeAsker, makeFigure } from "./figure.js";
import { LESSONS } from "./lesson-words.js";
import { fixed } from "./number.js";
import { places, signed } from "./picture.js";
import { WORDS, say } from "./words.js";

/** @param {Tools} tools @returns {Lesson} */
export function makeLesson({ api, store }) {
  const words = LESSONS.precision, look = { onSelect: (/** @type {number} */ i, /** @type {number} */ j) => store.set({ query: i, key: j }) };
  const listener = { ...look, onAct: look.onSelect };
  /** @type {keyof typeof words.kinds} */
  let kind = "fp8";
  const kinds = makeSegments(words.kind, Object.entries(words.kinds).map(([name, { tab }]) => [name, tab]), (name) => { kind = /** @type {"fp8"} */ (name); if (sight) ask(sight); });
  const weights = makeFigure(words.weights, listener), apart = makeFigure(words.apart, listener), output = makeFigure(words.output), moved = makeFigure(words.moved);
  const sentence = el("p", { class: "say" }), told = el("p", { class: "quiet" }), refusal = el("p", { class: "refusal", role: "status" }), facts = el("dl", { class: "facts num" });
  const node = el("div", { class: "stage lesson" }, el("div", { class: "row" }, kinds.node), refusal, sentence, told,
    el("div", { class: "flow" }, weights.node, apart.node), el("div", { class: "flow" }, output.node, moved.node), facts);
  /** @type {Sight | null} */
  let sight = null;
  /** @type {any} */
  let reply = null;
  const asker = makeAsker(api, (answer) => { write(refusal, answer ? (answer.problem?.detail ?? "") : WORDS.lens.away); reply = answer?.json ?? null; if (sight) draw(sight); });

  /** @param {Sight} now */
  function ask({ body, model }) {
    kinds.press(kind);
    if (!model.waiting && !model.problem) asker.ask({ ...body, precision: kind, include: ["output", "weights", "stats", "exact.weights", "exact.output"] });
  }

  /** @param {number[][]} a @param {number[][]} b */
  const minus = (a, b) => a.map((row, i) => row.map((x, j) => x - b[i][j]));

  /** @param {Sight} now */
  function draw({ state, chain, slice }) {
    if (!reply?.ulp) return;
    const { batch, head, query: i, key: j } = state, { query: rows, key: cols } = chain.labels, { axes, exact } = reply;
    const of = (/** @type {any} */ tensor, /** @type {string[]} */ at) => take(tensor, at, batch, head), now = of(reply.weights, axes.weights), before = of(exact.weights, axes.exact.weights);
    const pairs = { rows, cols, rowAxis: "query", colAxis: "key" }, hatched = slice.allowed.map((row) => row.map((x) => !x)), sums = now.map((/** @type {number[]} */ row) => row.reduce((sum, x) => sum + x, 0));
    weights.update({ ...pairs, ...signed(now, state, 1), paint: (x) => share(x), hatched, side: { label: WORDS.stage.sum, values: sums } }, { i, j }, words.sums);
    apart.update({ ...pairs, ...signed(minus(now, before), state, 0.05), hatched }, { i, j });
    const out = of(reply.output, axes.output), right = of(exact.output, axes.exact.output), features = { rows, cols: places("o", out[0].length), rowAxis: "query", colAxis: "feature" }, c = Math.min(state.feature, out[0].length - 1);
    output.update({ ...features, ...signed(out, state) }, { i, j: c });
    moved.update({ ...features, ...signed(minus(out, right), state, 0.05) }, { i, j: c });
    tell(now[i][j], before[i][j], rows[i], cols[j], sums[i]);
  }

  /** @param {number} now @param {number} before @param {string} query @param {string} key @param {number} sum */
  function tell(now, before, query, key, sum) {
    const bold = (/** @type {string} */ text) => el("b", {}, text), { error, ulp, stats } = reply, gap = (/** @type {number} */ x) => (x < 1e-4 ? x.toExponential(1).replace("-", "\u2212") : String(x));
    fill(sentence, ...say(words.told, { query: bold(query), key: bold(key), before: fixed(before, 4), now: bold(fixed(now, 4)), sum: fixed(sum, 4) }));
    write(told, words.kinds[kind].told);
    const rows = [[words.gaps, `${gap(ulp.inputs)} / ${gap(ulp.softmax)} / ${gap(ulp.weights)}`], [words.scores, fixed(error.scores.max, 4)], [words.shares, fixed(error.weights.max, 4)], [words.outputs, fixed(error.output.max, 4)],
      [words.lost, `${stats.precision.zeroed} / ${stats.precision.saturated}`]];
    fill(facts, ...rows.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  }

  return { node, update(now) { sight = now; ask(now); draw(now); } };
}
