// The request in other languages: what somebody pastes into a terminal, a console or a notebook.

/** JSON with a line for each row of a matrix. @param {unknown} value @param {string} [indent] @returns {string} */
export function rowsOf(value, indent = "") {
  const inner = `${indent}  `;
  if (Array.isArray(value) && Array.isArray(value[0])) return `[\n${value.map((x) => inner + rowsOf(x, inner)).join(",\n")}\n${indent}]`;
  if (Array.isArray(value)) return `[${value.map((x) => JSON.stringify(x)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{\n${Object.entries(value).map(([name, x]) => `${inner}${JSON.stringify(name)}: ${rowsOf(x, inner)}`).join(",\n")}\n${indent}}`;
}

/** @param {Question} body @param {URL} url @returns {string} */
export const asCurl = (body, url) => `curl ${url} -H 'Content-Type: application/json' -d '${rowsOf(body).replace(/'/g, "'\\''")}'\n`;

/** @param {Question} body @param {URL} url @returns {string} */
export const asFetch = (body, url) => `const reply = await fetch(${JSON.stringify(String(url))}, {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(${rowsOf(body, "  ")}),
});
console.log(await reply.json());
`;

/** @param {unknown} value */
const python = (value) => JSON.stringify(value).replace(/\btrue\b/g, "True").replace(/\bfalse\b/g, "False").replace(/\],\[/g, "],\n     [");

/** What was added to the scaled scores of this head. @param {Slice} slice @returns {number[][] | null} */
function biasOf({ steps, allowed }) {
  const before = steps.capped ?? steps.scaled;
  return steps.biased ? before.map((/** @type {number[]} */ row, /** @type {number} */ i) => row.map((x, j) => (allowed[i][j] && steps.biased[i][j] !== null ? steps.biased[i][j] - x : 0))) : null;
}

/** One head as it entered the scores, spelled out. @param {Slice} slice @param {number} scale @param {Question} body @returns {string} */
export function asNumpy(slice, scale, body) {
  const bias = biasOf(slice), allowed = slice.allowed.flat().every(Boolean) ? null : slice.allowed;
  return `import numpy as np

q = np.array(${python(slice.q)})
k = np.array(${python(slice.k)})
v = np.array(${python(slice.v)})
${allowed ? `allowed = np.array(${python(allowed)})\n` : ""}
s = ${scale} * q @ k.T
${body.softcap ? `s = ${body.softcap} * np.tanh(s / ${body.softcap})\n` : ""}${bias ? `s = s + np.array(${python(bias)})\n` : ""}${allowed ? "s = np.where(allowed, s, -np.inf)\n" : ""}w = np.exp(s - s.max(axis=-1, keepdims=True))
w = w / w.sum(axis=-1, keepdims=True)
print(w)
print(w @ v)
`;
}

/** @param {Slice} slice @param {number} scale @returns {string} */
export function asTorch(slice, scale) {
  const bias = biasOf(slice), allowed = slice.allowed.flat().every(Boolean) ? null : slice.allowed;
  const mask = bias ? bias.map((row, i) => row.map((x, j) => (slice.allowed[i][j] ? x : -Infinity))) : allowed;
  const spelled = mask && JSON.stringify(mask, (_, x) => (x === -Infinity ? "-inf" : x)).replace(/"-inf"/g, "float('-inf')").replace(/\btrue\b/g, "True").replace(/\bfalse\b/g, "False");
  return `import torch
from torch.nn.functional import scaled_dot_product_attention

torch.set_default_dtype(torch.float64)
q = torch.tensor(${python(slice.q)})
k = torch.tensor(${python(slice.k)})
v = torch.tensor(${python(slice.v)})
${spelled ? `mask = torch.tensor(${spelled})\n` : ""}print(scaled_dot_product_attention(q, k, v${spelled ? ", attn_mask=mask" : ""}, scale=${scale}))
`;
}

/** @param {Picture} picture @returns {string} comma-separated, a label in front of each row */
export function asCsv(picture) {
  const text = (/** @type {string} */ x) => (/[",\n\r]|^[=+\-@\t]/.test(x) ? `"${(/^[=+\-@\t]/.test(x) ? "'" : "") + x.replace(/"/g, '""')}"` : x);
  const lines = [["", ...picture.cols.map(text)], ...picture.values.map((row, i) => [text(picture.rows[i]), ...row.map((x) => (x === null ? "-inf" : String(x)))])];
  return `${lines.map((line) => line.join(",")).join("\n")}\n`;
}
