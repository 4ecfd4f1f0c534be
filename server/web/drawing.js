// The matrix on the stage as an SVG document, for a slide or a text; a PNG is the same, painted.
import { fixed } from "./number.js";
import { cellText } from "./picture.js";

const SVG = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] */
function node(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** @typedef {{text: string, paint: Paint | null} | null} Drawn  a cell; without paint it is hatched */

/** @param {Strip | null} strip @param {number} at @returns {Drawn[]} */
function drawnStrip(strip, at) {
  if (!strip) return [];
  const x = strip.values[at], hidden = x === null || strip.hidden?.[at];
  return [{ text: hidden ? "0" : fixed(x), paint: hidden ? null : (strip.paint?.(x) ?? { back: "#fff", front: "#1d1c1a" }) }];
}

/** The matrix with what stands around it. @param {Picture} picture */
function whole(picture) {
  const { lead, side, foot, hatched } = picture;
  const values = picture.values.map((row, i) => [...drawnStrip(lead, i), ...row.map((x, j) => /** @type {Drawn} */ ({ text: cellText(picture, i, j), paint: x === null || hatched?.[i][j] ? null : picture.paint(x) })), ...drawnStrip(side, i)]);
  if (foot) values.push([...(lead ? [null] : []), ...foot.values.flatMap((_, j) => drawnStrip(foot, j))]);
  return { values, cols: [...(lead ? [lead.label] : []), ...picture.cols, ...(side ? [side.label] : [])], rows: [...picture.rows, ...(foot ? [foot.label] : [])] };
}

/**
 * @param {Picture} picture  painted for paper
 * @param {string} title
 * @returns {{text: string, width: number, height: number}}
 */
export function drawSvg(picture, title) {
  const { values, cols, rows } = whole(picture), cell = cols.length > 24 ? 24 : 76, tall = cols.length > 24 ? 24 : 52, label = 16 + 8 * Math.min(16, Math.max(4, ...rows.map((row) => row.length)));
  const width = 32 + label + cols.length * (cell + 4), height = 96 + rows.length * (tall + 4);
  const root = node("svg", { xmlns: SVG, viewBox: `0 0 ${width} ${height}`, width, height, "font-family": "Inter, system-ui, sans-serif", role: "img" });
  const hatch = node("pattern", { id: "hatch", width: 7, height: 7, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" });
  hatch.append(node("rect", { width: 7, height: 7, fill: "#fff" }), node("rect", { width: 1, height: 7, fill: "#d9d4ca" }));
  const defs = node("defs", {});
  defs.append(hatch);
  root.append(node("title", {}, title), defs, node("rect", { width, height, fill: "#fbfaf7" }), node("text", { x: 16, y: 36, "font-size": 20, "font-weight": 650, fill: "#1d1c1a" }, title));
  cols.forEach((col, j) => root.append(node("text", { x: 16 + label + j * (cell + 4) + cell / 2, y: 68, "font-size": 14, "text-anchor": "middle", fill: "#6f6b64" }, cell > 24 ? col : "")));
  values.forEach((row, i) => {
    const y = 80 + i * (tall + 4);
    root.append(node("text", { x: 6 + label, y: y + tall / 2 + 5, "font-size": 14, "text-anchor": "end", fill: "#6f6b64" }, rows[i]));
    row.forEach((one, j) => {
      const x = 16 + label + j * (cell + 4), hatched = one && !one.paint, { back, front } = one?.paint ?? { back: "url(#hatch)", front: "#6f6b64" };
      if (one) root.append(node("rect", { x, y, width: cell, height: tall, rx: 6, fill: back, ...(hatched || back === "#fff" ? { stroke: "#e4e0d8" } : {}) }));
      if (one && cell > 24) root.append(node("text", { x: x + cell / 2, y: y + tall / 2 + 5, "font-size": 15, "text-anchor": "middle", fill: front }, one.text));
    });
  });
  return { text: new XMLSerializer().serializeToString(root), width, height };
}

/** @param {{text: string, width: number, height: number}} svg @returns {Promise<Blob>} */
export async function paintPng({ text, width, height }) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * width;
  canvas.height = 2 * height;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
}
