// Elements: the only place that makes them. Texts become text nodes, never markup.

const MATHML = "http://www.w3.org/1998/Math/MathML";

/**
 * @typedef {Node | string | null | undefined | false} Child
 * @typedef {Record<string, unknown>} Attributes
 */

/**
 * @param {Element} node
 * @param {Attributes} attributes  a name that starts with "on" is a listener; true, false and null mean present and absent
 */
export function dress(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (value === false || value === null || value === undefined) node.removeAttribute(name);
    else if (node.getAttribute(name) !== String(value === true ? "" : value)) node.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  dress(node, attributes);
  fill(node, ...children);
  return node;
}

/**
 * Replaces what stands in a node.
 * @param {Element} node
 * @param {...Child} children
 */
export function fill(node, ...children) {
  node.replaceChildren(.../** @type {(Node | string)[]} */ (children.filter((child) => child || child === "")));
}

/**
 * The element of the page with this id; the page has it, or the page is broken.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const node = document.getElementById(id);
  if (!node) throw new Error(`the page has no #${id}`);
  return node;
}

/** @param {Element | Text} node @param {string} text  written only where it differs, so that nothing is laid out twice */
export function write(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/**
 * A formula from a short notation: ["mi", "Q"], ["msup", [...], [...]], or a plain list of such rows.
 * @typedef {[string, ...(string | Formula)[]]} Formula
 * @param {Formula[]} parts
 * @param {string} spoken
 * @returns {Element}
 */
export function formula(parts, spoken) {
  const math = document.createElementNS(MATHML, "math");
  math.setAttribute("aria-label", spoken);
  math.append(...parts.map(term));
  return math;
}

/** @param {Formula} part @returns {Element} */
function term([tag, ...rest]) {
  const node = document.createElementNS(MATHML, tag);
  for (const inner of rest) node.append(typeof inner === "string" ? inner : term(inner));
  return node;
}
