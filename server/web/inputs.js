// The numbers that go in, as grids of fields: one Tab stop each, arrows move, Enter or F2 edits, Escape takes back, Alt with arrows nudges.
import { el, fill, write, dress } from "./dom.js";
import { hasOwnColumns, isEven, matrixOf, rankOf, withColumns, withNumber, withRows, withToken } from "./edit.js";
import { move } from "./matrix.js";
import { parse } from "./number.js";
import { WORDS, sayText } from "./words.js";

const NAMES = ["q", "k", "v", "x", "context", "w_q", "w_k", "w_v", "w_o"];
/** Larger matrices are changed as JSON. */
const MOST = 400;

/** @param {string} name @returns {"query" | "key" | null} */
const sideOf = (name) => (name === "q" || name === "x" ? "query" : name === "k" || name === "v" || name === "context" ? "key" : null);

/** @param {Store} store @param {string} name */
function makeEditor(store, name) {
  const title = WORDS.inputs[/** @type {"q"} */ (name)], body = el("tbody"), message = el("p", { class: "refusal", role: "status" });
  const grid = el("table", { role: "grid", "aria-label": title, class: "editor num" }, body);
  const button = (/** @type {string} */ sign, /** @type {string} */ label, /** @type {() => void} */ act) => el("button", { type: "button", class: "tiny", "aria-label": sayText(label, { name: title }), title: sayText(label, { name: title }), onclick: act }, sign);
  const fewer = button("\u2212", WORDS.inputs.drop, () => rows(-1)), more = button("+", WORDS.inputs.add, () => rows(1));
  const slimmer = button("\u2212", WORDS.inputs.narrower, () => columns(-1)), wider = button("+", WORDS.inputs.wider, () => columns(1));
  const heading = el("h2", {}, title), sizes = el("div", { class: "sizes" }, el("span", {}, WORDS.inputs.rows), fewer, more), widths = el("div", { class: "sizes" }, el("span", {}, WORDS.inputs.columns), slimmer, wider);
  const node = el("section", { class: "input", id: `input-${name}` }, el("div", { class: "sizing" }, heading, sizes, widths), grid, message);
  /** @type {HTMLInputElement[][]} */
  let fields = [];
  /** @type {HTMLInputElement[]} */
  let names = [];
  let shape = "", heads = "", at = [0, 0], spot = { batch: 0, head: 0, group: 1 };
  /** @type {Chain | null} */
  let chain = null;

  const request = () => store.get().request;
  const labels = () => chain?.labels ?? { query: [], key: [] };
  const commit = (/** @type {object} */ next, /** @type {"commit" | "draft"} */ how = "commit") => store.set({ request: next, title: "" }, how);
  const rows = (/** @type {number} */ by) => commit(withRows(request(), labels(), name, by));
  const columns = (/** @type {number} */ by) => commit(withColumns(request(), name, by));

  /** @param {HTMLInputElement} field @param {number} i @param {number} j @returns {boolean} */
  function take(field, i, j) {
    const x = parse(field.value), old = matrixOf(request(), name, spot)[i]?.[j];
    dress(field, { "aria-invalid": x === null ? "true" : null });
    write(message, x === null ? WORDS.inputs.number : "");
    if (x !== null && x !== old) commit(withNumber(request(), name, spot, i, j, x));
    return x !== null;
  }

  /** @param {HTMLInputElement} field @param {boolean} editing */
  function edit(field, editing) {
    field.readOnly = !editing;
    if (editing) field.select();
  }

  /** @param {number} i @param {number} j */
  function go(i, j) {
    fields[at[0]]?.[at[1]]?.setAttribute("tabindex", "-1");
    at = [i, j];
    fields[i]?.[j]?.setAttribute("tabindex", "0");
    fields[i]?.[j]?.focus();
  }

  /** @param {KeyboardEvent} event @param {HTMLInputElement} field @param {number} i @param {number} j @returns {boolean} handled */
  function press(event, field, i, j) {
    if (event.altKey && (event.key === "ArrowUp" || event.key === "ArrowDown")) return nudge(field, i, j, event.key === "ArrowUp" ? 0.1 : -0.1);
    if (event.key === "Escape" && !field.readOnly) { reset(field, i, j); return true; }
    if (event.key === "Enter" && !field.readOnly) {
      if (take(field, i, j)) { edit(field, false); go(Math.min(fields.length - 1, i + 1), j); }
      return true;
    }
    if (!field.readOnly) return false;
    if (event.key === "Enter" || event.key === "F2") { edit(field, true); return true; }
    if (/^[-+.,\d]$/.test(event.key) && !event.ctrlKey && !event.metaKey) { edit(field, true); field.value = ""; return false; }
    const next = move(event, i, j, fields.length, fields[0].length);
    if (next) go(...next);
    return next !== null;
  }

  /** @param {HTMLInputElement} field @param {number} i @param {number} j */
  function reset(field, i, j) {
    field.value = String(matrixOf(request(), name, spot)[i][j]);
    dress(field, { "aria-invalid": null });
    write(message, "");
    edit(field, false);
  }

  /** @param {HTMLInputElement} field @param {number} i @param {number} j @param {number} by */
  function nudge(field, i, j, by) {
    const x = Number((matrixOf(request(), name, spot)[i][j] + by).toFixed(10));
    field.value = String(x);
    commit(withNumber(request(), name, spot, i, j, x), "draft");
    return true;
  }

  /** @param {number} i @param {number} j */
  function makeField(i, j) {
    const field = el("input", { inputmode: "decimal", autocomplete: "off", spellcheck: "false", readonly: true, tabindex: -1,
      onpointerdown: () => edit(field, true), onfocus: () => { at = [i, j]; fields.flat().forEach((other) => dress(other, { tabindex: other === field ? 0 : -1 })); },
      onblur: () => { if (!field.readOnly && !take(field, i, j)) reset(field, i, j); edit(field, false); }, onkeydown: (/** @type {KeyboardEvent} */ event) => { if (press(event, field, i, j)) event.preventDefault(); },
      onkeyup: (/** @type {KeyboardEvent} */ event) => { if (event.key === "Alt") commit(request()); } });
    return field;
  }

  /** @param {number} i @param {string} label @param {boolean} own */
  function makeName(i, label, own) {
    if (!own) return el("span", { title: label }, label);
    const field = el("input", { class: "token", value: label, maxlength: 40, spellcheck: "false", autocomplete: "off", "aria-label": sayText(WORDS.inputs.token, { row: i + 1, name: title }),
      onchange: () => commit(withToken(request(), labels(), /** @type {"query"} */ (sideOf(name)), i + offset(), field.value)) });
    names[i] = field;
    return field;
  }

  /** Keys that came with the past stand before those of this request. */
  const offset = () => (sideOf(name) === "key" ? labels().key.length - fields.length : 0);

  /** @param {number[][]} matrix */
  function build(matrix) {
    names = [];
    fields = matrix.map((row, i) => row.map((_, j) => makeField(i, j)));
    body.replaceChildren(...fields.map((row, i) => el("tr", { role: "row" }, el("th", { scope: "row", role: "rowheader" }, makeName(i, rowName(i), name !== "v" && sideOf(name) !== null)),
      ...row.map((field) => el("td", { role: "gridcell" }, field)))));
    at = [Math.min(at[0], fields.length - 1), Math.min(at[1], fields[0].length - 1)];
    fields[at[0]][at[1]].setAttribute("tabindex", "0");
  }

  /** @param {number} i @returns {string} */
  function rowName(i) {
    const side = sideOf(name);
    return side ? (labels()[side][i + offset()] ?? "") : String(i + 1);
  }

  return {
    name, node,
    /** @param {State} state @param {Chain | null} now */
    update(state, now) {
      chain = now;
      spot = { batch: state.batch, head: state.head, group: now ? now.shape.heads / now.shape.kvHeads : 1 };
      const matrix = matrixOf(state.request, name, spot), large = matrix.length * matrix[0].length > MOST;
      grid.hidden = large;
      heads = now && now.shape.heads > 1 && "qkv".includes(name) ? ` \u00b7 ${sayText(WORDS.inputs.head, { head: name === "q" ? spot.head : Math.floor(spot.head / spot.group) })}` : "";
      write(heading, title + heads);
      if (large) { write(message, sayText(WORDS.inputs.large, { rows: matrix.length, columns: matrix[0].length })); fields = []; shape = ""; return; }
      const rows = matrix.map((row) => row.length).join();
      if (rows !== shape) build(matrix);
      shape = rows;
      fields.forEach((row, i) => row.forEach((field, j) => {
        if (field !== document.activeElement || field.readOnly) field.value = String(matrix[i][j]);
        dress(field, { "aria-label": sayText(WORDS.inputs.cell, { name: title, row: rowName(i), column: j + 1 }) });
      }));
      names.forEach((field, i) => { if (field !== document.activeElement) field.value = rowName(i); });
      body.querySelectorAll("th > span").forEach((span, i) => write(span, rowName(i)));
      sizes.hidden = sideOf(name) === null || name === "v" || rankOf(state.request.past?.k) > 0;
      widths.hidden = !hasOwnColumns(state.request, name) || name === "k";
      dress(fewer, { disabled: matrix.length < 2 });
      dress(slimmer, { disabled: matrix[0].length < 2 });
    },
    /** The row that the focused cell is made of. @param {number} i  -1: none @param {string} kind */
    light(i, kind) { [...body.rows].forEach((row, at) => { row.className = at === i - offset() ? `lit ${kind}` : ""; }); },
    /** @param {string} text @param {number[]} [place] */
    refuse(text, place) {
      write(message, text);
      fields.flat().forEach((field) => dress(field, { "aria-invalid": null }));
      if (place?.length) (place.length > 1 ? [fields[place[0]]?.[place[1]]] : fields[place[0]] ?? []).forEach((field) => field && dress(field, { "aria-invalid": "true" }));
    },
    /** @param {number} i @param {number} j */
    focus(i, j) { go(i - offset(), j); },
  };
}

/** @param {Store} store @param {HTMLElement} place */
export function makeInputs(store, place) {
  /** @type {ReturnType<typeof makeEditor>[]} */
  let editors = [];
  const others = el("p", { class: "quiet" });
  const usual = new Set([...NAMES, "tokens", "mask", "scale", "include", "heads"]);

  return {
    /** @param {State} state @param {Chain | null} chain */
    update(state, chain) {
      const { request } = state, present = NAMES.filter((name) => isEven(request[name]));
      if (present.join() !== editors.map((editor) => editor.name).join()) {
        editors = present.map((name) => makeEditor(store, name));
        fill(place, ...editors.map((editor) => editor.node), others);
      }
      for (const editor of editors) editor.update(state, chain);
      const rest = Object.keys(request).filter((name) => !usual.has(name));
      write(others, rest.length ? sayText(WORDS.inputs.other, { names: rest.join(", ") }) : "");
    },
    /** @param {Record<string, [number, string]>} rows  by member: the row and its kind */
    light(rows) { for (const editor of editors) editor.light(...(rows[editor.name] ?? /** @type {[number, string]} */ ([-1, ""]))); },
    /** A refusal at the member it speaks of. @param {string} pointer @param {string} text @returns {boolean} it has its place here */
    refuse(pointer, text) {
      const [, name, ...rest] = pointer.split("/");
      for (const editor of editors) editor.refuse(editor.name === name ? text : "", rest.map(Number).filter((x) => !Number.isNaN(x)));
      return editors.some((editor) => editor.name === name);
    },
    /** @param {string} name @param {number} i @param {number} j */
    focus(name, i, j) { editors.find((editor) => editor.name === name)?.focus(i, j); },
  };
}
