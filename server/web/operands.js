// A request made plain: q, k, v of each head, who may see whom, which bias. The same rules as the service's, written again.

/** @param {number} n @param {(i: number) => any} make */
const list = (n, make) => Array.from({ length: n }, (_, i) => make(i));

/** What this page does not compute itself. */
const FOREIGN = ["latent", "quantize", "precision", "ids", "positions", "embedding", "dropout", "tiles"];

export class Unable extends Error {}

/** @param {Matrix} a @param {Matrix} b @returns {Matrix} */
export function product(a, b) {
  if (a[0].length !== b.length) throw new Unable("widths that do not fit");
  return a.map((row) => b[0].map((_, c) => row.reduce((sum, x, t) => sum + x * b[t][c], 0)));
}

/** @param {any} tensor @returns {number} */
function rank(tensor) {
  if (!Array.isArray(tensor)) throw new Unable("a tensor that is not spelled in numbers");
  let depth = 0;
  for (let at = tensor; Array.isArray(at); at = at[0]) depth++;
  return depth;
}

/** Columns [from, from + width). @param {Matrix} a @param {number} from @param {number} width @returns {Matrix} */
const columns = (a, from, width) => a.map((row) => row.slice(from, from + width));

/** @param {Matrix} a @param {number} heads @returns {Matrix[]} */
function split(a, heads) {
  const width = a[0].length / heads;
  if (!Number.isInteger(width)) throw new Unable("a width that the heads do not divide");
  return list(heads, (h) => columns(a, h * width, width));
}

/** A tensor as [batch][head] of matrices. @param {any} tensor @param {number | undefined} heads @returns {Matrix[][]} */
function byHead(tensor, heads) {
  const r = rank(tensor);
  if (heads !== undefined) return r === 3 ? tensor.map((/** @type {Matrix} */ a) => split(a, heads)) : [split(tensor, heads)];
  return r === 4 ? tensor : r === 3 ? [tensor] : [[tensor]];
}

/** @param {Question} request @param {"q" | "k" | "v"} name @returns {any} */
function projected(request, name) {
  const from = name === "q" ? request.x : (request.context ?? request.x);
  const add = request["b_" + name];
  const one = (/** @type {Matrix} */ a) => product(a, request["w_" + name]).map((row) => row.map((x, c) => x + (add ? add[c] : 0)));
  return rank(from) === 3 ? from.map(one) : one(from);
}

/** Rotary embedding of rows at positions. @param {Matrix} a @param {any} rope @param {number[]} positions @returns {Matrix} */
function rotate(a, rope, positions) {
  const width = rope.dims ?? a[0].length, theta = rope.theta ?? 10000;
  return a.map((row, i) => {
    const out = row.slice();
    for (let t = 0; t < width / 2; t++) {
      const [one, two] = rope.interleaved ? [2 * t, 2 * t + 1] : [t, t + width / 2];
      const angle = positions[i] * theta ** ((-2 * t) / width);
      out[one] = Math.cos(angle) * row[one] - Math.sin(angle) * row[two];
      out[two] = Math.sin(angle) * row[one] + Math.cos(angle) * row[two];
    }
    return out;
  });
}

/** Right-aligned broadcast of a mask tensor. @param {any} tensor @param {number} b @param {number} h @param {number} i @param {number} j */
function spread(tensor, b, h, i, j) {
  const at = [b, h, i, j].slice(4 - rank(tensor));
  return at.reduce((inner, index) => inner[inner.length === 1 ? 0 : index], tensor);
}

/** Slopes of ALiBi where none are given. @param {number} heads @returns {number[]} */
function slopes(heads) {
  const whole = 2 ** Math.floor(Math.log2(heads));
  return list(heads, (h) => (h < whole ? 2 ** ((-8 * (h + 1)) / whole) : 2 ** ((-4 * (2 * (h - whole) + 1)) / whole)));
}

/** The number of earlier entries with the same id. @param {any[]} ids @returns {number[]} */
const counted = (ids) => ids.map((id, at) => ids.slice(0, at).filter((other) => other === id).length);

/**
 * Places of queries and keys in one batch, and which documents they are of.
 * @param {any} mask @param {number} b @param {number} n @param {number} m @param {number} past
 */
function places(mask, b, n, m, past) {
  const ids = mask.documents, query = ids?.query ?? ids, key = ids?.key ?? ids;
  const own = Array.isArray(mask.query_offset) ? mask.query_offset[b] : mask.query_offset;
  if (!ids) {
    const offset = own ?? (mask.align === "end" ? m - n : past);
    return { P: list(n, (i) => i + offset), R: list(m, (j) => j), same: () => true };
  }
  const total = (/** @type {any[]} */ of, /** @type {any} */ id) => of.filter((x) => x === id).length;
  const offset = (/** @type {any} */ id) => own ?? (mask.align === "end" ? total(key, id) - total(query, id) : total(key.slice(0, past), id));
  return { P: counted(query).map((p, i) => p + offset(query[i])), R: counted(key), same: (/** @type {number} */ i, /** @type {number} */ j) => query[i] === key[j] };
}

/** @param {any} mask @param {number} p @param {number} r */
function within(mask, p, r) {
  const { left = null, right = null } = mask.window ?? {};
  const near = (left === null || r >= p - left) && (right === null || r <= p + right);
  return near && (!mask.causal || r <= p || r < (mask.prefix ?? 0));
}

/** @param {Question} request @param {any} q @param {any} k @param {number} b @param {number} h @param {number} past @returns {Pick<Head, "allowed" | "bias" | "slope" | "away">} */
function maskOf(request, q, k, b, h, past) {
  const mask = request.mask === "causal" ? { causal: true } : typeof request.mask === "object" && request.mask ? request.mask : {};
  const n = q.length, m = k.length, { P, R, same } = places(mask, b, n, m, past);
  const numbers = mask.bias ? list(n, (i) => list(m, (j) => spread(mask.bias, b, h, i, j))) : null;
  const bias = numbers && numbers.map((row) => row.map((/** @type {any} */ x) => (x === null || x === "-Infinity" ? null : x)));
  const allowed = list(n, (i) => list(m, (j) => same(i, j) && within(mask, P[i], R[j]) && (!mask.key_lengths || j < mask.key_lengths[b])
    && (!mask.allow || spread(mask.allow, b, h, i, j)) && (!bias || bias[i][j] !== null)));
  return { allowed, bias, slope: 0, away: list(n, (i) => list(m, (j) => Math.abs(P[i] - R[j]))) };
}

/** @param {any} tensor @param {number} heads @returns {Matrix[][]} */
function pastByHead(tensor, heads) {
  const r = rank(tensor);
  return r === 4 ? tensor : r === 3 ? [tensor] : heads === 1 ? [[tensor]] : [split(tensor, heads)];
}

/**
 * @param {Question} request
 * @returns {Operands}
 * @throws {Unable} for what only the service computes
 */
export function operands(request) {
  const foreign = FOREIGN.find((name) => request[name] !== undefined);
  if (foreign) throw new Unable(foreign);
  const heads = request.x ? (request.heads ?? 1) : request.heads;
  const take = (/** @type {"q" | "k" | "v"} */ name) => (request.x ? projected(request, name) : request[name]);
  const q = byHead(take("q"), heads), k = byHead(take("k"), request.kv_heads ?? heads), v = byHead(take("v"), request.kv_heads ?? heads);
  const pastK = request.past && pastByHead(request.past.k, k[0].length), pastV = request.past && pastByHead(request.past.v, k[0].length);
  const group = q[0].length / k[0].length, dk = q[0][0][0].length;
  const alibi = typeof request.mask === "object" && request.mask?.alibi;
  const slope = alibi === true ? slopes(q[0].length) : alibi || null;
  const all = q.map((ofBatch, b) => ofBatch.map((rows, h) => {
    const g = Math.floor(h / group), past = pastK ? pastK[b][g].length : 0, rope = request.rope;
    const positions = (/** @type {any} */ given, /** @type {number} */ count) => (Array.isArray(given?.[0]) ? given[b] : given) ?? list(count, (i) => i + past);
    const qs = rope ? rotate(rows, rope, positions(rope.query_positions, rows.length)) : rows;
    const ks = rope ? rotate(k[b][g], rope, positions(rope.key_positions, k[b][g].length)) : k[b][g];
    const keys = past ? [...pastK[b][g], ...ks] : ks, values = past ? [...pastV[b][g], ...v[b][g]] : v[b][g];
    if (keys.some((key) => key.length !== dk) || qs.some((row) => row.length !== dk) || keys.length !== values.length) throw new Unable("shapes that do not fit");
    return { q: qs, k: keys, v: values, ...maskOf(request, qs, keys, b, h, past), slope: slope ? slope[h] : 0, sink: request.sinks ? request.sinks[h] : null };
  }));
  const { k: keys, v: values } = all[0][0];
  return { batch: q.length, heads: q[0].length, kvHeads: k[0].length, n: q[0][0].length, m: keys.length, dk, dv: values[0].length, scale: request.scale ?? 1 / Math.sqrt(dk), all };
}
