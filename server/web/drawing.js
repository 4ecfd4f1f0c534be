// The matrix on the stage as an SVG document, for a slide or a text; a PNG is the same, painted.
import { cellText } from "./picture.js";

const SVG = "http://www.w3.org/2000/svg";

/** @param {string} tag @param {Record<string, string | number>} attributes @param {string} [text] */
function node(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/**
 * @param {Picture} picture  painted for paper
 * @param {string} title
 * @returns {{text: string, width: number, height: number}}
 */
export function drawSvg(picture, title) {
  const { rows, cols, values } = picture, cell = cols.length > 24 ? 24 : 76, tall = cols.length > 24 ? 24 : 52, label = 16 + 8 * Math.min(16, Math.max(4, ...rows.map((row) => row.length)));
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
    row.forEach((value, j) => {
      const x = 16 + label + j * (cell + 4), hatched = value === null || picture.hatched?.[i][j], paint = hatched ? { back: "url(#hatch)", front: "#6f6b64" } : picture.paint(value);
      root.append(node("rect", { x, y, width: cell, height: tall, rx: 6, fill: paint.back, ...(hatched ? { stroke: "#e4e0d8" } : {}) }));
      if (cell > 24) root.append(node("text", { x: x + cell / 2, y: y + tall / 2 + 5, "font-size": 15, "text-anchor": "middle", fill: paint.front }, cellText(picture, i, j)));
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
