// FlashAttention made visible: the keys come tile by tile, and the whole matrix is never kept (`tiles`).
import { take } from "./chain.js";
import { share } from "./colour.js";
import { dress, el, fill, write } from "./dom.js";
import { makeAsker, makeFigure } from "./figure.js";
import { LESSONS } from "./lesson-words.js";
import { fixed } from "./number.js";
import { places, signed } from "./picture.js";
import { WORDS, say, sayText } from "./words.js";

/** @param {Tools} tools @returns {Lesson} */
export function makeLesson({ api, store }) {
  const words = LESSONS.tiles, select = (/** @type {number} */ i, /** @type {number} */ j) => store.set({ query: i, key: j }), row = (/** @type {number} */ i) => store.set({ query: i });
  let width = 1, at = 0;
  const size = el("input", { type: "range", min: 1, max: 4, value: 1, "aria-label": words.size, oninput: () => { width = Number(size.value); at = 0; if (sight) ask(sight); } }), shown = el("span", { class: "num" });
  const back = el("button", { type: "button", "aria-label": words.back, onclick: () => go(at - 1) }, "\u2190"), next = el("button", { type: "button", class: "go", id: "next-tile", onclick: () => go(at + 1 < count() ? at + 1 : 0) }), place = el("span", { class: "num quiet" });
  const exps = makeFigure(words.exps, { onSelect: select, onAct: select }), state = makeFigure(words.state, { onSelect: row, onAct: row }), sums = makeFigure(words.accumulator, { onSelect: row, onAct: row }), output = makeFigure(words.output, { onSelect: row, onAct: row });
  const sentence = el("p", { class: "say", "aria-live": "polite" }), line = el("p", { class: "line num" }), bill = el("p", { class: "quiet num" }), refusal = el("p", { class: "refusal", role: "status" });
  const node = el("div", { class: "stage lesson" }, el("div", { class: "row" }, back, next, place, el("label", { class: "rate" }, words.size, size, shown)), refusal, sentence, line,
    el("div", { class: "flow" }, exps.node, state.node), el("div", { class: "flow" }, sums.node, output.node), bill);
  /** @type {Sight | null} */
  let sight = null;
  /** @type {any} */
  let reply = null;
  const asker = makeAsker(api, (answer) => { write(refusal, answer ? (answer.problem?.detail ?? "") : WORDS.lens.away); reply = answer?.json ?? null; if (sight) draw(sight); });
  const count = () => Math.ceil((sight?.chain.shape.keys ?? 1) / width);

  /** @param {number} to */
  function go(to) {
    at = Math.min(count() - 1, Math.max(0, to));
    if (sight) draw(sight);
  }

  /** @param {Sight} now */
  function ask({ body, model, chain }) {
    width = Math.min(width, chain.shape.keys);
    at = Math.min(at, count() - 1);
    dress(size, { max: chain.shape.keys });
    size.value = String(width);
    write(shown, String(width));
    if (!model.waiting && !model.problem) asker.ask({ ...body, tiles: { keys: width }, include: ["output", "steps"] });
  }

  /** @param {Sight} now */
  function draw({ state: look, chain, slice }) {
    const steps = reply?.steps;
    if (!steps?.tile_exp) return;
    const { batch, head, query: i, key: j } = look, { query: rows, key: cols } = chain.labels, seen = Math.min(cols.length, (at + 1) * width), from = at * width;
    const of = (/** @type {string} */ name) => take(steps[name], reply.axes.steps[name], batch, head), last = (/** @type {string} */ name) => of(name).map((/** @type {any[]} */ all) => all[Math.min(at, all.length - 1)]);
    const tile = of("tile_exp").map((/** @type {number[]} */ all) => all.map((x, key) => (key < seen ? x : 0)));
    exps.update({ rows, cols, rowAxis: "query", colAxis: "key", ...signed(tile, look, 1), paint: (x) => share(x), hatched: slice.allowed.map((all) => all.map((sees, key) => !sees || key >= seen)),
      marked: slice.allowed.map((all) => all.map((sees, key) => sees && key >= from && key < seen)) }, { i, j }, sayText(words.ring, { width }));
    const largest = last("running_max"), whole = last("running_sum"), sum = last("accumulator");
    state.update({ rows, cols: [words.largest, words.rescale, words.sum], rowAxis: "query", colAxis: "state", ...signed(rows.map((_, a) => [largest[a], last("rescale")[a], whole[a]]), look) }, { i, j: 0 });
    sums.update({ rows, cols: places("a", sum[0].length), rowAxis: "query", colAxis: "feature", ...signed(sum, look) }, { i, j: 0 });
    output.update({ rows, cols: places("o", sum[0].length), rowAxis: "query", colAxis: "feature", ...signed(sum.map((/** @type {number[]} */ all, /** @type {number} */ a) => all.map((x) => (whole[a] ? x / whole[a] : 0))), look) }, { i, j: 0 });
    tell(rows[i], seen, cols.length, largest[i], last("rescale")[i], whole[i], of("running_max")[i][at - 1], chain);
  }

  /** @param {string} name @param {number} seen @param {number} all @param {number | null} largest @param {number} rescale @param {number} whole @param {number | null | undefined} before @param {Chain} chain */
  function tell(name, seen, all, largest, rescale, whole, before, chain) {
    const tiles = count(), names = { query: el("b", {}, name), seen, all, largest: fixed(largest), rescale: fixed(rescale), sum: fixed(whole) };
    write(next, at + 1 < tiles ? words.next : words.again);
    write(place, sayText(words.place, { at: at + 1, tiles }));
    dress(back, { disabled: at === 0 });
    fill(sentence, ...say(at + 1 === tiles ? words.end : largest === null ? words.nothing : words.told, names));
    if (at && before !== null && before !== undefined && largest !== null) fill(line, words.rescaled, el("span", {}, "e", el("sup", {}, `${fixed(before)} \u2212 ${largest < 0 ? `(${fixed(largest)})` : fixed(largest)}`)), " \u2248 ", el("b", {}, fixed(rescale)));
    else fill(line, words.first);
    write(bill, sayText(words.bill, { kept: chain.shape.queries * (chain.shape.dv + 2), matrix: chain.shape.queries * chain.shape.keys }));
  }

  return { node, update(now) { sight = now; ask(now); draw(now); } };
}
