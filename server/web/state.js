// What a person has chosen: the request and the way to look at it. Nothing that can be computed from these stands here.

/** @type {Omit<State, "request" | "title">} */
export const FIRST_LOOK = { temperature: 1, lens: "steps", step: "start", batch: 0, head: 0, query: 0, key: 0, feature: 0, pinned: false, turned: false, log: false, fitted: false };

/** @type {Question} */
export const THE_CAT = {
  tokens: ["the", "cat", "sat", "down"],
  q: [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]],
  k: [[0.5, 1, 0], [1, -0.5, 0.5], [0, 1, 1], [-1, 0.5, 0]],
  v: [[1, 0], [0, 1], [1, 1], [-1, 2]],
  mask: "causal",
};

/**
 * @param {State} first
 */
export function makeStore(first) {
  let state = first;
  /** @type {((state: State, before: State, how: How) => void)[]} */
  const listeners = [];
  return {
    get: () => state,
    /** @param {Partial<State>} change @param {How} [how] */
    set(change, how = "look") {
      const before = state;
      state = { ...state, ...change };
      for (const listener of listeners) listener(state, before, how);
    },
    /** @param {(state: State, before: State, how: How) => void} listener */
    onChange(listener) { listeners.push(listener); },
  };
}

/** @typedef {ReturnType<typeof makeStore>} Store */

/**
 * The request with one member replaced, or without it where the value is undefined.
 * @param {Question} request @param {string} name @param {any} value @returns {Question}
 */
export function withMember(request, name, value) {
  const next = { ...request, [name]: value };
  if (value === undefined) delete next[name];
  return next;
}

/** What the page wants to see of every reply. */
const INCLUDE = ["output", "weights", "steps", "inputs", "mask", "cost"];

/** @param {Question} request @param {number} width  of a query @param {number} temperature @returns {Question} the body to send, before include */
export function warmed(request, width, temperature) {
  return temperature === 1 ? request : { ...request, scale: (request.scale ?? 1 / Math.sqrt(width)) / temperature };
}

/** @param {Question} request @returns {Question} */
export function asked(request) {
  const include = request.variant === "linear" ? INCLUDE.filter((name) => name !== "mask") : INCLUDE;
  return { ...request, include };
}

/** A new request to look at, from its beginning. @param {Question} request @param {string} title @param {string} step @returns {State} */
export function opened(request, title, step) {
  const { include, ...rest } = request;
  const square = Array.isArray(rest.tokens) || !rest.tokens;
  return { ...FIRST_LOOK, request: rest, title, step, query: square ? Math.max(0, (rest.q ?? rest.x)?.length === 4 ? 2 : 1) : 0 };
}
