// The steps as a rail of small pictures, and the buttons that walk them.
import { paintBitmap } from "./bitmap.js";
import { byId, dress, el, write } from "./dom.js";
import { pictureOf } from "./picture.js";
import { WORDS, sayText } from "./words.js";

const SIZE = 40;
/** Time to read a step, when the steps go on by themselves. */
const READ = 4000;
/** A triangle, and two bars. */
const ICONS = { play: "M3 2l11 6-11 6z", pause: "M3 2h4v12H3zM9 2h4v12H9z" };

/** @param {Step} step */
export const wordOf = (step) => WORDS.steps[/** @type {"start"} */ (step.id)];

/** The picture of a step that its thumbnail shows: a side column stands alone there. @param {Picture} picture @returns {Picture} */
function small(picture) {
  const { side } = picture;
  if (!side || picture.lead) return picture;
  const top = Math.max(...side.values.map((x) => Math.abs(x ?? 0))) || 1;
  return { ...picture, values: side.values.map((x) => [x === null ? null : picture.legend.kind === "share" ? x / top : x]), hatched: null };
}

/** @param {Store} store */
export function makePlayer(store) {
  const rail = byId("rail"), back = byId("back"), next = byId("next"), play = byId("play"), slider = /** @type {HTMLInputElement} */ (byId("scrub")), at = byId("at");
  /** @type {{step: Step, button: HTMLButtonElement, canvas: HTMLCanvasElement}[]} */
  let stops = [];
  /** @type {Step[]} */
  let steps = [], fits = false, playing = 0;
  const measure = new ResizeObserver(() => { fits = rail.scrollWidth <= rail.clientWidth; });

  const index = () => Math.max(0, steps.findIndex((step) => step.id === store.get().step));
  /** @param {number} to */
  const show = (to) => store.set({ step: steps[Math.min(steps.length - 1, Math.max(0, to))].id });
  /** Whoever chooses a step ends the playing. @param {number} to */
  const go = (to) => { run(false); show(to); };

  /** @param {boolean} on */
  function run(on) {
    clearInterval(playing);
    playing = on ? window.setInterval(advance, READ) : 0;
    dress(play, { "aria-label": on ? WORDS.player.pause : WORDS.player.play });
    play.querySelector("path")?.setAttribute("d", on ? ICONS.pause : ICONS.play);
  }

  function advance() {
    const last = index() + 1 >= steps.length - 1;
    if (!byId("stage").hidden) show(index() + 1);
    if (last || byId("stage").hidden) run(false);
  }

  play.addEventListener("click", () => {
    if (playing) { run(false); return; }
    run(true);
    if (index() + 1 < steps.length) advance(); else show(0);
  });
  run(false);

  back.addEventListener("click", () => go(index() - 1));
  next.addEventListener("click", () => go(index() + 1 < steps.length ? index() + 1 : 0));
  slider.addEventListener("input", () => go(Number(slider.value) - 1));
  rail.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: index() - 1, ArrowRight: index() + 1, Home: 0, End: steps.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    go(to);
    stops[index()].button.focus();
  });

  /** @param {Step[]} now */
  function build(now) {
    steps = now;
    stops = now.map((step) => {
      const canvas = el("canvas", { "aria-hidden": "true" });
      return { step, canvas, button: el("button", { type: "button", onclick: () => go(now.indexOf(step)) }, canvas, el("span", {}, wordOf(step).word)) };
    });
    rail.replaceChildren(...stops.map(({ button }) => el("li", {}, button)));
    dress(slider, { max: steps.length });
    fits = false;
    measure.disconnect();
    measure.observe(rail);
  }

  /** @param {HTMLElement} button  into sight, without moving the page; nothing is measured where all fit */
  function reveal(button) {
    if (fits) return;
    const { offsetLeft: left, offsetWidth: width } = button;
    if (left < rail.scrollLeft || left + width > rail.scrollLeft + rail.clientWidth) rail.scrollLeft = left - (rail.clientWidth - width) / 2;
  }

  return {
    go, index,
    /** @param {Step[]} now */
    update(now) {
      if (now.map((step) => step.id).join() !== steps.map((step) => step.id).join()) build(now);
      const here = index(), following = steps[here + 1];
      stops.forEach(({ button }, i) => dress(button, { "aria-current": i === here ? "step" : null, tabindex: i === here ? 0 : -1 }));
      reveal(stops[here].button);
      slider.value = String(here + 1);
      dress(slider, { "aria-valuetext": sayText(WORDS.player.spoken, { at: here + 1, all: steps.length, word: wordOf(steps[here]).word }) });
      dress(back, { disabled: here === 0 });
      write(next, following ? sayText(WORDS.player.next, { what: wordOf(following).next }) : WORDS.player.again);
      write(at, sayText(WORDS.player.of, { at: here + 1, all: steps.length }));
    },
    /** @param {Slice} slice @param {number[][]} result @param {Labels} labels @param {Look} look */
    paint(slice, result, labels, look) {
      for (const { step, canvas } of stops) paintBitmap(canvas, small(pictureOf(step, slice, result, labels, look)), SIZE, SIZE);
    },
  };
}
