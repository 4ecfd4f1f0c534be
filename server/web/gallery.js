// The gallery: worked examples, each with one sentence and a picture of its weights, computed here.
import { paintBitmap } from "./bitmap.js";
import { compute } from "./arithmetic.js";
import { byId, el, fill } from "./dom.js";
import { pictureOf } from "./picture.js";
import { PRESETS, SHELVES } from "./presets.js";
import { opened, warmed } from "./state.js";
import { stepsOf } from "./steps.js";

const LOOK = { log: false, fitted: false, query: 0 };

/** @param {HTMLCanvasElement} canvas @param {Example} example */
function thumbnail(canvas, example) {
  try {
    const request = example.request ?? {}, first = compute(request), chain = example.temperature ? compute(warmed(request, first.shape.dk, example.temperature)) : first, [slice] = chain.slices[0];
    const step = stepsOf(slice).find(({ id }) => id === "weights");
    const ratio = Math.min(2, Math.max(1, chain.shape.keys / chain.shape.queries));
    if (step) paintBitmap(canvas, pictureOf(step, slice, slice.output, chain.labels, LOOK), 56 * Math.min(1.5, ratio), 56 * Math.min(1, Math.max(0.3, chain.shape.queries / chain.shape.keys)));
  } catch {
    canvas.remove();
  }
}

/**
 * @param {Api} api
 * @param {Store} store
 */
export function makeGallery(api, store) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("gallery")), place = byId("cards"), opener = byId("open-gallery");
  /** @type {Example[] | null} */
  let served = null;

  /** @param {Example} example */
  async function open(example) {
    const request = example.request ?? (await api.ask(`v1/examples/${encodeURIComponent(example.name)}`)).json;
    if (!request) return;
    const next = opened(request, example.title, example.step ?? "start");
    store.set({ ...next, temperature: example.temperature ?? 1 }, "commit");
    dialog.close();
  }

  /** @param {Example} example */
  function card(example) {
    const canvas = el("canvas", { "aria-hidden": "true" });
    if (example.request) thumbnail(canvas, example);
    else void load(canvas, example);
    return el("li", {}, el("button", { type: "button", class: "card", "data-example": example.name, onclick: () => void open(example).catch(() => {}) }, el("span", { class: "thumb" }, canvas), el("b", {}, example.title), el("span", {}, example.teaches)));
  }

  /** @param {HTMLCanvasElement} canvas @param {Example} example */
  async function load(canvas, example) {
    try {
      const answer = await api.ask(`v1/examples/${encodeURIComponent(example.name)}`);
      example.request = answer.json ?? undefined;
      thumbnail(canvas, example);
    } catch {
      canvas.remove();
    }
  }

  /** Shelf by shelf; what no shelf knows stands on the last. */
  function draw() {
    const all = [...PRESETS, ...(served ?? [])], placed = SHELVES.flatMap(({ names }) => names), rest = all.map(({ name }) => name).filter((name) => !placed.includes(name));
    const shelves = [...SHELVES, { title: "More", names: rest }].map(({ title, names }) => ({ title, cards: all.filter(({ name }) => names.includes(name)).map(card) }));
    fill(place, ...shelves.filter(({ cards }) => cards.length).flatMap(({ title, cards }) => [el("h3", {}, title), el("ul", { class: "cards" }, ...cards)]));
  }

  async function show() {
    dialog.showModal();
    draw();
    if (served) return;
    try {
      await fetchList();
      draw();
    } catch {
      // The page's own examples stand; that the service is away is said elsewhere.
    }
  }

  async function fetchList() {
    const { json } = await api.ask("v1/examples"), known = (json?.examples ?? []).filter((/** @type {any} */ example) => typeof example?.name === "string");
    served = known.map((/** @type {any} */ { name, title, teaches }) => ({ name, title: String(title), teaches: String(teaches) }));
  }

  opener.addEventListener("click", () => void show());
  byId("pick").addEventListener("click", () => void show());
  return {
    /** @param {string} name @returns {Promise<void>} */
    async openByName(name) {
      if (!PRESETS.some((preset) => preset.name === name)) await fetchList();
      const found = [...PRESETS, ...(served ?? [])].find((example) => example.name === name);
      if (found) await open(found);
    },
  };
}
