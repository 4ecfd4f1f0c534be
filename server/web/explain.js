// The cell in focus: the page's own numbers at once, the service's own telling of it a moment later.
import { dot } from "./arithmetic.js";

/**
 * @typedef {{query: number, key: number, head: number, batch: number}} Place
 */

/** Wait for the eye to rest before the service is asked. */
const REST = 120;

/** A cell out of a chain, with the names of /v1/attention/explain. @param {Slice} slice @param {number} i @param {number} j @returns {Cell} */
export function cellOf(slice, i, j) {
  const { steps } = slice, at = (/** @type {string} */ name) => steps[name]?.[i]?.[j];
  const before = steps.capped ?? steps.scaled;
  return {
    products: slice.q[i].map((q, t) => ({ feature: t, q, k: slice.k[j][t], product: q * slice.k[j][t] })),
    score: steps.scores ? at("scores") : dot(slice.q[i], slice.k[j]), scaled: at("scaled"), capped: at("capped"), biased: at("biased"),
    bias: steps.biased ? (at("biased") === null ? null : at("biased") - before[i][j]) : 0, allowed: slice.allowed[i][j], hidden_by: [],
    masked: at("masked") ?? null, row_max: steps.row_max?.[i] ?? null, shifted: at("shifted") ?? null, exp: at("exp"), row_sum: steps.row_sum?.[i], weight: slice.weights[i][j],
  };
}

/**
 * @param {Api} api
 * @param {(cell: Cell, place: Place, request: object) => void} onCell
 */
export function makeExplain(api, onCell) {
  /** @type {WeakMap<object, Map<string, Cell>>} what was told, by the request as it was sent */
  const told = new WeakMap();
  let timer = 0, running = new AbortController();

  /** @param {object} request @param {Place} place @param {AbortSignal} signal */
  async function fetchCell(request, place, signal) {
    try {
      const answer = await api.ask("v1/attention/explain", { ...request, cell: place }, { signal });
      if (answer.problem || !answer.json) return;
      const cells = told.get(request) ?? new Map();
      told.set(request, cells.set(JSON.stringify(place), answer.json));
      onCell(answer.json, place, request);
    } catch {
      // The page's own numbers stand; that the service is away is said elsewhere.
    }
  }

  return {
    /** @param {object} request @param {Place} place @returns {Cell | null} what is known already */
    known: (request, place) => told.get(request)?.get(JSON.stringify(place)) ?? null,
    /** @param {object} request @param {Place} place */
    ask(request, place) {
      clearTimeout(timer);
      running.abort();
      running = new AbortController();
      if (told.get(request)?.has(JSON.stringify(place))) return;
      timer = window.setTimeout(fetchCell, REST, request, place, running.signal);
    },
  };
}
