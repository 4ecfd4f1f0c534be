// A small labelled matrix, of which a lesson shows several; and a request that follows what is looked at.
import { Unreachable } from "./api.js";
import { el, write } from "./dom.js";
import { makeMatrix } from "./matrix.js";

/** Rest this long before the service is asked. */
const REST = 80;

/** @param {string} caption @param {Listener} [listener] @param {string} [kind] */
export function makeFigure(caption, listener = { onSelect: () => {} }, kind = "") {
  const title = el("figcaption", {}, caption), note = el("p", { class: "note num" }), matrix = makeMatrix(caption, listener);
  const node = el("figure", { class: `figure ${kind}` }, title, el("div", { class: "scroll" }, matrix.node), note);
  return {
    node,
    /** @param {Picture} picture @param {{i: number, j: number, pinned?: boolean}} place @param {string} [told] */
    update(picture, place, told = "") {
      const count = picture.cols.length, width = count > 10 ? 26 : count > 6 ? 36 : 44;
      matrix.size(picture.cols, width, count > 10 ? 24 : 30, count > 6 ? 11 : 13);
      matrix.update(picture, { ...place, decimals: width < 36 ? 0 : 2 });
      write(note, told);
    },
    /** @param {string} text */
    name(text) { write(title, text); },
  };
}

/**
 * Asks again when what is asked changes; a stale answer is never taken.
 * @param {Api} api @param {(answer: Answer | null) => void} take  null: the service does not answer
 */
export function makeAsker(api, take) {
  let last = "", timer = 0, running = new AbortController();
  return {
    /** @param {Question} body */
    ask(body) {
      const now = JSON.stringify(body);
      if (now === last) return;
      last = now;
      clearTimeout(timer);
      running.abort();
      running = new AbortController();
      const { signal } = running;
      timer = window.setTimeout(async () => {
        try {
          const answer = await api.ask("v1/attention", body, { signal });
          if (!signal.aborted) take(answer);
        } catch (error) {
          if (error instanceof Unreachable && !signal.aborted) { last = ""; take(null); }
        }
      }, REST);
    },
  };
}
