// The state in the fragment of the address: #s=1.<deflated JSON> or #j=<JSON>. Bounded and typed: a link is a stranger's.
import { FIRST_LOOK } from "./state.js";

/** The decoded text is at most this long, the request has at most so many values, so deep. */
const BYTES = 65536, VALUES = 20000, DEPTH = 8, TEXT = 2000;

/** @param {Uint8Array} bytes */
const toText = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");

/** @param {string} text @returns {Uint8Array<ArrayBuffer>} */
const toBytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));

/** @param {ReadableStream<Uint8Array>} stream @param {number} most @returns {Promise<Uint8Array<ArrayBuffer>>} */
async function collect(stream, most) {
  const reader = stream.getReader(), parts = [];
  let size = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    size += part.value.length;
    if (size > most) { await reader.cancel(); throw new Error("it is too large"); }
    parts.push(part.value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) { all.set(part, at); at += part.length; }
  return all;
}

/** @param {string} text @returns {Promise<string>} */
async function deflate(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return `s=1.${toText(await collect(stream, BYTES))}`;
}

/** @param {string} packed @returns {Promise<string>} */
async function inflate(packed) {
  const stream = new Blob([toBytes(packed)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new TextDecoder().decode(await collect(stream, BYTES));
}

/**
 * A copy of plain JSON data within bounds, without members that mean something to the language.
 * @param {unknown} value @param {{left: number}} [budget] @param {number} [depth] @returns {any}
 */
export function bounded(value, budget = { left: VALUES }, depth = DEPTH) {
  if (budget.left-- <= 0) throw new Error("it has too many numbers");
  if (depth < 0) throw new Error("it is nested too deeply");
  if (Array.isArray(value)) return value.map((inner) => bounded(inner, budget, depth - 1));
  if (typeof value === "string") return value.slice(0, TEXT);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => name !== "__proto__").map(([name, inner]) => [name.slice(0, 64), bounded(inner, budget, depth - 1)]));
}

/** @param {any} x @returns {boolean} */
const isObject = (x) => typeof x === "object" && x !== null && !Array.isArray(x);

/** @param {any} data  whatever a link held @returns {State} */
export function checked(data) {
  if (!isObject(data) || !isObject(data.r)) throw new Error("it holds no request");
  const look = isObject(data.v) ? data.v : {}, count = (/** @type {any} */ x) => (Number.isInteger(x) && x >= 0 && x < 1e6 ? x : 0), warm = Number(look.t);
  return {
    ...FIRST_LOOK, request: bounded(data.r), title: typeof data.n === "string" ? data.n.slice(0, 80) : "",
    lens: typeof look.e === "string" ? look.e.slice(0, 32) : FIRST_LOOK.lens,
    step: typeof look.s === "string" ? look.s.slice(0, 32) : FIRST_LOOK.step, temperature: warm >= 0.1 && warm <= 10 ? warm : 1,
    batch: count(look.b), head: count(look.h), query: count(look.q), key: count(look.k), feature: count(look.f),
    pinned: look.p === 1, turned: look.u === 1, log: look.l === 1, fitted: look.m === 1,
  };
}

/** @param {State} state @returns {string} */
function plain(state) {
  const { request, title, temperature, lens, step, batch, head, query, key, feature, pinned, turned, log, fitted } = state;
  const look = { e: lens === FIRST_LOOK.lens ? 0 : lens, s: step, t: temperature === 1 ? 0 : temperature, b: batch, h: head, q: query, k: key, f: feature, p: +pinned, u: +turned, l: +log, m: +fitted };
  return JSON.stringify({ r: request, n: title || undefined, v: Object.fromEntries(Object.entries(look).filter(([, x]) => x !== 0)) });
}

/** @param {State} state @returns {Promise<string>} a fragment without its # */
export async function encode(state) {
  const text = plain(state);
  return "CompressionStream" in window ? deflate(text) : `j=${encodeURIComponent(text)}`;
}

/** @param {string} fragment @returns {Promise<State>} @throws where it is not what a link of this page holds */
export async function decode(fragment) {
  const name = fragment.replace(/^#/, "");
  if (name.length > 2 * BYTES) throw new Error("it is too large");
  if (name.startsWith("s=1.")) return checked(JSON.parse(await inflate(name.slice(4))));
  if (name.startsWith("j=")) return checked(JSON.parse(decodeURIComponent(name.slice(2))));
  throw new Error("it is of another kind");
}

/**
 * Keeps address and state in step: a commit is a new entry of the history, a look replaces the last one, Back undoes.
 * @param {Store} store
 * @param {(why: string) => void} onBroken
 */
export function makeLink(store, onBroken) {
  let timer = 0, pending = false, turn = 0;
  /** @param {boolean} push */
  async function save(push) {
    const mine = ++turn, fragment = await encode(store.get());
    if (mine !== turn) { pending ||= push; return; }
    history[push || pending ? "pushState" : "replaceState"](null, "", `#${fragment}`);
    pending = false;
  }

  store.onChange((_, __, how) => {
    clearTimeout(timer);
    if (how === "commit") void save(true).catch(() => {});
    else if (how === "look") timer = window.setTimeout(() => void save(false).catch(() => {}), 250);
  });

  async function load() {
    if (location.hash.length < 3) return;
    try { store.set(await decode(location.hash), "history"); } catch (error) { onBroken(error instanceof Error ? error.message : String(error)); }
  }

  addEventListener("popstate", () => { turn++; clearTimeout(timer); void load(); });
  return { load };
}
