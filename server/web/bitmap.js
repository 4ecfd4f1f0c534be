// Matrices as small pictures on a canvas: thumbnails, and what is too large for a table.
import { move } from "./matrix.js";
import { el } from "./dom.js";

/** @param {HTMLElement} near @param {string} name */
const token = (near, name) => getComputedStyle(near).getPropertyValue(name).trim();

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Picture} picture
 * @param {number} width  CSS pixels
 * @param {number} height
 * @param {number} [gap]
 */
export function paintBitmap(canvas, picture, width, height, gap = 1) {
  const sharp = Math.min(3, devicePixelRatio || 1), context = canvas.getContext("2d");
  canvas.width = Math.round(width * sharp);
  canvas.height = Math.round(height * sharp);
  if (!context) return;
  context.scale(sharp, sharp);
  const line = token(document.documentElement, "--line");
  const rows = picture.values.length, cols = picture.values[0].length, w = width / cols, h = height / rows;
  const between = Math.min(gap, w / 5, h / 5);
  picture.values.forEach((row, i) => row.forEach((x, j) => {
    context.fillStyle = x === null || picture.hatched?.[i][j] ? line : picture.paint(x).back;
    context.fillRect(j * w, i * h, w - between, h - between);
  }));
}

/**
 * A matrix of more cells than a table should have.
 * @param {string} name
 * @param {Listener} listener
 */
export function makeBitmap(name, listener) {
  const canvas = el("canvas", { tabindex: 0, role: "img", class: "bitmap" });
  let rows = 1, cols = 1, size = 1, here = { i: 0, j: 0 };
  /** @type {Picture | null} */
  let painted = null;

  /** @param {PointerEvent | MouseEvent} event @returns {[number, number]} */
  function at(event) {
    const box = canvas.getBoundingClientRect();
    const part = (/** @type {number} */ x, /** @type {number} */ all, /** @type {number} */ count) => Math.min(count - 1, Math.max(0, Math.floor((x / all) * count)));
    return [part(event.clientY - box.top, box.height, rows), part(event.clientX - box.left, box.width, cols)];
  }

  canvas.addEventListener("pointermove", (event) => { if (event.pointerType === "mouse") listener.onHover?.(...at(event)); });
  canvas.addEventListener("pointerleave", () => listener.onLeave?.());
  canvas.addEventListener("click", (event) => listener.onAct?.(...at(event), "press"));
  canvas.addEventListener("keydown", (event) => {
    const next = move(event, here.i, here.j, rows, cols);
    if (next) { here = { i: next[0], j: next[1] }; listener.onSelect(...next); }
    else if (event.key === "Enter") listener.onAct?.(here.i, here.j, "pin");
    else if (event.key === " ") listener.onAct?.(here.i, here.j, "toggle");
    else if (event.key === "Escape") listener.onEscape?.();
    else return;
    event.preventDefault();
  });

  /** @param {number} i @param {number} j */
  function ring(i, j) {
    const context = canvas.getContext("2d");
    if (!context) return;
    const w = size * cols / cols, colour = token(document.documentElement, "--focus");
    context.lineWidth = 2;
    context.strokeStyle = colour;
    context.strokeRect(j * w - 1, i * w - 1, w + 1, w + 1);
  }

  return {
    node: canvas,
    /** @param {Picture} picture @param {Mark} place @param {number} width */
    update(picture, place, width) {
      rows = picture.values.length;
      cols = picture.values[0].length;
      size = Math.max(3, Math.min(16, Math.floor(width / cols)));
      here = place;
      canvas.style.width = `${size * cols}px`;
      canvas.style.height = `${size * rows}px`;
      paintBitmap(canvas, picture, size * cols, size * rows, size > 5 ? 1 : 0);
      ring(place.i, place.j);
      painted = picture;
      canvas.setAttribute("aria-label", `${name}: ${rows} \u00d7 ${cols}`);
    },
    repaint() { if (painted) { paintBitmap(canvas, painted, size * cols, size * rows, size > 5 ? 1 : 0); ring(here.i, here.j); } },
  };
}
