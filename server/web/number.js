// Numbers as the page shows them: a true minus sign, a fixed count of decimals, equations that are true as they stand.

/** @param {string} text */
const withMinus = (text) => text.replace("-", "\u2212");

/**
 * @param {number | null | undefined} x
 * @param {number} [decimals]
 * @returns {string}
 */
export function fixed(x, decimals = 3) {
  if (x === null || x === undefined) return "\u2212\u221e";
  if (!Number.isFinite(x)) return x > 0 ? "\u221e" : "\u2212\u221e";
  const size = Math.abs(x);
  if (size >= 1e6 || (size > 0 && size < 0.5 * 10 ** -decimals && decimals > 3)) return withMinus(x.toExponential(2));
  const text = x.toFixed(decimals);
  return withMinus(Number(text) === 0 ? text.replace("-", "") : text);
}

/** A number somebody typed: as short as it is, at most three decimals. @param {number} x @returns {string} */
export function short(x) {
  const text = String(x);
  return text.length <= 6 ? withMinus(text) : fixed(x);
}

/** @param {number} x @returns {string} a size in bytes or the like, in words */
export function amount(x) {
  const units = ["", " k", " M", " G", " T", " P"];
  let i = 0;
  while (x >= 1000 && i < units.length - 1) { x /= 1000; i++; }
  return (i && x < 100 ? x.toPrecision(3) : String(Math.round(x))) + units[i];
}

/**
 * How many decimals, 3 to 6, make the equations true as they are printed, and with which sign they may be written.
 * @param {...[(round: (x: number) => number) => number, number]} claims  a left side, computed from rounded terms, and what it is said to be
 * @returns {{decimals: number, sign: string}}
 */
export function honest(...claims) {
  for (let decimals = 3; decimals <= 6; decimals++) {
    const round = (/** @type {number} */ x) => Number(x.toFixed(decimals));
    if (claims.every(([left, right]) => left(round).toFixed(decimals) === right.toFixed(decimals))) return { decimals, sign: "=" };
  }
  return { decimals: 3, sign: "\u2248" };
}

/** What a reader means by a typed number; a comma may stand for the point. @param {string} text @returns {number | null} */
export function parse(text) {
  const plain = text.trim().replace("\u2212", "-").replace(",", ".");
  if (!/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(plain)) return null;
  const x = Number(plain);
  return Number.isFinite(x) ? x : null;
}
