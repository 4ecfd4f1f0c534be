// The page: makes the parts, and draws them when the state or the numbers change.
import { baseOf, makeApi } from "./api.js";
import { makeChoices } from "./choices.js";
import { onTheme } from "./colour.js";
import { byId, dress, write } from "./dom.js";
import { makeDrawer } from "./drawer.js";
import { withCellToggled } from "./edit.js";
import { cellOf, makeExplain } from "./explain.js";
import { makeFollow } from "./follow.js";
import { makeGallery } from "./gallery.js";
import { makeHeads } from "./heads.js";
import { makeInputs } from "./inputs.js";
import { makeLens } from "./lens.js";
import { makeLink } from "./link.js";
import { pictureOf, turned } from "./picture.js";
import { makePlayer, wordOf } from "./player.js";
import { makeRow } from "./row.js";
import { makeShare } from "./share.js";
import { makeStage } from "./stage.js";
import { THE_CAT, makeStore, opened } from "./state.js";
import { stepsOf } from "./steps.js";
import { WORDS, sayText } from "./words.js";

const api = makeApi(baseOf(location.search, document.baseURI));
const store = makeStore({ ...opened(THE_CAT, "The cat sat down", "start"), query: 2, key: 1 });
/** @type {Model | null} */
let model = null;
/** @type {Partial<State> | null} the cell under the mouse */
let hovered = null;
let scheduled = 0;
/** @type {Problem | null} the refusal that the page shows */
let refused = null;
/** @type {unknown[]} what the inputs were drawn from */
let drawn = [];
/** @type {unknown[]} what the row was drawn from */
let rowDrawn = [];
/** @type {{chain: object | null, batch: number, head: number, query: number, log: boolean, fitted: boolean} | null} what the small pictures show */
let painted = null;

const inputs = makeInputs(store, byId("inputs"));
const choices = makeChoices(store, byId("choices"));
const player = makePlayer(store);
const heads = makeHeads(store);
const row = makeRow(store);
const drawer = makeDrawer(api);
const stage = makeStage(store, {
  hover: (i, j) => { const next = stage.chosen(i, j); if (JSON.stringify(next) !== JSON.stringify(hovered)) { hovered = next; draw(); } },
  leave: () => { if (hovered) { hovered = null; draw(); } },
  toggle: (i, j) => { const now = current(); if (now) store.set({ request: withCellToggled(store.get().request, now.slice.allowed, i, j), title: "" }, "commit"); },
  edit: (name, i, j) => inputs.focus(name, i, j),
});
const lens = makeLens({ api, store }, () => draw());
const explain = makeExplain(api, () => draw());
const follow = makeFollow(api, store, (now) => { model = now; if (now.waiting) tellReady(now); draw(); });
const gallery = makeGallery(api, store);
const link = makeLink(store, (why) => { byId("notice").hidden = false; write(byId("notice"), sayText(WORDS.link, { why })); });

/** @param {number} x @param {number} count */
const within = (x, count) => Math.min(count - 1, Math.max(0, x));

/** The state with every index inside the chain that there is. @param {State} state @param {Chain} chain @returns {State} */
function fitting(state, { shape, slices, result }) {
  const batch = within(state.batch, shape.batch), head = within(state.head, shape.heads), width = (result ? result[batch][0] : slices[batch][head].output[0]).length;
  return { ...state, batch, head, query: within(state.query, shape.queries), key: within(state.key, shape.keys), feature: within(state.feature, width) };
}

function current() {
  if (!model?.chain) return null;
  const { chain } = model, state = fitting({ ...store.get(), ...hovered }, chain), slice = chain.slices[state.batch][state.head], steps = stepsOf(slice);
  const step = steps.find(({ id }) => id === state.step) ?? steps[0], result = chain.result?.[state.batch] ?? slice.output;
  return { chain, state: { ...state, feature: step.view === "mix" ? within(state.feature, slice.v[0].length) : state.feature }, slice, steps, step, result };
}

/** The row and the column that the focused cell is made of. @param {State} state @param {Step} step @returns {Record<string, [number, string]>} */
function lit(state, step) {
  if (step.view === "mix") return { v: [state.key, "k"] };
  if (step.id === "start" || step.id === "scores") return { q: [state.query, "q"], x: [state.query, "q"], k: [state.key, "k"], ...(step.id === "start" ? { v: [state.key, "k"] } : {}) };
  return {};
}

/** @param {Model} now */
function drawTrouble(now) {
  const { problem } = now, text = problem?.detail ?? "", pointer = problem?.pointer ?? problem?.errors?.[0]?.pointer ?? "", locked = problem?.status === 401;
  if (problem !== refused) {
    const placed = [choices.refuse(pointer, text), inputs.refuse(pointer, text)].includes(true);
    byId("refusal").hidden = !problem || locked || placed;
    write(byId("refusal"), problem ? WORDS.refused + text : "");
  }
  refused = problem;
  byId("offline").hidden = !now.offline;
  byId("locked").hidden = !locked;
  dress(byId("stage"), { class: problem && !locked ? "stage refused" : "stage", "aria-busy": null });
}

/** @param {NonNullable<ReturnType<typeof current>>} now */
function drawCell(now) {
  const { state, chain, slice, step, steps, result } = now, place = { query: state.query, key: state.key, head: state.head, batch: state.batch };
  const body = model?.body ?? {}, known = explain.known(body, place), cell = { ...cellOf(slice, state.query, state.key), ...(model?.waiting || model?.offline ? {} : known) };
  if (!model?.waiting && !model?.offline && !model?.problem) explain.ask(body, place);
  stage.draw({ step, state, chain, slice, result, cell, i: state.query, j: state.key, c: state.feature });
  byId("paper").hidden = !known?.text;
  write(byId("paper-text"), known?.text ?? "");
  inputs.light(lit(state, step));
  player.update(steps);
}

/** Small pictures are painted when what they show has changed. @param {NonNullable<ReturnType<typeof current>>} now */
function drawThumbnails({ state, chain, slice, result }) {
  const { batch, head, query, log, fitted } = state, next = { chain, batch, head, query, log, fitted };
  if (painted && JSON.stringify({ ...painted, chain: 0 }) === JSON.stringify({ ...next, chain: 0 }) && painted.chain === chain) return;
  painted = next;
  player.paint(slice, result, chain.labels, state);
  heads.paint(chain, state);
}

/** Says how the numbers stand, for tests and for scripts that take pictures. @param {Model} now */
const tellReady = ({ waiting, offline, problem }) => dress(document.body, { "data-ready": waiting ? "waiting" : offline ? "alone" : problem ? "refused" : "answered" });

function drawNow() {
  scheduled = 0;
  if (!model) return;
  const state = store.get(), now = current();
  const seen = [state.request, state.temperature, state.batch, state.head, model];
  const changed = seen.some((x, at) => x !== drawn[at]);
  drawn = seen;
  if (changed) inputs.update(state, model.chain);
  if (changed) choices.update(state, now?.slice ?? null, now?.chain.labels ?? null);
  if (changed) drawTrouble(model);
  if (changed) drawer.update(model);
  write(byId("pick-title"), state.title || "Your own");
  if (now) drawChain(model, now);
  tellReady(model);
}

/** @param {Model} model @param {NonNullable<ReturnType<typeof current>>} now */
function drawChain(model, now) {
  heads.update(now.chain, now.state);
  const { query, key, batch, head } = now.state, looked = [model, query, key, batch, head];
  if (looked.some((x, at) => x !== rowDrawn[at])) row.update(model, now.slice, now.state);
  rowDrawn = looked;
  if (lens.turn(now.state.lens)) lens.update({ ...now, body: model.body, model });
  else { drawCell(now); drawThumbnails(now); }
}

function draw() {
  if (!scheduled) scheduled = requestAnimationFrame(drawNow);
}

makeShare(api, store, {
  body: () => model?.body ?? {},
  head: () => { const now = current(); return now && { slice: now.slice, scale: now.chain.scale }; },
  picture: () => {
    const now = current();
    if (!now) return null;
    const step = now.step.view === "start" ? now.steps[1] : now.step, picture = pictureOf(step, now.slice, now.result, now.chain.labels, { ...now.state, onPaper: true });
    return { picture: now.state.turned ? turned(picture) : picture, title: wordOf(step).title };
  },
  reply: () => model?.answer?.json ?? model?.chain ?? {},
});

for (const button of document.querySelectorAll("dialog [data-close]")) button.addEventListener("click", () => button.closest("dialog")?.close());
for (const dialog of document.querySelectorAll("dialog")) dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
byId("key-form").addEventListener("submit", (event) => { event.preventDefault(); api.useKey(/** @type {HTMLInputElement} */ (byId("key")).value.trim()); follow.again(); });
dress(document.body, { class: new URLSearchParams(location.search).get("embed") === "1" ? "embed" : null });
onTheme(() => { painted = null; draw(); });
store.onChange(draw);
await link.load();
follow.start();
const named = new URLSearchParams(location.search).get("example");
if (named && location.hash.length < 3) void gallery.openByName(named).catch(() => {});
