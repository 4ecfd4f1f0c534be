// The service, asked over /v1 and nothing else. ?api= names another base; the default is where this page came from.

/** The service could not be reached at all. */
export class Unreachable extends Error {}

/** @param {string} search  of the page's address @param {string} home  the page's base @returns {URL} */
export function baseOf(search, home) {
  const named = new URLSearchParams(search).get("api");
  const base = new URL(named ?? ".", home);
  if (!/^https?:$/.test(base.protocol)) throw new TypeError("api is no http address");
  if (!base.pathname.endsWith("/")) base.pathname += "/";
  return base;
}

/** @param {string} text @returns {any} */
function json(text) {
  try { return JSON.parse(text); } catch { return null; }
}

/** @param {Response} reply @param {string} text @returns {Problem} */
function problemOf(reply, text) {
  const body = json(text);
  return body && typeof body.detail === "string" ? body : { detail: `${reply.status} ${reply.statusText}`.trim(), status: reply.status };
}

/** @param {URL} base */
export function makeApi(base) {
  let key = "";

  /** @param {unknown} body @param {string} accept */
  function headers(body, accept) {
    return { Accept: accept, ...(body ? { "Content-Type": "application/json" } : {}), ...(key ? { Authorization: `Bearer ${key}` } : {}) };
  }

  /**
   * @param {string} path  without a slash before it
   * @param {unknown} [body]  makes it a POST
   * @param {{signal?: AbortSignal, accept?: string}} [how]
   * @returns {Promise<Answer>}
   */
  async function ask(path, body, { signal, accept = "application/json" } = {}) {
    const began = performance.now();
    try {
      const reply = await fetch(new URL(path, base), { method: body ? "POST" : "GET", headers: headers(body, accept), signal, ...(body ? { body: JSON.stringify(body) } : {}) });
      const text = await reply.text();
      const common = { status: reply.status, id: reply.headers.get("X-Request-Id") ?? "", timing: reply.headers.get("Server-Timing") ?? "", milliseconds: performance.now() - began, text };
      return reply.ok ? { ...common, json: json(text), problem: null } : { ...common, json: null, problem: problemOf(reply, text) };
    } catch (error) {
      if (signal?.aborted) throw error;
      throw new Unreachable(String(error));
    }
  }

  return {
    base, ask,
    /** @param {string} given */
    useKey(given) { key = given; },
  };
}

/** @typedef {ReturnType<typeof makeApi>} Api */
