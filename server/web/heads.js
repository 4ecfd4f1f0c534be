// Heads and batches: tabs that show what each head looks at, unlike the steps in form and place.
import { paintBitmap } from "./bitmap.js";
import { byId, dress, el } from "./dom.js";
import { stepsOf, isLinear } from "./steps.js";
import { pictureOf } from "./picture.js";
import { WORDS, sayText } from "./words.js";

const SIZE = 28;

/** @param {Store} store */
export function makeHeads(store) {
  const place = byId("heads"), batches = byId("batches");
  /** @type {{button: HTMLButtonElement, canvas: HTMLCanvasElement}[]} */
  let tabs = [];
  let shape = "";

  place.addEventListener("keydown", (event) => {
    const { head } = store.get(), last = tabs.length - 1;
    const to = { ArrowLeft: head ? head - 1 : last, ArrowRight: head < last ? head + 1 : 0, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    store.set({ head: to });
    tabs[to].button.focus();
  });

  /** @param {Chain} chain */
  function build(chain) {
    tabs = Array.from({ length: chain.shape.heads }, (_, head) => {
      const canvas = el("canvas", { "aria-hidden": "true" });
      return { canvas, button: el("button", { type: "button", role: "tab", "aria-controls": "stage", onclick: () => store.set({ head }) }, canvas, el("span", {}, sayText(WORDS.stage.head, { head }))) };
    });
    place.replaceChildren(...tabs.map(({ button }) => button));
    batches.replaceChildren(...Array.from({ length: chain.shape.batch }, (_, batch) => el("button", { type: "button", onclick: () => store.set({ batch }) }, sayText(WORDS.stage.batch, { batch }))));
    place.hidden = chain.shape.heads < 2;
    batches.hidden = chain.shape.batch < 2;
  }

  return {
    /** @param {Chain} chain @param {State} state */
    update(chain, state) {
      const now = `${chain.shape.heads} ${chain.shape.batch}`;
      if (now !== shape) build(chain);
      shape = now;
      tabs.forEach(({ button }, i) => dress(button, { "aria-selected": String(i === state.head), tabindex: i === state.head ? 0 : -1 }));
      [...batches.children].forEach((button, i) => dress(button, { "aria-pressed": String(i === state.batch) }));
    },
    /** @param {Chain} chain @param {State} state */
    paint(chain, state) {
      if (chain.shape.heads < 2) return;
      chain.slices[state.batch].forEach((slice, head) => {
        const step = stepsOf(slice).find(({ id }) => id === (isLinear(slice) ? "scaled" : "weights"));
        if (step) paintBitmap(tabs[head].canvas, pictureOf(step, slice, slice.output, chain.labels, state), SIZE, SIZE, 0.5);
      });
    },
  };
}
