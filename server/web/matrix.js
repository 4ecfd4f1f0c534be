// A matrix as a real table that the keyboard walks: one Tab stop, arrows inside (the grid pattern of the ARIA practices).
import { dress, el, write } from "./dom.js";
import { fixed } from "./number.js";
import { cellText } from "./picture.js";

/** Where a key leads in a grid; null: nowhere. @param {KeyboardEvent} event @param {number} i @param {number} j @param {number} rows @param {number} cols @returns {[number, number] | null} */
export function move(event, i, j, rows, cols) {
  const all = event.ctrlKey || event.metaKey;
  switch (event.key) {
    case "ArrowUp": return [Math.max(0, i - 1), j];
    case "ArrowDown": return [Math.min(rows - 1, i + 1), j];
    case "ArrowLeft": return [i, Math.max(0, j - 1)];
    case "ArrowRight": return [i, Math.min(cols - 1, j + 1)];
    case "Home": return [all ? 0 : i, 0];
    case "End": return [all ? rows - 1 : i, cols - 1];
    default: return null;
  }
}

/**
 * @param {string} name  of the matrix, for those who listen
 * @param {Listener} listener
 */
export function makeMatrix(name, listener) {
  const head = el("thead"), body = el("tbody");
  const node = el("table", { role: "grid", "aria-label": name, class: "matrix num" }, head, body);
  /** @type {HTMLTableCellElement[][]} */
  let cells = [];
  /** @type {Record<"lead" | "side" | "foot", HTMLTableCellElement[]>} */
  let strips = { lead: [], side: [], foot: [] };
  let shape = "";
  /** @type {Mark} */
  let place = { i: 0, j: 0 };

  /** @param {EventTarget | null} target @returns {[number, number] | null} */
  function at(target) {
    const cell = target instanceof Element ? target.closest("[data-at]") : null;
    const text = cell instanceof HTMLElement ? cell.dataset.at : undefined;
    return text ? /** @type {[number, number]} */ (text.split(" ").map(Number)) : null;
  }

  /** @param {Picture} picture */
  function build(picture) {
    const { rows, cols, lead, side, foot } = picture;
    const corner = el("th", { class: "corner", scope: "col" }, el("span", {}, `${picture.rowAxis} \u2193`), el("span", {}, `${picture.colAxis} \u2192`));
    const title = (/** @type {Strip | null} */ strip) => strip && el("th", { scope: "col", class: "strip", role: "columnheader" }, strip.label);
    head.replaceChildren(el("tr", { role: "row" }, corner, title(lead), ...cols.map((col) => el("th", { scope: "col", role: "columnheader", title: col }, el("span", {}, col))), title(side)));
    const more = () => el("td", { class: "strip", role: "gridcell" }, el("span"));
    strips = { lead: lead ? rows.map(more) : [], side: side ? rows.map(more) : [], foot: foot ? cols.map(more) : [] };
    cells = rows.map((_, i) => cols.map((_, j) => el("td", { role: "gridcell", "data-at": `${i} ${j}`, tabindex: -1, "aria-rowindex": i + 2, "aria-colindex": j + 2 }, el("span"))));
    body.replaceChildren(...rows.map((row, i) => el("tr", { role: "row", "aria-rowindex": i + 2 }, el("th", { scope: "row", role: "rowheader", title: row }, row), strips.lead[i], ...cells[i], strips.side[i])));
    if (foot) body.append(el("tr", { role: "row", class: "foot" }, el("th", { scope: "row", role: "rowheader", title: foot.label }, foot.label), lead && el("td", { role: "gridcell" }), ...strips.foot));
    node.classList.toggle("still", rows.length * cols.length > 36);
    dress(node, { "aria-rowcount": rows.length + 1, "aria-colcount": cols.length + 1 });
  }

  /** @param {Strip | null} strip @param {HTMLTableCellElement[]} nodes @param {number} decimals */
  function drawStrip(strip, nodes, decimals) {
    strip?.values.forEach((x, at) => {
      const hidden = strip.hidden?.[at] ?? false, paint = x !== null && !hidden && strip.paint?.(x);
      nodes[at].classList.toggle("hidden-cell", hidden);
      nodes[at].style.background = paint ? paint.back : "";
      nodes[at].style.color = paint ? paint.front : "";
      write(/** @type {Element} */ (nodes[at].firstChild), hidden ? "0" : fixed(x, decimals));
    });
  }

  /** @param {Picture} picture @param {number} decimals */
  function draw(picture, decimals) {
    cells.forEach((row, i) => row.forEach((cell, j) => {
      const x = picture.values[i][j], hatched = picture.hatched?.[i][j] ?? false, plain = !hatched && x !== null;
      const paint = plain ? picture.paint(x) : null;
      cell.style.background = paint ? paint.back : "";
      cell.style.color = paint ? paint.front : "";
      cell.classList.toggle("hidden-cell", !plain);
      cell.classList.toggle("marked", picture.marked?.[i][j] ?? false);
      write(/** @type {Element} */ (cell.firstChild), decimals ? cellText(picture, i, j, decimals) : plain ? "" : "\u00d7");
      if (!decimals) cell.setAttribute("aria-label", cellText(picture, i, j));
      else cell.removeAttribute("aria-label");
    }));
    drawStrip(picture.lead, strips.lead, decimals || 2);
    drawStrip(picture.side, strips.side, decimals || 2);
    drawStrip(picture.foot, strips.foot, decimals || 2);
  }

  /** The ring, the Tab stop, and the headers that belong to them. @param {Mark} next */
  function mark(next) {
    const old = cells[place.i]?.[place.j];
    old?.classList.remove("at", "pinned");
    old?.setAttribute("tabindex", "-1");
    old?.removeAttribute("aria-selected");
    const cell = cells[next.i]?.[next.j];
    cell?.classList.add("at");
    cell?.classList.toggle("pinned", next.pinned ?? false);
    (cell ?? cells[0]?.[0])?.setAttribute("tabindex", "0");
    cell?.setAttribute("aria-selected", "true");
    node.querySelectorAll("th.on").forEach((th) => th.classList.remove("on"));
    body.rows[next.i]?.cells[0].classList.add("on");
    head.rows[0]?.cells[next.j + 1 + (strips.lead.length ? 1 : 0)]?.classList.add("on");
    place = next;
  }

  node.addEventListener("keydown", (event) => {
    const here = at(event.target);
    if (!here) return;
    const next = move(event, here[0], here[1], cells.length, cells[0].length);
    if (next && !event.altKey) { listener.onSelect(...next); cells[next[0]]?.[next[1]]?.focus(); }
    else if (event.key === "Enter") listener.onAct?.(...here, "pin");
    else if (event.key === " ") listener.onAct?.(...here, "toggle");
    else if (event.key === "Escape") listener.onEscape?.();
    else return;
    event.preventDefault();
  });
  node.addEventListener("click", (event) => {
    const here = at(event.target);
    if (!here) return;
    const same = here[0] === place.i && here[1] === place.j;
    cells[here[0]][here[1]].focus();
    if (same || matchMedia("(hover: hover)").matches) listener.onAct?.(...here, "press");
    else listener.onSelect(...here);
  });
  node.addEventListener("pointerover", (event) => {
    const here = event.pointerType === "mouse" && at(event.target);
    if (here) listener.onHover?.(...here);
  });
  node.addEventListener("pointerleave", () => listener.onLeave?.());

  return {
    node,
    /** Room for each cell. Labels that are wider than that lean. @param {string[]} cols @param {number} cell @param {number} tall @param {number} type  all in pixels */
    size(cols, cell, tall, type) {
      const wide = 0.52 * Math.min(15, type) * Math.min(16, Math.max(...cols.map((col) => col.length)));
      node.classList.toggle("leaning", wide > cell + 4);
      Object.entries({ cell, tall, type, lean: Math.round(0.71 * wide + 20) }).forEach(([name, x]) => node.style.setProperty(`--${name}`, `${x}px`));
    },
    /** @param {Picture} picture @param {Mark} next */
    update(picture, next) {
      const { rows, cols, lead, side, foot } = picture;
      const now = JSON.stringify([rows, cols, picture.rowAxis, picture.colAxis, lead?.label, side?.label, foot?.label]);
      const focused = node.contains(document.activeElement);
      if (now !== shape) { build(picture); place = { i: 0, j: 0 }; }
      draw(picture, next.decimals ?? 3);
      mark(next);
      if (now !== shape && focused) cells[next.i]?.[next.j]?.focus();
      shape = now;
    },
    /** @param {number} i @param {number} j */
    focus(i, j) { cells[i]?.[j]?.focus(); },
  };
}
