// What pulls on one number of the output: the gradient, all the way back (`backward` of the service).
import { take } from "./chain.js";
import { dress, el, fill, write } from "./dom.js";
import { makeAsker, makeFigure } from "./figure.js";
import { fixed } from "./number.js";
import { places, signed } from "./picture.js";
import { LESSONS } from "./lesson-words.js";
import { WORDS, say } from "./words.js";

/** The gradients of the chain in the order in which they flow, and the full colour of each as a part of the softest row's. */
const FLOW = /** @type {const} */ (["weights", "masked", "scores"]);

/** A slope of this size has the full colour, whatever else there is: so a saturated row goes dark. */
const FULL = { weights: 1, masked: 0.25, scores: 0.25, q: 0.5, k: 0.5, v: 1 };

/** @param {Tools} tools @returns {Lesson} */
export function makeLesson({ api, store }) {
  const words = LESSONS.pull, sentence = el("p", { class: "say" }), line = el("p", { class: "line num" }), refusal = el("p", { class: "refusal", role: "status" });
  const output = makeFigure(words.output, { onSelect: (i, j) => store.set({ query: i, feature: j }), onAct: (i, j) => store.set({ query: i, feature: j }) });
  const flow = FLOW.map((name) => ({ name, figure: makeFigure(words[name], { onSelect: (i, j) => store.set({ query: i, key: j }), onAct: (i, j) => store.set({ query: i, key: j }) }) }));
  const sources = /** @type {const} */ (["q", "k", "v"]).map((name) => ({ name, figure: makeFigure(words[name]) }));
  const node = el("div", { class: "stage lesson" }, refusal, el("div", { class: "flow" }, output.node, ...flow.map(({ figure }) => figure.node)),
    el("div", { class: "flow" }, ...sources.map(({ figure }) => figure.node)), sentence, line);
  /** @type {any} the reply that the pictures show */
  let reply = null;
  /** @type {Sight | null} */
  let scene = null;
  const asker = makeAsker(api, (answer) => {
    write(refusal, answer ? (answer.problem?.detail ?? "") : WORDS.lens.away);
    reply = answer?.json ?? null;
    if (scene) draw(scene);
  });

  /** @param {Sight} now */
  function cellOf({ state, chain, model }) {
    const axes = model.answer?.json?.axes?.output ?? [], { heads, dv } = chain.shape, split = axes.includes("head");
    const feature = !split && !chain.result && heads > 1 ? state.head * dv + state.feature : state.feature;
    return { query: state.query, feature, ...(split ? { head: state.head } : {}), ...(axes.includes("batch") ? { batch: state.batch } : {}) };
  }

  /** @param {(number | null)[][]} values @param {number} full @param {string[]} rows @param {string[]} cols @param {string} rowAxis @param {string} colAxis @param {State} state @returns {Picture} */
  const picture = (values, full, rows, cols, rowAxis, colAxis, state) => ({ rows, cols, rowAxis, colAxis, ...signed(values, state, full) });

  /** How much of what comes in gets through the softmax of a row: sum of w minus sum of w squared. @param {number[]} weights */
  const passes = (weights) => weights.reduce((sum, w, j) => sum + w * weights.reduce((rest, x, l) => (l === j ? rest : rest + x), 0), 0);

  /** @param {Sight} now */
  function draw({ state, chain, slice, result }) {
    const { query: rows, key: cols } = chain.labels, { batch, head, query: i, key: j } = state;
    output.update({ ...picture(result, Math.max(1e-9, ...result.flat().map(Math.abs)), rows, places("o", result[0].length), "query", "feature", state) }, { i, j: state.feature, pinned: true }, words.choose);
    if (!reply?.gradients) return;
    const { gradients, axes } = reply, at = (/** @type {string} */ name) => gradients[name] && take(gradients[name], axes.gradients[name], batch, head);
    for (const { name, figure } of flow) {
      const values = at(name);
      figure.node.hidden = !values;
      if (values) figure.update({ ...picture(values, FULL[name], rows, cols, "query", "key", state), hatched: name === "weights" ? null : slice.allowed.map((row) => row.map((x) => !x)) }, { i, j });
    }
    const group = chain.shape.heads / chain.shape.kvHeads;
    for (const { name, figure } of sources) {
      const values = take(gradients.inputs[name], axes.gradients.inputs[name], batch, name === "q" ? head : Math.floor(head / group));
      figure.update(picture(values, FULL[name], name === "q" ? rows : cols, places(name, values[0].length), name === "q" ? "query" : "key", "feature", state), { i: name === "q" ? i : j, j: 0 });
    }
    tell(state, chain, slice, at("masked"), at("row_dot"), at("weights"));
  }

  /** @param {State} state @param {Chain} chain @param {Slice} slice @param {number[][] | undefined} masked @param {number[] | undefined} dots @param {number[][]} weights */
  function tell({ query: i, key: j, feature }, chain, slice, masked, dots, weights) {
    const bold = (/** @type {string} */ text) => el("b", {}, text), w = slice.weights[i], through = passes(w), { query, key } = chain.labels;
    if (!masked || !dots) { fill(sentence, words.linear); fill(line); return; }
    const slope = masked[i][j], names = { query: bold(query[i]), key: bold(key[j]), feature: feature + 1, slope: fixed(slope), through: fixed(through, through < 0.001 ? 6 : 3) };
    fill(sentence, ...say(through < 1e-3 && slice.allowed[i].filter(Boolean).length > 1 ? words.dark : !slice.allowed[i][j] ? words.hidden : slope >= 0 ? words.up : words.down, names));
    fill(line, "w \u00d7 (dw \u2212 \u2211 w dw) = ", el("span", { class: "q" }, fixed(w[j], 4)), ` \u00d7 (${fixed(weights[i][j], 4)} \u2212 ${dots[i] < 0 ? "(" : ""}${fixed(dots[i], 4)}${dots[i] < 0 ? ")" : ""}) \u2248 `, bold(fixed(slope, 4)));
    dress(line, { title: words.formula });
  }

  return {
    node,
    update(now) {
      scene = now;
      if (!now.model.waiting && !now.model.problem) asker.ask({ ...now.body, step: undefined, backward: { cell: cellOf(now) }, include: ["gradients"] });
      draw(now);
    },
  };
}
