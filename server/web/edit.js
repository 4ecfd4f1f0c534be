// Changes of a request, each as a new request: numbers, names, rows, columns, the mask.

/**
 * @typedef {{batch: number, head: number, group: number}} Spot  group: query heads for each key head
 */

/** @param {any} tensor @returns {number} */
export const rankOf = (tensor) => (Array.isArray(tensor) ? 1 + rankOf(tensor[0]) : 0);

/** @param {any} tensor @returns {boolean} two to four levels deep, with rows of one length */
export const isEven = (tensor) => (rankOf(tensor) > 2 ? rankOf(tensor) < 5 && tensor.every((/** @type {any} */ inner) => rankOf(inner) === rankOf(tensor[0]) && isEven(inner))
  : rankOf(tensor) === 2 && tensor.every((/** @type {any} */ row) => Array.isArray(row) && row.length === tensor[0].length && row.length > 0));

/** The same tensor with f done to each of its matrices. @param {any} tensor @param {(a: any[][]) => any[][]} f @returns {any} */
const eachMatrix = (tensor, f) => (rankOf(tensor) > 2 ? tensor.map((/** @type {any} */ inner) => eachMatrix(inner, f)) : f(tensor));

/** Which matrix of a member is looked at. @param {Question} request @param {string} name @param {Spot} spot @returns {number[]} */
function pathTo(request, name, spot) {
  const tensor = request[name], rank = rankOf(tensor), head = name === "q" ? spot.head : Math.floor(spot.head / spot.group);
  const at = (/** @type {number} */ index, /** @type {any[]} */ of) => Math.min(index, of.length - 1), batch = at(spot.batch, tensor);
  if (rank === 4) return [batch, at(head, tensor[batch])];
  if (rank !== 3) return [];
  return [request.heads === undefined && "qkv".includes(name) ? at(head, tensor) : batch];
}

/** The columns of the head that is looked at, where heads stand side by side in q, k and v. @param {Question} request @param {string} name @param {Spot} spot @param {number} width @returns {[number, number]} from, count */
function columnsOf(request, name, spot, width) {
  if (request.heads === undefined || !"qkv".includes(name)) return [0, width];
  const count = width / (name === "q" ? request.heads : (request.kv_heads ?? request.heads)), head = name === "q" ? spot.head : Math.floor(spot.head / spot.group);
  return Number.isInteger(count) ? [head * count, count] : [0, width];
}

/** @param {Question} request @param {string} name @param {Spot} spot @returns {Matrix} */
export function matrixOf(request, name, spot) {
  const whole = pathTo(request, name, spot).reduce((at, index) => at[index], request[name]), [from, count] = columnsOf(request, name, spot, whole[0].length);
  return count === whole[0].length ? whole : whole.map((/** @type {number[]} */ row) => row.slice(from, from + count));
}

/** @param {any} tensor @param {number[]} path @param {any} value @returns {any} */
function placed(tensor, [index, ...rest], value) {
  if (index === undefined) return value;
  return tensor.map((/** @type {any} */ inner, /** @type {number} */ at) => (at === index ? placed(inner, rest, value) : inner));
}

/** @param {Question} request @param {string} name @param {Spot} spot @param {number} i @param {number} j @param {number} x @returns {Question} */
export function withNumber(request, name, spot, i, j, x) {
  const path = pathTo(request, name, spot), width = path.reduce((at, index) => at[index], request[name])[0].length;
  return { ...request, [name]: placed(request[name], [...path, i, columnsOf(request, name, spot, width)[0] + j], x) };
}

/** Labels of both sides as the service takes them. @param {string[]} query @param {string[]} key @returns {any} */
const tokensOf = (query, key) => (query.length === key.length && query.every((x, i) => x === key[i]) ? query : { query, key });

/** @param {Question} request @param {{query: string[], key: string[]}} labels @param {"query" | "key"} side @param {number} at @param {string} text @returns {Question} */
export function withToken(request, labels, side, at, text) {
  const both = Array.isArray(request.tokens) || (request.tokens === undefined && labels.query.length === labels.key.length);
  const change = (/** @type {string[]} */ of, /** @type {boolean} */ mine) => of.map((x, i) => (mine && i === at ? text : both && !mine && i === at ? text : x));
  return { ...request, tokens: tokensOf(change(both ? labels[side] : labels.query, side === "query"), change(both ? labels[side] : labels.key, side === "key")) };
}

/** @param {any[]} list @param {number} by  1 adds a copy of the last, -1 removes it */
const longer = (list, by) => (by > 0 ? [...list, structuredClone(list[list.length - 1])] : list.slice(0, -1));

/** A mask that has an entry for each query or key keeps step with them. @param {any} mask @param {"query" | "key"} side @param {number} by */
function resized(mask, side, by) {
  if (typeof mask !== "object" || !mask) return mask;
  const next = { ...mask };
  for (const name of ["allow", "bias"]) {
    const fresh = name === "allow" ? true : 0;
    const row = (/** @type {any[]} */ a) => (by > 0 ? [...a, fresh] : a.slice(0, -1));
    if (next[name]) next[name] = eachMatrix(next[name], (a) => (side === "key" ? (a[0].length === 1 ? a : a.map(row)) : a.length === 1 && by > 0 ? a : by > 0 ? [...a, a[0].map(() => fresh)] : a.slice(0, -1)));
  }
  const ids = next.documents;
  if (ids) next.documents = { query: longer(ids.query ?? ids, side === "query" ? by : 0), key: longer(ids.key ?? ids, side === "key" ? by : 0) };
  if (ids && by) for (const other of ["query", "key"]) if (other !== side) next.documents[other] = ids[other] ?? ids;
  return next;
}

/**
 * One query, or one key with its value, more or less.
 * @param {Question} request @param {{query: string[], key: string[]}} labels @param {string} name  q, k, v, x or context @param {number} by  1 or -1
 * @returns {Question}
 */
export function withRows(request, labels, name, by) {
  const members = name === "k" || name === "v" ? ["k", "v"] : [name];
  const sides = /** @type {("query" | "key")[]} */ (name === "q" ? ["query"] : name === "x" && !request.context ? ["query", "key"] : name === "x" ? ["query"] : ["key"]);
  const next = { ...request };
  for (const member of members) next[member] = eachMatrix(request[member], (a) => longer(a, by));
  const grown = (/** @type {"query" | "key"} */ side) => (sides.includes(side) ? (by > 0 ? [...labels[side], `${side[0]}${labels[side].length}`] : labels[side].slice(0, -1)) : labels[side]);
  if (request.tokens !== undefined) next.tokens = tokensOf(grown("query"), grown("key"));
  for (const side of sides) if (next.mask !== undefined) next.mask = resized(next.mask, side, by);
  return next;
}

/** @param {Question} request @param {string} name @param {number} by @returns {Question} */
export function withColumns(request, name, by) {
  const next = { ...request };
  for (const member of name === "v" ? ["v"] : ["q", "k"]) next[member] = eachMatrix(request[member], (a) => a.map((row) => (by > 0 ? [...row, 0] : row.slice(0, -1))));
  return next;
}

/** @param {Question} request @param {string} name @returns {boolean} the columns may grow and shrink without touching anything else */
export const hasOwnColumns = (request, name) => "qkv".includes(name) && request.heads === undefined && !request.past && !request.rope && !request.readout;

/** The mask drawn by hand: what was visible, with one cell changed. @param {Question} request @param {boolean[][]} allowed @param {number} i @param {number} j @returns {Question} */
export function withCellToggled(request, allowed, i, j) {
  const allow = allowed.map((row, a) => row.map((x, b) => (a === i && b === j ? !x : x)));
  const { bias, alibi, query_offset, align, empty_rows } = typeof request.mask === "object" && request.mask ? request.mask : /** @type {any} */ ({});
  const kept = { bias: bias && eachMatrix(bias, (a) => a.map((row) => row.map((x) => (x === null || x === "-Infinity" ? 0 : x)))), alibi, ...(alibi ? { query_offset, align } : {}), empty_rows };
  return { ...request, mask: JSON.parse(JSON.stringify({ allow, ...kept })) };
}

/** @typedef {"none" | "causal" | "window" | "prefix" | "draw"} Preset */

/** Which of the presets a mask is. @param {Question} request @returns {Preset} */
export function presetOf({ mask }) {
  if (mask === undefined || mask === "none") return "none";
  if (mask === "causal") return "causal";
  if (mask.allow || mask.bias && !mask.causal || mask.documents || mask.key_lengths) return "draw";
  if (mask.window) return "window";
  if (mask.prefix !== undefined) return "prefix";
  return mask.causal ? "causal" : "none";
}

/** @param {Question} request @param {Preset} preset @param {boolean[][]} allowed @returns {Question} */
export function withPreset(request, preset, allowed) {
  const { alibi, empty_rows } = typeof request.mask === "object" && request.mask ? request.mask : /** @type {any} */ ({});
  const kept = JSON.parse(JSON.stringify({ alibi, empty_rows }));
  /** @type {Record<Preset, object>} */
  const masks = { none: {}, causal: { causal: true }, window: { window: { left: 1, right: 0 } }, prefix: { causal: true, prefix: 2 }, draw: { allow: allowed } };
  const mask = Object.keys(kept).length || preset === "window" || preset === "prefix" || preset === "draw" ? { ...masks[preset], ...kept } : preset === "causal" ? "causal" : undefined;
  const next = { ...request, mask };
  if (mask === undefined) delete next.mask;
  return next;
}
