// The drawer: the last request and reply as they went over the wire.
import { rowsOf } from "./code.js";
import { byId, dress, el, fill, write } from "./dom.js";
import { asked } from "./state.js";

/** So much of a long text is shown. */
const SHOWN = 40000;

/** @param {string} text */
const cut = (text) => (text.length > SHOWN ? `${text.slice(0, SHOWN)}\n\u2026 ${text.length - SHOWN} more characters` : text);

/** @param {Api} api */
export function makeDrawer(api) {
  const drawer = byId("drawer"), opener = byId("open-drawer"), facts = byId("drawer-facts"), sent = byId("drawer-request"), got = byId("drawer-reply");
  /** @type {Model | null} */
  let model = null;

  function draw() {
    if (drawer.hidden || !model) return;
    const { answer, body } = model;
    const rows = [["POST", new URL("v1/attention", api.base).href], ["status", answer ? String(answer.status) : "no answer"], ["request id", answer?.id ?? ""], ["Server-Timing", answer?.timing ?? ""],
      ["round trip", answer ? `${answer.milliseconds.toFixed(1)} ms` : ""]].filter(([, text]) => text);
    fill(facts, ...rows.flatMap(([name, text]) => [el("dt", {}, name), el("dd", { class: "num" }, text)]));
    write(sent, cut(rowsOf(asked(body))));
    write(got, cut(answer ? rowsOf(answer.json ?? answer.problem ?? answer.text) : ""));
  }

  /** @param {boolean} open */
  function toggle(open) {
    drawer.hidden = !open;
    dress(opener, { "aria-expanded": String(open) });
    draw();
    if (open) byId("close-drawer").focus(); else opener.focus();
  }

  opener.addEventListener("click", () => toggle(Boolean(drawer.hidden)));
  byId("close-drawer").addEventListener("click", () => toggle(false));
  drawer.addEventListener("keydown", (event) => { if (event.key === "Escape") toggle(false); });
  return {
    /** @param {Model} now */
    update(now) { model = now; draw(); },
  };
}
