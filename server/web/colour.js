// Colours of numbers: cividis for shares from 0 to 1, purple and orange around 0. Checked for the common colour blindnesses.

const SHARE = ["#00224e", "#123570", "#3b496c", "#575d6d", "#707173", "#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"].map(rgb);
const AROUND_LIGHT = ["#b35806", "#f1a340", "#fee0b6", "#f7f7f7", "#d8daeb", "#998ec3", "#542788"].map(rgb);
const AROUND_DARK = ["#ff9a1f", "#c9791f", "#6b4a22", "#2b2a28", "#4a4066", "#8073ac", "#b0a0ff"].map(rgb);

const dark = matchMedia("(prefers-color-scheme: dark)");

/** @param {() => void} listener  called when the system turns dark or light */
export const onTheme = (listener) => dark.addEventListener("change", listener);

/** @typedef {[number, number, number]} Rgb */
/** @typedef {{back: string, front: string}} Paint */

/** @param {string} hex @returns {Rgb} */
function rgb(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)).reduce((all, x) => [...all, x], /** @type {any} */ ([]));
}

/** @param {Rgb[]} stops @param {number} t  0 to 1 @returns {Rgb} */
function between(stops, t) {
  const place = Math.min(1, Math.max(0, t)) * (stops.length - 1);
  const i = Math.min(stops.length - 2, Math.floor(place));
  const part = place - i;
  const mix = (/** @type {number} */ c) => stops[i][c] + (stops[i + 1][c] - stops[i][c]) * part;
  return [mix(0), mix(1), mix(2)];
}

/** Relative luminance, WCAG 2. @param {Rgb} colour */
function luminance(colour) {
  const [r, g, b] = colour.map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** The text that is easier to read on a colour. @param {Rgb} colour @returns {Paint} */
function paint(colour) {
  const light = luminance(colour);
  const back = `rgb(${colour.map(Math.round).join(" ")})`;
  return { back, front: 1.05 / (light + 0.05) > (light + 0.05) / 0.05 ? "#fff" : "#000" };
}

/** A share of one. @param {number} x  0 to 1 @param {boolean} [logarithmic]  three decades @returns {Paint} */
export function share(x, logarithmic = false) {
  return paint(between(SHARE, logarithmic ? (x > 0 ? 1 + Math.log10(x) / 3 : 0) : x));
}

/**
 * A number around 0; `most` has the full colour.
 * @param {number} x @param {number} most @param {boolean} [logarithmic] @param {boolean} [onPaper]  always the light colours
 * @returns {Paint}
 */
export function around(x, most, logarithmic = false, onPaper = false) {
  let t = most > 0 ? x / most : 0;
  if (logarithmic && t !== 0) t = Math.sign(t) * Math.max(0, 1 + Math.log10(Math.abs(t)) / 3);
  return paint(between(dark.matches && !onPaper ? AROUND_DARK : AROUND_LIGHT, (t + 1) / 2));
}

/** The ramp as a CSS gradient, for a legend. @param {"share" | "around"} kind */
export function ramp(kind) {
  const stops = kind === "share" ? SHARE : dark.matches ? AROUND_DARK : AROUND_LIGHT;
  return `linear-gradient(90deg, ${stops.map((c) => `rgb(${c.join(" ")})`).join(", ")})`;
}
