// Latent attention: what is kept, what is made of it, and what that saves (`latent`). The service computes all of it.
import { makeSegments } from "./choices.js";
import { share } from "./colour.js";
import { el, fill, write } from "./dom.js";
import { makeAsker, makeFigure } from "./figure.js";
import { LESSONS } from "./lesson-words.js";
import { places, signed } from "./picture.js";
import { WORDS, sayText } from "./words.js";

const TOKENS = ["the", "cat", "sat", "down"], HEADS = 4, NOTE = 2, PLACE = 2, PLAIN = 2, VALUE = 2, MODEL = 4;

/** @param {number} rows @param {number} cols @param {number} seed */
const waves = (rows, cols, seed) => Array.from({ length: rows }, (_, i) => Array.from({ length: cols }, (_, j) => Math.round(80 * Math.sin((i + 1) * (j + seed) * 1.3 + seed)) / 100));

/** @type {Question} */
const REQUEST = {
  tokens: TOKENS, x: waves(TOKENS.length, MODEL, 2), heads: HEADS, mask: "causal", include: ["output", "weights", "inputs", "steps"],
  latent: { w_dkv: waves(MODEL, NOTE, 3), w_kr: waves(MODEL, PLACE, 4), w_uk: waves(NOTE, HEADS * PLAIN, 5), w_uv: waves(NOTE, HEADS * VALUE, 6), w_q: waves(MODEL, HEADS * (PLAIN + PLACE), 7) },
};

/** @param {Tools} tools @returns {Lesson} */
export function makeLesson({ api }) {
  const words = LESSONS.latent;
  let head = 0, form = "expanded";
  const forms = makeSegments(words.form, [["expanded", words.forms.expanded], ["absorbed", words.forms.absorbed]], (name) => { form = name; ask(); });
  const tabs = makeSegments(words.head, Array.from({ length: HEADS }, (_, h) => [String(h), sayText(WORDS.stage.head, { head: h })]), (name) => { head = Number(name); draw(); });
  const note = makeFigure(words.note), rope = makeFigure(words.rope), keys = makeFigure(words.keys), values = makeFigure(words.values), weights = makeFigure(words.weights), carried = makeFigure(words.absorbed);
  const bill = el("ul", { class: "bars bill" }), sentence = el("p", { class: "say" }), refusal = el("p", { class: "refusal", role: "status" });
  const node = el("div", { class: "stage lesson" }, el("div", { class: "row" }, forms.node, tabs.node), refusal, sentence, el("div", { class: "flow" }, note.node, rope.node), el("div", { class: "flow" }, keys.node, values.node, carried.node, weights.node),
    el("figure", { class: "figure" }, el("figcaption", {}, words.bill), bill));
  /** @type {Record<string, any>} the replies, by form */
  const replies = {};
  const askers = Object.fromEntries(["expanded", "absorbed"].map((name) => [name, makeAsker(api, (answer) => {
    write(refusal, answer ? (answer.problem?.detail ?? "") : WORDS.lens.away);
    if (answer?.json) replies[name] = answer.json;
    draw();
  })]));

  function ask() {
    for (const [name, asker] of Object.entries(askers)) asker.ask({ ...REQUEST, latent: { ...REQUEST.latent, form: name } });
    draw();
  }

  /** @returns {number} how far the two forms are apart */
  const apart = () => Math.max(...replies.expanded.weights.flat(2).map((/** @type {number} */ x, /** @type {number} */ at) => Math.abs(x - replies.absorbed.weights.flat(2)[at])));

  function draw() {
    forms.press(form);
    tabs.press(String(head));
    const reply = replies[form], other = replies.expanded && replies.absorbed;
    if (!reply) return;
    const look = { log: false, fitted: false, query: 0 }, nowhere = { i: -1, j: -1 };
    const table = (/** @type {number[][]} */ rows, /** @type {string} */ letter) => ({ rows: TOKENS, cols: places(letter, rows[0].length), rowAxis: "key", colAxis: "feature", ...signed(rows, look) });
    note.update(table(reply.steps.latent, "c"), nowhere);
    rope.update(table(reply.steps.rope_key, "r"), nowhere);
    const absorbed = form === "absorbed";
    keys.node.hidden = values.node.hidden = absorbed;
    carried.node.hidden = !absorbed;
    if (absorbed) carried.update(table(reply.steps.query_absorbed[head], "c"), nowhere);
    else { keys.update(table(reply.inputs.k[head], "k"), nowhere); values.update(table(reply.inputs.v[head], "v"), nowhere); }
    weights.update({ ...table(reply.weights[head], ""), cols: TOKENS, paint: (x) => share(x), hatched: TOKENS.map((_, i) => TOKENS.map((__, j) => j > i)) }, nowhere);
    const all = HEADS * (PLAIN + PLACE + VALUE), kept = NOTE + PLACE;
    fill(sentence, absorbed && other ? sayText(words.same, { apart: apart().toExponential(1).replace("-", "\u2212") }) : sayText(words.expanded, { heads: HEADS, all, kept }));
    fill(bill, ...[[words.multi, all], [words.latent, kept]].map(([name, count]) => {
      const bar = el("span", { class: "fill ink" });
      bar.style.width = `${(Number(count) / all) * 100}%`;
      return el("li", {}, el("span", { class: "name" }, String(name)), el("span", { class: "track" }, bar), el("span", { class: "num" }, String(count)));
    }));
  }

  ask();
  return { node, update() {} };
}
