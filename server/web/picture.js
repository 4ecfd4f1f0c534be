// What stands on the stage, as data: labels, numbers, hatching, colours. The grid, the canvas, SVG and CSV all draw from it.
import { around, share } from "./colour.js";
import { fixed, short } from "./number.js";
import { mixing } from "./steps.js";
import { WORDS } from "./words.js";

/** @param {(number | null)[][]} values @returns {number} */
export function most(values) {
  let top = 0;
  for (const row of values) for (const x of row) if (x !== null) top = Math.max(top, Math.abs(x));
  return top;
}

/** @param {string} letter @param {number} count */
export const places = (letter, count) => Array.from({ length: count }, (_, i) => letter + [...String(i + 1)].map((c) => "\u2080\u2081\u2082\u2083\u2084\u2085\u2086\u2087\u2088\u2089"[Number(c)]).join(""));

/** @param {number} x */
const brief = (x) => (Number.isInteger(x) ? fixed(x, 0) : fixed(x, Math.abs(x) < 10 ? 2 : 1));

/**
 * Numbers around 0, in the colours of a matrix of them.
 * @param {(number | null)[][]} values @param {Look} look @param {number} [top]  the number that has the full colour
 * @returns {Pick<Picture, "values" | "paint" | "legend" | "hatched" | "marked" | "lead" | "side" | "foot">}
 */
export function signed(values, look, top = most(values) || 1) {
  return { values, paint: (x) => around(x, top, look.log, look.onPaper), legend: { kind: "around", low: brief(-top), high: brief(top) }, hatched: null, marked: null, lead: null, side: null, foot: null };
}

/** Shares of one. @param {number[][]} values @param {Look} look @returns {ReturnType<typeof signed>} */
function shares(values, look) {
  const top = look.fitted ? most(values) || 1 : Math.max(1, most(values));
  const low = values.some((row) => row.some((x) => x < 0));
  return low ? signed(values, look)
    : { ...signed(values, look), paint: (x) => share(x / top, look.log), legend: { kind: "share", low: look.log ? brief(top / 1000) : "0", high: brief(top) } };
}

/** One of the n x m steps. @param {Step} step @param {Slice} slice @param {Labels} labels @param {Look} look @returns {Picture} */
function pairs(step, slice, labels, look) {
  const values = slice.steps[step.shows ?? step.id];
  const side = step.side ? { label: step.side === "row_sum" ? WORDS.stage.sum : WORDS.stage.largest, values: slice.steps[step.side] } : null;
  return {
    rows: labels.query, cols: labels.key, rowAxis: WORDS.axes.query, colAxis: WORDS.axes.key,
    ...(step.paint === "share" ? shares(values, look) : signed(values, look)),
    hatched: step.hides ? slice.allowed.map((row) => row.map((x) => !x)) : null,
    marked: step.id === "row_max" ? values.map((/** @type {(number | null)[]} */ row, /** @type {number} */ i) => row.map((x) => x !== null && x === slice.steps.row_max[i])) : null,
    side,
  };
}

/** What each key hands to one query. @param {Slice} slice @param {number} i @returns {number[][]} */
export const parts = (slice, i) => slice.v.map((row, j) => row.map((x) => (slice.allowed[i][j] || mixing(slice)[i][j] !== 0 ? mixing(slice)[i][j] * x : 0)));

/** The same added up key by key, for one feature. @param {Slice} slice @param {number} i @param {number} c @returns {number[]} */
export function soFar(slice, i, c) {
  let sum = 0;
  return parts(slice, i).map((row) => (sum += row[c]));
}

/** @param {Slice} slice @param {Labels} labels @param {Look} look @returns {Picture} */
function mixture(slice, labels, look) {
  const i = look.query, c = Math.min(look.feature ?? 0, slice.v[0].length - 1), weights = mixing(slice)[i], sums = soFar(slice, i, c), top = most([...parts(slice, i), slice.output[i], sums]) || 1;
  const paint = (/** @type {number} */ x) => around(x, top, look.log, look.onPaper);
  return {
    rows: labels.key, cols: places("v", slice.v[0].length), rowAxis: WORDS.axes.key, colAxis: WORDS.axes.feature,
    ...signed(parts(slice, i), look, top),
    hatched: slice.v.map((row, j) => row.map(() => !slice.allowed[i][j] && weights[j] === 0)),
    lead: { label: WORDS.stage.share, values: weights, hidden: slice.allowed[i].map((sees, j) => !sees && weights[j] === 0), paint: (x) => (x < 0 ? around(x, 1, look.log, look.onPaper) : share(x, look.log)) },
    side: { label: WORDS.stage.sofar, values: sums, paint },
    foot: { label: labels.query[i], values: slice.output[i], paint },
  };
}

/** A matrix with a row for each token. @param {(number | null)[][]} values @param {string[]} rows @param {string} letter @param {string} axis @param {Look} look @returns {Picture} */
export function table(values, rows, letter, axis, look) {
  return { exact: true, rows, cols: places(letter, values[0].length), rowAxis: axis, colAxis: WORDS.axes.feature, ...signed(values, look) };
}

/**
 * @param {Step} step
 * @param {Slice} slice
 * @param {number[][]} result  the rows of the output, after W_O where there is one
 * @param {Labels} labels
 * @param {Look} look
 * @returns {Picture}
 */
export function pictureOf(step, slice, result, labels, look) {
  if (step.view === "pairs") return pairs(step, slice, labels, look);
  if (step.view === "mix") return mixture(slice, labels, look);
  if (step.view === "output") return { ...table(result, labels.query, "o", WORDS.axes.query, look), exact: false };
  return table(slice.q, labels.query, "q", WORDS.axes.query, look);
}

/** The same with rows and columns changed over. @param {Picture} picture @returns {Picture} */
export function turned(picture) {
  /** @template T @param {T[][]} a @returns {T[][]} */
  const over = (a) => a[0].map((_, c) => a.map((row) => row[c]));
  return {
    ...picture, rows: picture.cols, cols: picture.rows, rowAxis: picture.colAxis, colAxis: picture.rowAxis, values: over(picture.values),
    hatched: picture.hatched && over(picture.hatched), marked: picture.marked && over(picture.marked), lead: picture.foot, side: null, foot: picture.lead ?? picture.side,
  };
}

/** What a cell says. @param {Picture} picture @param {number} i @param {number} j @param {number} [decimals] @returns {string} */
export function cellText(picture, i, j, decimals = 3) {
  const x = picture.values[i][j];
  if (x === null) return "\u2212\u221e";
  if (picture.exact) return String(x).length <= 4 ? short(x) : fixed(x, Math.min(2, decimals));
  return picture.hatched?.[i][j] && x === 0 ? "0" : fixed(x, decimals);
}
