// The colours of numbers, in light and in dark, as eyes see them that lack one kind of cone: simulated after Machado,
// Oliveira and Fernandes (2009), full severity; distances are CIE 1976. Usage: node colours.mjs (no browser, no service)
import { readFile } from "node:fs/promises";

const scheme = { matches: false, addEventListener() {} };
globalThis.matchMedia = () => scheme;
const source = await readFile(new URL("../../server/web/colour.js", import.meta.url), "utf8");
const { around, share } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

const EYES = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};
const XYZ = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]], WHITE = [0.95047, 1, 1.08883];

const times = (matrix, vector) => matrix.map((row) => row.reduce((sum, x, at) => sum + x * vector[at], 0));
const linear = (colour) => colour.match(/\d+/g).map((x) => (x / 255 <= 0.04045 ? x / 255 / 12.92 : ((x / 255 + 0.055) / 1.055) ** 2.4));
const root = (t) => (t > (6 / 29) ** 3 ? Math.cbrt(t) : t / (3 * (6 / 29) ** 2) + 4 / 29);
/** L*, a*, b* of a colour as an eye sees it. */
function seen(colour, eye) {
  const [x, y, z] = times(XYZ, times(EYES[eye], linear(colour)).map((part) => Math.min(1, Math.max(0, part)))).map((part, at) => root(part / WHITE[at]));
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}
const apart = (one, two, eye) => Math.hypot(...seen(one, eye).map((x, at) => x - seen(two, eye)[at]));
const luminance = (colour) => XYZ[1].reduce((sum, x, at) => sum + x * linear(colour)[at], 0);
const contrast = ({ back, front }) => { const light = luminance(back), text = front === "#fff" ? 1 : 0; return (Math.max(light, text) + 0.05) / (Math.min(light, text) + 0.05); };

let passed = 0, failed = 0;
function check(what, good, found) {
  if (good) passed++;
  else { failed++; console.log(`failed: ${what}: ${JSON.stringify(found)}`); }
}

for (const dark of [false, true]) {
  scheme.matches = dark;
  const name = dark ? "dark" : "light", figures = [];
  for (const eye of Object.keys(EYES)) {
    const pairs = [1, 2 / 3, 1 / 3].map((x) => apart(around(-x, 1).back, around(x, 1).back, eye));
    figures.push(`${eye} ${pairs.map((x) => x.toFixed(0)).join("/")}`);
    check(`${name}, ${eye}: minus and plus are apart, the more the larger they are`, pairs[0] > 55 && pairs[0] > pairs[1] && pairs[1] > 45 && pairs[2] > 15, pairs);
    const lightness = Array.from({ length: 21 }, (_, at) => seen(share(at / 20).back, eye)[0]);
    check(`${name}, ${eye}: a larger share is lighter`, lightness.every((x, at) => !at || x > lightness[at - 1]), lightness);
  }
  console.log(`${name}: minus and plus at full, two thirds and one third are apart by ${figures.join(", ")}`);
  const worst = Math.min(...Array.from({ length: 201 }, (_, at) => at / 100 - 1).flatMap((x) => [contrast(around(x, 1)), contrast(share(Math.abs(x)))]));
  check(`${name}: numbers can be read on every colour`, worst >= 4.5, worst);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
