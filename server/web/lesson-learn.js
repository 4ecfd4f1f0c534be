// One head that learns to copy, while one watches: the service returns the gradients and the updated projections (`step`).
import { Unreachable } from "./api.js";
import { dress, el, fill, write } from "./dom.js";
import { makeFigure } from "./figure.js";
import { fixed } from "./number.js";
import { places, signed } from "./picture.js";
import { share } from "./colour.js";
import { LESSONS } from "./lesson-words.js";
import { WORDS, sayText } from "./words.js";

const TOKENS = ["red", "blue", "green", "gold", "grey", "pink"];
const SIZE = TOKENS.length, WIDTH = 4, SVG = "http://www.w3.org/2000/svg";
/** A run ends by itself after so many steps. */
const ENOUGH = 300;

/** Small numbers, the same each time. @param {number} rows @param {number} cols @param {number} seed */
const small = (rows, cols, seed) => Array.from({ length: rows }, (_, i) => Array.from({ length: cols }, (_, j) => Math.round(30 * Math.sin((i + 1) * (j + 2) * seed + i)) / 100));

/** @param {number} rows @param {number} cols @param {number} [size] */
const diagonal = (rows, cols, size = 1) => Array.from({ length: rows }, (_, i) => Array.from({ length: cols }, (_, j) => (i === j ? size : 0)));

/** Each word is its name and its place; only the name is handed over, only queries and keys learn. @param {number} seed @returns {Question} */
const beginning = (seed) => ({
  tokens: TOKENS, x: TOKENS.map((_, i) => [...diagonal(SIZE, SIZE)[i], ...diagonal(SIZE, SIZE)[i]]),
  w_q: small(2 * SIZE, WIDTH, seed), w_k: small(2 * SIZE, WIDTH, seed + 1.3), w_v: diagonal(2 * SIZE, SIZE), mask: "causal",
  readout: { w: diagonal(SIZE, SIZE, 4), tokens: TOKENS, rows: "all" }, backward: { target: [null, ...TOKENS.slice(0, -1)] },
});

/** @param {number[]} losses @returns {Element} */
function curve(losses) {
  const root = document.createElementNS(SVG, "svg"), line = document.createElementNS(SVG, "polyline"), width = 320, height = 120, top = Math.max(...losses, 1e-9);
  const count = Math.max(40, losses.length), points = losses.map((loss, i) => `${((i / (count - 1)) * (width - 8) + 4).toFixed(1)},${(height - 6 - (loss / top) * (height - 12)).toFixed(1)}`);
  for (const [name, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, class: "curve", role: "img", "aria-label": sayText(LESSONS.learn.curve, { first: fixed(losses[0]), last: fixed(losses[losses.length - 1]), count: losses.length - 1 }) })) root.setAttribute(name, value);
  line.setAttribute("points", points.join(" "));
  root.append(line);
  return root;
}

/** @param {Tools} tools @returns {Lesson} */
export function makeLesson({ api }) {
  const words = LESSONS.learn, weights = makeFigure(words.weights), query = makeFigure("W\u1d60"), key = makeFigure("W\u2096"), graph = el("div"), guesses = el("ul", { class: "bars bill" });
  const sentence = el("p", { class: "say", "aria-live": "polite" }), refusal = el("p", { class: "refusal", role: "status" });
  const run = el("button", { type: "button", class: "go", id: "learn", onclick: () => (running ? pause() : void go()) }, words.run);
  const one = el("button", { type: "button", onclick: () => void step() }, words.one), again = el("button", { type: "button", onclick: () => reset() }, words.again);
  const rate = el("input", { type: "range", min: -1.5, max: 1.5, step: 0.1, value: 0, "aria-label": words.rate, oninput: () => write(told, fixed(rateOf(), 2)) }), told = el("span", { class: "num quiet" }, "1.00");
  const node = el("div", { class: "stage lesson" }, refusal, el("div", { class: "flow" }, weights.node, el("figure", { class: "figure" }, el("figcaption", {}, words.loss), graph, el("figcaption", {}, words.guess), guesses)),
    el("div", { class: "row" }, one, run, again, el("label", { class: "rate" }, words.rate, rate, told)), sentence, el("details", {}, el("summary", {}, words.inside), el("div", { class: "flow" }, query.node, key.node)));
  let request = beginning(1.1), running = false, busy = false;
  /** @type {number[]} */
  let losses = [];
  /** @type {any} */
  let reply = null;

  const rateOf = () => 10 ** Number(rate.value);

  function draw() {
    const axes = { rowAxis: "query", colAxis: "key" }, look = { log: false, fitted: false, query: 0 };
    const shares = reply.weights, plain = signed(shares, look, 1);
    weights.update({ rows: TOKENS, cols: TOKENS, ...axes, ...plain, paint: (x) => share(x), hatched: shares.map((/** @type {number[]} */ row, /** @type {number} */ i) => row.map((_, j) => j > i)),
      marked: shares.map((/** @type {number[]} */ row, /** @type {number} */ i) => row.map((_, j) => i > 0 && j === i - 1)) }, { i: -1, j: -1 }, words.ring);
    fill(graph, curve(losses));
    const loss = losses[losses.length - 1], count = losses.length - 1;
    fill(sentence, sayText(loss < 0.15 ? words.done : count ? words.during : words.before, { loss: fixed(loss), count, first: fixed(losses[0]) }));
    const names = [...TOKENS.map((word) => `is ${word}`), ...TOKENS.map((_, i) => `place ${i + 1}`)];
    for (const [figure, values] of /** @type {[typeof query, number[][]][]} */ ([[query, request.w_q], [key, request.w_k]])) figure.update({ rows: names, cols: places("", WIDTH), rowAxis: "x", colAxis: "feature", ...signed(values, look) }, { i: -1, j: -1 });
    drawGuesses();
  }

  function drawGuesses() {
    fill(guesses, ...reply.row_loss.slice(1).map((/** @type {number} */ loss, /** @type {number} */ i) => {
      const right = Math.exp(-loss), bar = el("span", { class: "fill" });
      bar.style.width = `${right * 100}%`;
      bar.style.background = share(right).back;
      return el("li", {}, el("span", { class: "name" }, `${TOKENS[i + 1]}: ${TOKENS[i]}?`), el("span", { class: "track" }, bar), el("span", { class: "num" }, fixed(right, 2)));
    }));
  }

  /** One request: where it stands, and where it goes. @param {boolean} [moves] */
  async function ask(moves = true) {
    if (busy) return;
    busy = true;
    try {
      const answer = await api.ask("v1/attention", { ...request, step: { rate: rateOf() }, include: ["weights"] });
      write(refusal, answer.problem?.detail ?? "");
      if (!answer.json) { running = false; return; }
      reply = answer.json;
      losses = [...losses, reply.loss];
      draw();
      if (moves) request = { ...request, w_q: reply.updated.w_q, w_k: reply.updated.w_k };
    } catch (error) {
      running = false;
      if (error instanceof Unreachable) write(refusal, WORDS.lens.away);
    } finally {
      busy = false;
      dress(run, { "aria-pressed": String(running) });
      write(run, running ? words.pause : words.run);
    }
  }

  async function step() {
    if (losses.length === 1) await advance();
    else await ask();
  }

  /** From the first look to the first step. */
  async function advance() {
    if (reply?.updated) request = { ...request, w_q: reply.updated.w_q, w_k: reply.updated.w_k };
    await ask();
  }

  async function go() {
    running = true;
    while (running && losses.length <= ENOUGH) {
      await step();
      await new Promise((next) => requestAnimationFrame(next));
    }
    pause();
  }

  function pause() {
    running = false;
    dress(run, { "aria-pressed": "false" });
    write(run, words.run);
  }

  function reset() {
    pause();
    request = beginning(1.1 + Math.random());
    losses = [];
    void ask(false);
  }

  void ask(false);
  return { node, update() {}, stop: pause };
}
