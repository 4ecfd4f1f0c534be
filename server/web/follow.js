// Keeps the numbers in step with the request: the page's own at once, the service's a moment later, never a stale one.
import { Unreachable } from "./api.js";
import { compute, difference } from "./arithmetic.js";
import { chainOf } from "./chain.js";
import { asked, warmed } from "./state.js";

/** Typing rests this long before the service is asked. */
const REST = 100;
const RETRY = 2500;

/** @param {State} state @returns {{own: Chain | null, unable: string, body: object}} */
function own(state) {
  try {
    const first = compute(state.request);
    const body = warmed(state.request, first.shape.dk, state.temperature);
    return { own: body === state.request ? first : compute(body), unable: "", body };
  } catch (error) {
    return { own: null, unable: error instanceof Error ? error.message : String(error), body: state.request };
  }
}

/**
 * @param {Api} api
 * @param {Store} store
 * @param {(model: Model) => void} onModel
 */
export function makeFollow(api, store, onModel) {
  /** @type {Model} */
  let model = { chain: null, own: null, unable: "", body: {}, answer: null, problem: null, waiting: true, offline: false, apart: null };
  let timer = 0, running = new AbortController();

  /** @param {Partial<Model>} change */
  function emit(change) {
    model = { ...model, ...change };
    onModel(model);
  }

  /** @param {Answer} answer @param {boolean} joined */
  function take(answer, joined) {
    if (answer.problem || !answer.json) { emit({ answer, problem: answer.problem, waiting: false, offline: false, apart: null }); return; }
    const chain = chainOf(answer.json, joined);
    emit({ answer, chain, problem: null, waiting: false, offline: false, apart: model.own ? difference(model.own, chain) : null });
  }

  async function askNow() {
    running.abort();
    running = new AbortController();
    const { signal } = running, body = model.body;
    try {
      const answer = await api.ask("v1/attention", asked(body), { signal });
      if (!signal.aborted) take(answer, "w_o" in body);
    } catch (error) {
      if (!(error instanceof Unreachable) || signal.aborted) return;
      emit({ offline: true, waiting: false, answer: null, problem: null, apart: null, ...(model.own ? { chain: model.own } : {}) });
      timer = window.setTimeout(askNow, RETRY);
    }
  }

  /** @param {number} rest */
  function follow(rest) {
    clearTimeout(timer);
    running.abort();
    const next = own(store.get());
    emit({ ...next, chain: next.own ?? model.chain, waiting: true, apart: null });
    timer = window.setTimeout(askNow, rest);
  }

  store.onChange((state, before, how) => {
    if (state.request !== before.request || state.temperature !== before.temperature) follow(how === "draft" ? REST : 0);
  });
  return { start: () => follow(0), again: () => follow(0) };
}
