// The wrong ways beside the right one: zero in place of minus infinity, a mask after the softmax, no scale.
import { el, fill } from "./dom.js";
import { compute } from "./arithmetic.js";
import { makeAsker, makeFigure } from "./figure.js";
import { chainOf } from "./chain.js";
import { fixed } from "./number.js";
import { signed } from "./picture.js";
import { share } from "./colour.js";
import { LESSONS } from "./lesson-words.js";
import { WORDS, say } from "./words.js";

/** What each way changes in the request. @type {Record<"right" | "zero" | "late" | "unscaled", Question>} */
const WAYS = { right: { variant: "softmax" }, zero: { variant: "mask_with_zero" }, late: { variant: "mask_after_softmax" }, unscaled: { variant: "softmax", scale: 1 } };

/** @param {number[]} row */
const total = (row) => row.reduce((sum, x) => sum + x, 0);

/** @param {Tools} tools @returns {Lesson} */
export function makeLesson({ api, store }) {
  const words = LESSONS.wrong, select = (/** @type {number} */ i, /** @type {number} */ j) => store.set({ query: i, key: j });
  const told = el("p", { class: "say" }), refusal = el("p", { class: "refusal", role: "status" });
  const ways = /** @type {("right" | "zero")[]} */ (Object.keys(WAYS)).map((name) => {
    const figure = makeFigure(words[name].title, { onSelect: select, onAct: select });
    /** @type {{name: "right" | "zero", figure: typeof figure, chain: Chain | null, asker: ReturnType<typeof makeAsker>}} */
    const way = { name, figure, chain: null, asker: makeAsker(api, (answer) => { if (answer?.json) { way.chain = chainOf(answer.json, scene !== null && "w_o" in scene.body); if (scene) draw(scene); } }) };
    return way;
  });
  const node = el("div", { class: "stage lesson" }, refusal, el("div", { class: "flow" }, ...ways.map(({ figure }) => figure.node)), told);
  /** @type {Sight | null} */
  let scene = null;
  let last = /** @type {object | null} */ (null);

  /** @param {Question} body @param {Question} change @returns {Question} */
  const changed = (body, change) => ({ ...body, ...change });

  /** @param {Sight} now */
  function draw({ state, slice, chain }) {
    const { batch, head, query: i, key: j } = state, { query: rows, key: cols } = chain.labels;
    const hatched = slice.allowed.map((row) => row.map((x) => !x));
    for (const { name, figure, chain: other } of ways) {
      const weights = other?.slices[batch]?.[head]?.weights;
      figure.node.hidden = !weights;
      if (!weights) continue;
      figure.update({ rows, cols, rowAxis: "query", colAxis: "key", ...signed(weights, state, 1), paint: (x) => share(x, state.log), hatched: hatched.map((row, a) => row.map((hidden, b) => hidden && weights[a][b] === 0)),
        marked: name === "zero" ? hatched : null, side: { label: WORDS.stage.sum, values: weights.map(total) } }, { i, j }, words[name].note);
    }
    tell(i, slice, chain, batch, head);
  }

  /** @param {number} i @param {Slice} slice @param {Chain} chain @param {number} batch @param {number} head */
  function tell(i, slice, chain, batch, head) {
    const row = (/** @type {string} */ wanted) => ways.find(({ name }) => name === wanted)?.chain?.slices[batch]?.[head]?.weights[i] ?? [], bold = el("b", {}, chain.labels.query[i]);
    const leaks = total(row("zero").filter((_, j) => !slice.allowed[i][j])), sum = total(row("late"));
    fill(told, ...say(slice.allowed[i].includes(false) ? words.row : words.open, { query: bold, leaks: fixed(leaks), sum: fixed(sum), largest: fixed(Math.max(...row("unscaled"), 0)), scaled: fixed(Math.max(...row("right"), 0)) }));
  }

  return {
    node,
    update(now) {
      scene = now;
      const plain = now.body.variant === undefined || now.body.variant in { softmax: 1, mask_with_zero: 1, mask_after_softmax: 1 };
      fill(refusal, plain ? "" : words.linear);
      if (now.body !== last && plain) {
        last = now.body;
        for (const way of ways) {
          const body = changed(now.body, WAYS[way.name]);
          try { way.chain = compute(body); } catch { way.chain = null; }
          way.asker.ask({ ...body, include: ["output", "weights", "inputs", "mask"] });
        }
      }
      draw(now);
    },
  };
}
