// The stage: the step in focus, large; the cell in focus, told in a sentence and a line of arithmetic.
import { makeBitmap } from "./bitmap.js";
import { ramp } from "./colour.js";
import { byId, dress, el, fill, formula, write } from "./dom.js";
import { makeMatrix } from "./matrix.js";
import { pictureOf, table, turned } from "./picture.js";
import { wordOf } from "./player.js";
import { isLinear } from "./steps.js";
import { lineOf, sentenceOf } from "./tell.js";
import { WORDS, sayText } from "./words.js";

/** Above so many rows or columns a matrix is a canvas. */
const TABLE = 48;
/** Cells narrower than this have no room for a number. */
const NUMBER = 38;

/** @param {Store} store @param {Acts} acts */
export function makeStage(store, acts) {
  const place = byId("picture"), line = byId("line"), sentence = byId("sentence"), live = byId("live"), legend = byId("legend"), chips = byId("queries");
  let asTable = false, spoken = 0, decimals = 3, fitted = "", width = place.clientWidth;
  /** @type {View | null} */
  let view = null;

  /** Which of the state's numbers the rows and columns of the picture are. @param {number} row @param {number} col @returns {Partial<State>} */
  function chosen(row, col) {
    const { turned: over, step } = store.get(), [i, j] = over ? [col, row] : [row, col];
    const kind = view?.step.view;
    if (kind === "mix") return { key: i, feature: j };
    if (kind === "output") return { query: i, feature: j };
    return step === "start" ? {} : { query: i, key: j };
  }

  const listener = {
    onSelect: (/** @type {number} */ i, /** @type {number} */ j) => { acts.leave(); store.set(chosen(i, j)); },
    onHover: (/** @type {number} */ i, /** @type {number} */ j) => { if (!store.get().pinned) acts.hover(i, j); },
    onLeave: () => acts.leave(),
    onEscape: () => store.set({ pinned: false }),
    onAct: (/** @type {number} */ i, /** @type {number} */ j, /** @type {string} */ how) => {
      const now = chosen(i, j), state = store.get(), pair = view?.step.view === "pairs", same = Object.entries(now).every(([name, x]) => state[/** @type {"query"} */ (name)] === x);
      acts.leave();
      if (pair && (how === "toggle" || (how === "press" && state.step === "masked"))) { store.set(now); acts.toggle(now.query ?? 0, now.key ?? 0); }
      else store.set({ ...now, pinned: same ? !state.pinned : true });
    },
  };
  const matrix = makeMatrix("", listener), bitmap = makeBitmap("", listener);
  const inputs = /** @type {("q" | "k" | "v")[]} */ (["q", "k", "v"]).map((name) => ({ name, matrix: makeMatrix(WORDS.inputs[name], {
    onSelect: (i) => store.set(name === "q" ? { query: i } : { key: i }), onAct: (i, j, how) => { if (how !== "press") acts.edit(name, i, j); else store.set(name === "q" ? { query: i } : { key: i }); },
  }) }));
  const start = el("div", { class: "start" }, ...inputs.map(({ name, matrix: { node } }) => el("figure", { class: name }, el("figcaption", {}, WORDS.inputs[name]), el("div", { class: "scroll" }, node))));

  /** @param {View} now */
  const picture = (now) => {
    const plain = pictureOf(now.step, now.slice, now.result, now.chain.labels, { ...now.state, query: now.i, feature: now.c });
    return now.state.turned ? turned(plain) : plain;
  };

  /** Room for a cell. @param {Picture} shown @param {HTMLElement} node  the table, already with its labels @returns {number} the decimals that fit */
  function fit(shown, node) {
    const narrow = innerWidth < 700, count = shown.cols.length + (shown.lead ? 1 : 0) + (shown.side ? 1 : 0);
    const now = [width, innerHeight, chips.hidden, byId("heads").hidden, count, shown.foot?.label, ...shown.rows, ...shown.cols].join("\n");
    if (now === fitted) return decimals;
    fitted = now;
    const label = node.querySelector("th")?.getBoundingClientRect().width ?? 60, room = width - 12 - label - 4 * (count + 2);
    const least = shown.cols.length <= 20 ? (narrow ? 40 : 48) : 24, cell = Math.max(least, Math.min(104, Math.floor(room / count)));
    matrix.size(shown.cols, cell, tallOf(cell, shown.rows.length), cell > 84 ? 19 : cell > 64 ? 16 : 13);
    return cell < NUMBER ? 0 : cell < 52 ? 2 : 3;
  }

  /** The height of a cell. @param {number} width @param {number} rows */
  const tallOf = (width, rows) => Math.round(Math.max(rows > 10 ? 24 : rows > 6 ? 28 : 34, Math.min(60, width * 0.7, (innerHeight - 648 - (chips.hidden ? 0 : 56) - (byId("heads").hidden ? 0 : 52) - (innerWidth < 900 ? 44 : 0)) / (rows + 1) - 4)));

  /** The stage keeps its height from step to step, so that the buttons stay where they are. @param {View} now */
  function steady({ chain: { shape } }) {
    const rows = Math.max(shape.queries, shape.keys + 1);
    place.style.minHeight = rows > 14 || innerWidth < 700 || !chips.hidden ? "" : `${rows * (tallOf(104, shape.queries) + 4) + 44}px`;
  }

  /** @param {View} now */
  function drawStart({ slice, chain, state, i, j }) {
    const looks = { q: [slice.q, chain.labels.query, "query", i], k: [slice.k, chain.labels.key, "key", j], v: [slice.v, chain.labels.key, "key", j] };
    for (const { name, matrix: grid } of inputs) {
      const [values, labels, axis, row] = /** @type {[number[][], string[], "query", number]} */ (looks[name]), shown = table(values, labels, name, WORDS.axes[axis], state);
      const columns = slice.q[0].length * 2 + slice.v[0].length, cell = Math.max(32, Math.min(56, Math.floor((width - 3 * 64 - 60) / columns) - 4));
      grid.size(shown.cols, cell, Math.min(44, tallOf(99, values.length)), 14);
      grid.update(shown, { i: row, j: 0, decimals: cell < 44 ? 1 : 2 });
    }
    fill(legend);
    if (start.parentElement !== place) fill(place, start);
  }

  /** @param {View} now */
  function drawMatrix(now) {
    const shown = picture(now), { state } = now, [i, j] = cellAt(now);
    const large = shown.rows.length > TABLE || shown.cols.length > TABLE;
    byId("as-table").hidden = !large;
    const at = { i: state.turned ? j : i, j: state.turned ? i : j, pinned: state.pinned };
    const spokenName = `${wordOf(now.step).title}: ${shown.rowAxis}, ${shown.colAxis}`;
    if (large && !asTable) {
      bitmap.update(shown, at, width);
      if (bitmap.node.parentElement !== place) fill(place, bitmap.node);
    } else {
      if (matrix.node.parentElement !== place) fill(place, matrix.node);
      matrix.update(shown, { ...at, decimals });
      const fitting = fit(shown, matrix.node);
      if (fitting !== decimals) matrix.update(shown, { ...at, decimals: fitting });
      decimals = fitting;
      dress(matrix.node, { "aria-label": spokenName });
    }
    drawLegend(shown);
  }

  /** @param {View} now @returns {[number, number]} */
  const cellAt = ({ step, i, j, c }) => (step.view === "mix" ? [j, c] : step.view === "output" ? [i, c] : [i, j]);

  /** @param {Picture} shown */
  function drawLegend(shown) {
    const bar = el("span", { class: "ramp", "aria-hidden": "true" });
    bar.style.background = ramp(shown.legend.kind);
    fill(legend, el("span", { class: "num" }, shown.legend.low), bar, el("span", { class: "num" }, shown.legend.high),
      shown.hatched?.flat().includes(true) && el("span", { class: "swatch" }, el("i", { class: "hatch", "aria-hidden": "true" }), WORDS.stage.hidden));
  }

  /** Which query the mix is of. @param {View} now */
  function drawQueries({ step, chain, i }) {
    chips.hidden = step.view !== "mix" || chain.labels.query.length < 2 || chain.labels.query.length > 16;
    if (chips.hidden) return;
    if (chips.children.length !== chain.labels.query.length) chips.replaceChildren(...chain.labels.query.map((_, query) => el("button", { type: "button", onclick: () => store.set({ query }) })));
    [...chips.children].forEach((button, at) => { write(button, chain.labels.query[at]); dress(button, { "aria-pressed": String(at === i) }); });
  }

  /** @param {View} now */
  function tell(now) {
    const scene = { ...now, step: now.step.id };
    fill(sentence, ...sentenceOf(scene));
    fill(line, ...lineOf(scene));
    clearTimeout(spoken);
    spoken = window.setTimeout(() => write(live, sayText(WORDS.live, { query: now.chain.labels.query[now.i], key: now.chain.labels.key[now.j], value: sentence.textContent ?? "", word: wordOf(now.step).word })), 400);
  }

  /** @param {View} now */
  function headline({ step, slice, state }) {
    const plain = step.id === "weights" && isLinear(slice) ? { ...wordOf(step), ...WORDS.linear } : wordOf(step);
    write(byId("title"), plain.title);
    write(byId("lead"), plain.lead);
    if (byId("formula").dataset.step !== step.id) fill(byId("formula"), formula(step.formula, step.spoken));
    byId("formula").dataset.step = step.id;
    dress(byId("pin"), { "aria-pressed": String(state.pinned) });
    write(byId("pin"), state.pinned ? WORDS.stage.pinned : WORDS.stage.pin);
    dress(byId("turn"), { "aria-pressed": String(state.turned) });
    dress(byId("log"), { "aria-pressed": String(state.log) });
    dress(byId("fitted"), { "aria-pressed": String(state.fitted) });
    byId("pin").hidden = byId("turn").hidden = byId("tools").hidden = step.view === "start";
    byId("fitted").hidden = step.paint !== "share";
  }

  byId("pin").addEventListener("click", () => store.set({ pinned: !store.get().pinned }));
  byId("turn").addEventListener("click", () => store.set({ turned: !store.get().turned }));
  byId("log").addEventListener("click", () => store.set({ log: !store.get().log }));
  byId("fitted").addEventListener("click", () => store.set({ fitted: !store.get().fitted }));
  byId("as-table").addEventListener("click", () => { asTable = !asTable; write(byId("as-table"), asTable ? WORDS.stage.canvas : WORDS.stage.table); if (view) draw(view); });
  new ResizeObserver(() => { width = place.clientWidth; if (view) draw(view); }).observe(place);

  /** @param {View} now */
  function draw(now) {
    view = now;
    headline(now);
    drawQueries(now);
    steady(now);
    if (now.step.view === "start") drawStart(now); else drawMatrix(now);
    tell(now);
  }

  return { draw, chosen };
}
