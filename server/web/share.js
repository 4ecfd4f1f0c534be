// Out and in: the link, the request in several languages, files to keep, and JSON pasted or dropped from elsewhere.
import { asCsv, asCurl, asFetch, asNumpy, asTorch, rowsOf } from "./code.js";
import { drawSvg, paintPng } from "./drawing.js";
import { byId, dress, el, fill, write } from "./dom.js";
import { bounded, encode } from "./link.js";
import { opened } from "./state.js";
import { WORDS, sayText } from "./words.js";

/** More text than this is not taken in. */
const MOST = 4_000_000;

/** @param {string} name @param {Blob} blob */
function download(name, blob) {
  const url = URL.createObjectURL(blob);
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** @param {Api} api @param {Store} store @param {Source} source */
export function makeShare(api, store, source) {
  const dialog = /** @type {HTMLDialogElement} */ (byId("export")), text = /** @type {HTMLTextAreaElement} */ (byId("export-text")), told = byId("export-told"), tabs = byId("export-tabs"), files = byId("export-files");
  const importing = /** @type {HTMLDialogElement} */ (byId("import")), given = /** @type {HTMLTextAreaElement} */ (byId("import-text")), broken = byId("import-broken");
  const url = () => new URL("v1/attention", api.base);

  /** @type {Record<string, () => string | Promise<string>>} */
  const forms = {
    "Link": async () => `${location.href.split("#")[0]}#${await encode(store.get())}`,
    "JSON": () => `${rowsOf(source.body())}\n`,
    "curl": () => asCurl(source.body(), url()),
    "fetch": () => asFetch(source.body(), url()),
    "NumPy": () => { const head = source.head(); return head ? asNumpy(head.slice, head.scale, source.body()) : ""; },
    "PyTorch": () => { const head = source.head(); return head ? asTorch(head.slice, head.scale) : ""; },
  };

  /** @type {[string, () => void | Promise<void>][]} */
  const kept = [
    ["Reply, JSON", () => download("attention.json", new Blob([JSON.stringify(source.reply(), null, 1)], { type: "application/json" }))],
    ["Matrix, CSV", () => { const shown = source.picture(); if (shown) download("attention.csv", new Blob([asCsv(shown.picture)], { type: "text/csv" })); }],
    ["Picture, SVG", () => { const shown = source.picture(); if (shown) download("attention.svg", new Blob([drawSvg(shown.picture, shown.title).text], { type: "image/svg+xml" })); }],
    ["Picture, PNG", async () => { const shown = source.picture(); if (shown) download("attention.png", await paintPng(drawSvg(shown.picture, shown.title))); }],
  ];

  /** @param {string} name */
  async function show(name) {
    [...tabs.children].forEach((tab) => dress(tab, { "aria-selected": String(tab.textContent === name), tabindex: tab.textContent === name ? 0 : -1 }));
    dress(text, { "aria-label": name });
    write(told, "");
    try { text.value = await forms[name](); } catch (error) { text.value = ""; write(told, error instanceof Error ? error.message : String(error)); }
    text.scrollTop = 0;
  }

  async function copy() {
    text.select();
    try { await navigator.clipboard.writeText(text.value); write(told, WORDS.share.copied); } catch { write(told, WORDS.share.failed); }
  }

  /** @param {string} name */
  function open(name) {
    dialog.showModal();
    void show(name);
  }

  /** @param {string} json */
  function take(json) {
    write(broken, "");
    if (json.length > MOST) { write(broken, sayText(WORDS.imported.large, { most: "4 MB" })); return; }
    try {
      const request = bounded(JSON.parse(json), { left: 400000 });
      if (typeof request !== "object" || request === null || Array.isArray(request)) { write(broken, WORDS.imported.object); return; }
      store.set(opened(request, "", store.get().step), "commit");
      importing.close();
    } catch (error) {
      write(broken, sayText(WORDS.imported.broken, { why: error instanceof Error ? error.message : String(error) }));
    }
  }

  fill(tabs, ...Object.keys(forms).map((name) => el("button", { type: "button", role: "tab", onclick: () => void show(name) }, name)));
  tabs.addEventListener("keydown", (event) => {
    const all = [...tabs.children], here = all.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const to = { ArrowLeft: here - 1, ArrowRight: here + 1, Home: 0, End: all.length - 1 }[event.key];
    const next = to === undefined ? null : all[(to + all.length) % all.length];
    if (next instanceof HTMLElement) { event.preventDefault(); next.focus(); next.click(); }
  });
  fill(files, ...kept.map(([name, act]) => el("button", { type: "button", onclick: () => void act() }, name)));
  byId("copy").addEventListener("click", () => void copy());
  byId("open-share").addEventListener("click", () => open("Link"));
  byId("open-export").addEventListener("click", () => open("curl"));
  byId("open-import").addEventListener("click", () => { given.value = `${rowsOf(store.get().request)}\n`; write(broken, ""); importing.showModal(); });
  byId("take").addEventListener("click", () => take(given.value));
  byId("import-file").addEventListener("change", async (event) => { const file = /** @type {HTMLInputElement} */ (event.target).files?.[0]; if (file) given.value = file.size > MOST ? "" : await file.text(); });
}
