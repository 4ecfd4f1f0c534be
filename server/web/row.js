// What the focused row means: its shares as bars, how sharp it is, what the cache costs, whether two computations agree.
import { around, share } from "./colour.js";
import { byId, dress, el, fill, write } from "./dom.js";
import { amount, fixed } from "./number.js";
import { mixing } from "./steps.js";
import { WORDS, sayText } from "./words.js";

/** More bars than this are the largest ones only. */
const BARS = 12;

/** @param {number[]} weights */
export const entropy = (weights) => -weights.reduce((sum, w) => (w > 0 ? sum + w * Math.log2(w) : sum), 0);

/** @param {Store} store */
export function makeRow(store) {
  const title = byId("row-title"), bars = byId("bars"), sharp = byId("sharp"), bill = byId("bill"), billSection = byId("bill-section"), readoutSection = byId("readout-section"), check = byId("check");

  /** @param {Slice} slice @param {string[]} keys @param {number} i @param {number} focus */
  function drawBars(slice, keys, i, focus) {
    const weights = mixing(slice)[i];
    const shown = keys.map((key, j) => ({ key, j, w: weights[j], hidden: !slice.allowed[i][j] && weights[j] === 0 }));
    const some = shown.length > BARS ? shown.sort((a, b) => b.w - a.w).slice(0, BARS) : shown;
    fill(bars, ...some.map(({ key, j, w, hidden }) => {
      const fillBar = el("span", { class: "fill" });
      fillBar.style.width = `${Math.min(100, Math.abs(w) * 100)}%`;
      fillBar.style.background = (w < 0 ? around(w, 1) : share(w)).back;
      return el("li", { class: j === focus ? "on" : "" }, el("button", { type: "button", onclick: () => store.set({ key: j }) }, el("span", { class: "name", title: key }, key), el("span", { class: hidden ? "track hatch" : "track" }, fillBar),
        el("span", { class: "num" }, hidden ? WORDS.row.hidden : fixed(w))));
    }));
  }

  /** @param {Slice} slice @param {number} i @returns {string} */
  function sharpness(slice, i) {
    const visible = slice.allowed[i].filter(Boolean).length, weights = slice.weights[i], square = weights.reduce((sum, w) => sum + w * w, 0), all = weights.reduce((sum, w) => sum + w, 0);
    if (!visible) return WORDS.row.none;
    if (visible === 1) return WORDS.row.one;
    const text = sayText(WORDS.row.bits, { bits: fixed(entropy(weights), 2), most: fixed(Math.log2(visible), 2), keys: fixed(all * all / square, 1) });
    return `${text} ${all - square < 1e-3 ? WORDS.row.pinned : WORDS.row.alive}`;
  }

  /** @param {any} cost */
  function drawBill(cost) {
    billSection.hidden = !cost;
    if (!cost) return;
    const layouts = Object.entries(WORDS.row.layouts).filter(([name]) => cost[name]), bytes = (/** @type {string} */ name) => cost[name].cache_bytes_per_token.float16;
    const top = Math.max(...layouts.map(([name]) => bytes(name)));
    write(byId("billed"), cost.request.heads > 1 ? WORDS.row.billed : sayText(WORDS.row.single, { bytes: amount(bytes("request")) }));
    bill.hidden = cost.request.heads < 2;
    fill(bill, ...layouts.map(([name, word]) => {
      const fillBar = el("span", { class: "fill ink" });
      fillBar.style.width = `${(bytes(name) / top) * 100}%`;
      return el("li", {}, el("span", { class: "name" }, word), el("span", { class: "track" }, fillBar), el("span", { class: "num" }, amount(bytes(name))));
    }));
    write(byId("flops"), sayText(WORDS.row.flops, { flops: amount(cost.request.flops.total) }));
  }

  /** @param {Model} model @returns {string} */
  function checked(model) {
    if (model.offline) return WORDS.check.alone;
    if (!model.own) return sayText(WORDS.check.unable, { what: model.unable });
    if (model.apart === null) return model.problem ? "" : WORDS.check.waiting;
    return model.apart === 0 ? WORDS.check.exact : sayText(WORDS.check.same, { difference: model.apart.toExponential(1).replace("-", "\u2212") });
  }

  /** @param {any} readout  of the reply, for the batch that is looked at */
  function drawReadout(readout) {
    readoutSection.hidden = !Array.isArray(readout);
    if (!Array.isArray(readout)) return;
    fill(byId("readout"), ...readout.slice(0, BARS).map(({ token, probability }) => {
      const fillBar = el("span", { class: "fill" });
      fillBar.style.width = `${probability * 100}%`;
      fillBar.style.background = share(probability).back;
      return el("li", {}, el("span", { class: "name", title: token }, String(token)), el("span", { class: "track" }, fillBar), el("span", { class: "num" }, fixed(probability)));
    }));
  }

  return {
    /** @param {Model} model @param {Slice} slice @param {State} state */
    update(model, slice, state) {
      const { labels } = /** @type {Chain} */ (model.chain);
      write(title, sayText(WORDS.row.title, { query: labels.query[state.query] }));
      drawBars(slice, labels.key, state.query, state.key);
      write(sharp, slice.steps.exp ? sharpness(slice, state.query) : WORDS.linear.lead);
      drawBill(model.answer?.json?.cost);
      const readout = model.answer?.json?.readout;
      drawReadout(Array.isArray(readout?.[0]) ? readout[state.batch] : readout);
      write(check, checked(model));
      dress(check, { "data-apart": model.apart });
    },
  };
}
