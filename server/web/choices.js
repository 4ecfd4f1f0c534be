// Mask, scale and temperature: presets to press, a mask to draw on, a slider that sharpens.
import { dress, el, fill, write } from "./dom.js";
import { presetOf, withCellToggled, withPreset } from "./edit.js";
import { move } from "./matrix.js";
import { parse } from "./number.js";
import { withMember } from "./state.js";
import { WORDS, sayText } from "./words.js";

/**
 * @typedef {import("./edit.js").Preset} Preset
 */

/** The largest mask to draw on here; the large matrix takes clicks for the others. */
const MOST = 16;

/**
 * Buttons of which one is pressed.
 * @param {string} name @param {[string, string][]} options value and word @param {(value: string) => void} choose
 */
export function makeSegments(name, options, choose) {
  const buttons = options.map(([value, word]) => el("button", { type: "button", "data-value": value, "aria-pressed": "false", onclick: () => choose(value) }, word));
  return {
    node: el("div", { class: "segments", role: "group", "aria-label": name }, ...buttons),
    /** @param {string} value */
    press(value) { for (const button of buttons) dress(button, { "aria-pressed": String(button.dataset.value === value) }); },
  };
}

/** @param {string} label @param {(x: number | null) => void} take  null: emptied */
function numberField(label, take) {
  const field = el("input", { inputmode: "decimal", autocomplete: "off", class: "own num", onchange: () => {
    const x = field.value.trim() === "" ? null : parse(field.value);
    dress(field, { "aria-invalid": x === null && field.value.trim() !== "" ? "true" : null });
    if (x !== null || field.value.trim() === "") take(x);
  } });
  return { node: el("label", {}, el("span", {}, label), field), field };
}

/** @param {Store} store */
function makeMaskGrid(store) {
  const body = el("tbody"), node = el("table", { role: "grid", "aria-label": "Mask", class: "maskgrid" }, body);
  /** @type {boolean[][]} */
  let allowed = [];
  let shape = "", at = [0, 0];
  const cell = (/** @type {number} */ i, /** @type {number} */ j) => /** @type {HTMLElement | undefined} */ (body.rows[i]?.cells[j]);
  const toggle = (/** @type {number} */ i, /** @type {number} */ j) => store.set({ request: withCellToggled(store.get().request, allowed, i, j), title: "" }, "commit");

  /** @param {number} i @param {number} j */
  function go(i, j) {
    cell(at[0], at[1])?.setAttribute("tabindex", "-1");
    at = [i, j];
    cell(i, j)?.setAttribute("tabindex", "0");
    cell(i, j)?.focus();
  }

  /** @param {KeyboardEvent} event @param {number} i @param {number} j */
  function press(event, i, j) {
    const next = move(event, i, j, allowed.length, allowed[0].length);
    if (next) go(...next);
    else if (event.key === " " || event.key === "Enter") toggle(i, j);
    else return;
    event.preventDefault();
  }

  return {
    node,
    /** @param {boolean[][]} now @param {{query: string[], key: string[]}} labels */
    update(now, labels) {
      allowed = now;
      node.hidden = now.length > MOST || now[0].length > MOST;
      if (node.hidden) return;
      const next = `${now.length} ${now[0].length}`;
      if (next !== shape) {
        at = [0, 0];
        body.replaceChildren(...now.map((row, i) => el("tr", { role: "row" }, ...row.map((_, j) => el("td", { role: "gridcell", tabindex: i + j ? -1 : 0, onclick: () => { go(i, j); toggle(i, j); }, onkeydown: (/** @type {KeyboardEvent} */ event) => press(event, i, j) })))));
      }
      shape = next;
      now.forEach((row, i) => row.forEach((sees, j) => {
        const target = /** @type {HTMLElement} */ (cell(i, j));
        target.className = sees ? "sees" : "";
        dress(target, { "aria-label": sayText(sees ? WORDS.mask.visible : WORDS.mask.hidden, { query: labels.query[i], key: labels.key[j] }) });
      }));
    },
  };
}

/** @param {Store} store @param {HTMLElement} place */
export function makeChoices(store, place) {
  const commit = (/** @type {object} */ request) => store.set({ request, title: "" }, "commit");
  const request = () => store.get().request;
  /** @type {boolean[][]} */
  let allowed = [];

  const presets = makeSegments("Mask", /** @type {Preset[]} */ (["none", "causal", "window", "prefix", "draw"]).map((name) => [name, WORDS.mask[name]]), (name) => commit(withPreset(request(), /** @type {Preset} */ (name), allowed)));
  const inMask = (/** @type {object} */ change) => commit({ ...request(), mask: { ...request().mask, ...change } });
  const count = (/** @type {number | null} */ x) => (x === null ? null : Math.max(0, Math.round(x)));
  const left = numberField(WORDS.mask.left, (x) => inMask({ window: { ...request().mask.window, left: count(x) } }));
  const right = numberField(WORDS.mask.right, (x) => inMask({ window: { ...request().mask.window, right: count(x) } }));
  const prefix = numberField(WORDS.mask.keys, (x) => inMask({ prefix: count(x) ?? 0 }));
  const windowFields = el("div", { class: "fields" }, left.node, right.node), prefixFields = el("div", { class: "fields" }, prefix.node);
  const drawn = makeMaskGrid(store), maskMessage = el("p", { class: "refusal", role: "status" });
  const zero = el("button", { type: "button", class: "plain", hidden: true, onclick: () => inMaskObject({ empty_rows: "zero" }) }, WORDS.mask.zero);
  const inMaskObject = (/** @type {object} */ change) => {
    const { mask } = request();
    commit({ ...request(), mask: { ...(mask === "causal" ? { causal: true } : typeof mask === "object" ? mask : {}), ...change } });
  };

  const scales = makeSegments("Scale", [["auto", WORDS.scale.auto], ["one", WORDS.scale.one], ["own", WORDS.scale.own]], (name) =>
    commit(withMember(request(), "scale", name === "auto" ? undefined : name === "one" ? 1 : 0.5)));
  const ownScale = numberField("scale", (x) => { if (x !== null) commit({ ...request(), scale: x }); });
  const scaleFields = el("div", { class: "fields" }, ownScale.node), scaleMessage = el("p", { class: "refusal", role: "status" });

  const slider = el("input", { type: "range", min: -1, max: 1, step: 0.01, id: "temperature", list: "temperatures", "aria-label": "Temperature" });
  const warmth = el("input", { inputmode: "decimal", class: "own num", "aria-label": "Temperature as a number" });
  /** @param {number} x @param {"draft" | "commit"} how */
  const warm = (x, how) => store.set({ temperature: Math.min(10, Math.max(0.1, Number(x.toPrecision(3)))) }, how);
  slider.addEventListener("input", () => warm(Math.abs(Number(slider.value)) < 0.03 ? 1 : 10 ** Number(slider.value), "draft"));
  slider.addEventListener("change", () => warm(store.get().temperature, "commit"));
  warmth.addEventListener("change", () => { const x = parse(warmth.value); if (x !== null && x > 0) warm(x, "commit"); });

  fill(place, el("section", { id: "input-mask" }, el("h2", {}, "Mask"), presets.node, windowFields, prefixFields, drawn.node, maskMessage, zero),
    el("section", { id: "input-scale" }, el("h2", {}, "Scale"), scales.node, scaleFields, scaleMessage),
    el("section", {}, el("h2", {}, "Temperature"), el("div", { class: "slider" }, slider, warmth)));

  return {
    /** @param {State} state @param {Slice | null} slice @param {{query: string[], key: string[]} | null} labels */
    update(state, slice, labels) {
      const preset = presetOf(state.request), { mask, scale } = state.request;
      presets.press(preset);
      windowFields.hidden = preset !== "window";
      prefixFields.hidden = preset !== "prefix";
      left.field.value = String(mask?.window?.left ?? "");
      right.field.value = String(mask?.window?.right ?? "");
      prefix.field.value = String(mask?.prefix ?? "");
      if (slice && labels) { allowed = slice.allowed; drawn.update(allowed, labels); }
      scales.press(scale === undefined ? "auto" : scale === 1 ? "one" : "own");
      scaleFields.hidden = scale === undefined || scale === 1;
      ownScale.field.value = String(scale ?? "");
      slider.value = String(Math.log10(state.temperature));
      if (document.activeElement !== warmth) warmth.value = String(state.temperature);
      dress(slider, { "aria-valuetext": String(state.temperature) });
    },
    /** @param {string} pointer @param {string} text @returns {boolean} */
    refuse(pointer, text) {
      const mask = pointer.startsWith("/mask"), scale = pointer.startsWith("/scale");
      write(maskMessage, mask ? text : "");
      zero.hidden = !(mask && text.includes("empty_rows"));
      write(scaleMessage, scale ? text : "");
      return mask || scale;
    },
  };
}
