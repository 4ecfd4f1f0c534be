// Other ways to look at attention than step by step: each a module of its own, fetched when somebody opens it.
import { byId, dress, el, fill, write } from "./dom.js";
import { WORDS } from "./words.js";

/** @type {Record<string, () => Promise<{makeLesson: (tools: Tools) => Lesson}>>} */
const LESSONS = {
  pull: () => import("./lesson-pull.js"),
  learn: () => import("./lesson-learn.js"),
  wrong: () => import("./lesson-wrong.js"),
  tiles: () => import("./lesson-tiles.js"),
  cache: () => import("./lesson-cache.js"),
  precision: () => import("./lesson-precision.js"),
  latent: () => import("./lesson-latent.js"),
};

/** @param {Tools} tools @param {() => void} redraw */
export function makeLens(tools, redraw) {
  const tabs = byId("lenses"), place = byId("lesson");
  const names = /** @type {("steps" | "pull")[]} */ (["steps", ...Object.keys(LESSONS)]);
  const buttons = names.map((name) => el("button", { type: "button", "data-lens": name, onclick: () => tools.store.set({ lens: name }, "look") }, WORDS.lens[name].tab));
  /** @type {Record<string, Lesson>} */
  const made = {};
  let shown = "steps";
  fill(tabs, ...buttons);

  /** @param {string} name */
  async function fetchLesson(name) {
    try {
      made[name] ??= (await LESSONS[name]()).makeLesson(tools);
      redraw();
    } catch {
      fill(place, el("p", { class: "refusal" }, WORDS.lens.away));
    }
  }

  return {
    /** @param {string} lens @returns {boolean} it is one of the lessons */
    turn(lens) {
      const name = lens in LESSONS ? lens : "steps", lesson = name !== "steps";
      for (const button of buttons) dress(button, { "aria-pressed": String(button.dataset.lens === name) });
      for (const id of ["rail", "stage", "formula"]) byId(id).hidden = lesson;
      place.hidden = !lesson;
      dress(/** @type {HTMLElement} */ (place.closest("main")), { "data-lens": name });
      if (name !== shown) made[shown]?.stop?.();
      if (lesson) {
        const words = WORDS.lens[/** @type {"pull"} */ (name)];
        write(byId("title"), words.title);
        write(byId("lead"), words.lead);
        if (!made[name] && name !== shown) { fill(place); void fetchLesson(name); }
      }
      shown = name;
      return lesson;
    },
    /** @param {Sight} scene */
    update(scene) {
      const lesson = made[shown];
      if (!lesson) return;
      if (lesson.node.parentElement !== place) fill(place, lesson.node);
      lesson.update(scene);
    },
  };
}
