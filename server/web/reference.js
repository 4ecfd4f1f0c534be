// The reference, the refusals and the examples, drawn from what the service says of itself: /openapi.json, /problems, /v1/examples.
import { makeApi } from "./api.js";
import { rowsOf } from "./code.js";
import { byId, el, fill, write } from "./dom.js";

/**
 * @typedef {{path: string, body?: unknown, text?: string, method?: string, accept?: string, type?: string}} Trial  something that a button runs
 */

const api = makeApi(new URL(".", document.baseURI));
const main = byId("main"), contents = byId("contents");

/** What makes the service refuse, for the refusals that a page can provoke. @type {Record<string, Trial>} */
const REFUSED = {
  "malformed-body": { path: "v1/attention", text: '{"q": [[1, 0],]}' },
  "not-found": { path: "nowhere" },
  "method-not-allowed": { path: "v1/attention", method: "DELETE" },
  "not-acceptable": { path: "v1/info", accept: "image/png" },
  "unsupported-type": { path: "v1/attention", text: "{}", type: "image/png" },
  "invalid-request": { path: "v1/attention", body: { q: [[1, 0]], k: [[1, 0]], v: [[1]], scael: 1 } },
};

/** @param {string} id @param {string} text @param {string} [kind] */
function listed(id, text, kind = "") {
  contents.append(el("a", { href: `${location.pathname}#${id}`, class: kind }, text));
}

/** @param {Trial} trial @returns {Promise<{status: string, text: string}>} */
async function run(trial) {
  const method = trial.method ?? (trial.body || trial.text ? "POST" : "GET"), body = trial.text ?? (trial.body ? JSON.stringify(trial.body) : undefined);
  const packed = typeof trial.body === "object" && trial.body !== null && "encoding" in trial.body; // which text/plain cannot show
  const headers = { Accept: trial.accept ?? (packed ? "application/json, application/problem+json" : "text/plain, application/json;q=0.9, application/problem+json;q=0.8"), ...(body ? { "Content-Type": trial.type ?? "application/json" } : {}) };
  const reply = await fetch(new URL(trial.path, api.base), { method, headers, body }), text = await reply.text();
  const json = (reply.headers.get("Content-Type") ?? "").includes("json");
  return { status: `${reply.status} ${reply.statusText}`, text: json ? rowsOf(JSON.parse(text)) : text };
}

/** A button that runs it, and the place for what comes back. @param {Trial} trial @param {boolean} [explores] @returns {Node[]} */
function tried(trial, explores = false) {
  const status = el("span", { class: "status", role: "status" }), reply = el("pre", { hidden: true, tabindex: 0, "aria-label": "Reply" });
  const button = el("button", { type: "button", onclick: async () => {
    try {
      const { status: told, text } = await run(trial);
      write(status, told);
      write(reply, text.length > 20000 ? `${text.slice(0, 20000)}\n\u2026` : text);
    } catch {
      write(status, "The service does not answer.");
    }
    reply.hidden = reply.textContent === "";
  } }, "Try");
  const state = encodeURIComponent(JSON.stringify({ r: trial.body }));
  const link = explores ? el("a", { href: new URL(`./#j=${state}`, document.baseURI).href }, "Open in the explorer") : null;
  return [el("div", { class: "acts" }, button, link, status), reply];
}

/** @param {Trial} trial */
const spelled = (trial) => el("pre", { tabindex: 0, "aria-label": "Request" }, `${trial.method ?? (trial.body || trial.text ? "POST" : "GET")} /${trial.path}${trial.accept ? `\nAccept: ${trial.accept}` : ""}${trial.type ? `\nContent-Type: ${trial.type}` : ""}${trial.body || trial.text ? `\n${trial.text ?? rowsOf(trial.body)}` : ""}`);

/** @param {string} id @param {string} name @param {string} kind @param {string} text @param {...(Node | null)} more */
function entry(id, name, kind, text, ...more) {
  return el("section", { class: "entry", id }, el("h3", {}, /^([A-Z]+ \/|\d+ |[\w.-]+$)/.test(name) ? el("code", {}, name) : name, el("span", { class: "kind" }, kind)), text ? el("p", {}, text) : null, ...more);
}

/** @param {string} id @param {string} title */
function section(id, title) {
  main.append(el("h2", { id }, title));
  listed(id, title, "top");
}

/** What a schema allows, in a few words. @param {any} schema @returns {string} */
function typed(schema) {
  if (!schema) return "";
  const one = schema.enum ? schema.enum.map((/** @type {unknown} */ x) => JSON.stringify(x)).join(" | ") : schema.anyOf ? schema.anyOf.map(typed).join(" or ") : schema.$ref ? schema.$ref.split("/").pop() : schema.type === "array" ? `list of ${typed(schema.items) || "anything"}` : (schema.type ?? "");
  const range = [schema.minimum !== undefined ? `\u2265 ${schema.minimum}` : "", schema.exclusiveMinimum !== undefined ? `> ${schema.exclusiveMinimum}` : "", schema.maximum !== undefined ? `\u2264 ${schema.maximum}` : ""].filter(Boolean).join(", ");
  return [one, range].filter(Boolean).join(", ");
}

/** The schema of an option like mask.window.left. @param {any} all  components.schemas @param {any} schema @param {string[]} path @returns {any} */
function schemaAt(all, schema, [name, ...rest]) {
  if (schema?.oneOf) return schema.oneOf.map((/** @type {any} */ form) => schemaAt(all, all[form.$ref.split("/").pop()], [name, ...rest])).find((/** @type {any} */ found) => found);
  const inner = schema?.properties?.[name];
  if (!rest.length || !inner) return inner;
  const named = inner.$ref ?? inner.anyOf?.find((/** @type {any} */ x) => x.$ref)?.$ref;
  return schemaAt(all, named ? all[named.split("/").pop()] : inner, rest);
}

/** @param {any} openapi */
function drawPaths(openapi) {
  section("paths", "Paths");
  for (const [path, methods] of Object.entries(openapi.paths))
    for (const [method, operation] of Object.entries(/** @type {any} */ (methods))) {
      const plain = (method === "get" || !operation.requestBody) && !path.includes("{") && path !== "/docs", id = `${method}-${operation.operationId}`;
      main.append(entry(id, `${method.toUpperCase()} ${path}`, Object.keys(operation.responses).join(" "), operation.summary, ...(plain ? tried({ path: path.slice(1) || "./", accept: "*/*", ...(method === "get" ? {} : { method: method.toUpperCase() }) }) : [])));
    }
}

/** The options of one kind of request, each with its example. @param {any} openapi @param {string} path @param {string} title @param {(name: string) => boolean} wanted */
function drawOptions(openapi, path, title, wanted) {
  const content = openapi.paths[path].post.requestBody.content["application/json"], { schemas } = openapi.components;
  const schema = schemas[content.schema.$ref.split("/").pop()], key = path.split("/").pop() ?? "";
  section(key, title);
  for (const [name, { summary, value }] of /** @type {[string, any][]} */ (Object.entries(content.examples)).filter(([option]) => wanted(option))) {
    const found = schemaAt(schemas, schema, name.split(".")), trial = { path: path.slice(1), body: value };
    const example = el("details", {}, el("summary", {}, "Example"), spelled(trial), ...tried(trial, path === "/v1/attention"));
    main.append(entry(`${key}-${name}`, name, typed(found), found?.description ?? summary, example));
    if (!name.includes(".")) listed(`${key}-${name}`, name);
  }
}

/** The option whose example has what a member of the reply comes from, where the plainest request has it not. @type {Record<string, string>} */
const NEEDS = {
  quantization: "quantize", error: "quantize", embedded: "ids", embedding: "ids", head_outputs: "w_o", w_o: "w_o", b_o: "b_o", b_q: "b_q", b_k: "b_k", b_v: "b_v",
  x: "x", w_q: "x", w_k: "x", w_v: "x", context: "context", past: "past", dropped: "dropout", capped: "softcap", softcap: "softcap", biased: "mask.bias", bias: "mask.bias", alibi: "mask.alibi", sinks: "sinks",
  readout_w: "backward.target", latent: "latent", rope_key: "latent", query_nope: "latent", query_rope: "latent", key_nope: "latent", w_dkv: "latent", w_kr: "latent", w_uk: "latent", w_uv: "latent",
  query_latent: "latent.w_dq", w_dq: "latent.w_dq", w_uq: "latent.w_dq", gain_q: "latent.gain_q", gain_kv: "latent.gain_kv", query_absorbed: "latent.form", mixed_latent: "latent.form",
  tile_max: "tiles", running_max: "tiles", rescale: "tiles", tile_exp: "tiles", tile_sum: "tiles", running_sum: "tiles", accumulator: "tiles",
};

/** The members that come with an option, without being named. @type {Record<string, string>} */
const COME_WITH = { id: "id", labels: "tokens", readout: "readout", loss: "backward.target", row_loss: "backward.target", updated: "step", ulp: "precision", checks: "expect" };

/** A request that brings this member of the reply. @param {any} examples @param {string} name  as include has it @returns {Trial} */
function bringing(examples, name) {
  const [first, last = first] = name.split("."), back = first === "gradients", option = first === "exact" ? "quantize" : (NEEDS[last] ?? (back ? "backward" : "include"));
  const { include, encoding, ...rest } = (examples[option] ?? examples.include).value;
  return { path: "v1/attention", accept: "application/json", body: { ...rest, ...(back && !rest.backward ? { backward: examples.backward.value.backward } : {}), include: [name] } };
}

/** What comes back: members, steps, gradients, each with a request that brings it. @param {any} openapi */
function drawReplies(openapi) {
  const { schemas } = openapi.components, { examples } = openapi.paths["/v1/attention"].post.requestBody.content["application/json"];
  /** @type {string[]} */
  const names = schemaAt(schemas, schemas.AttentionRequest, ["include"]).items.enum, told = (/** @type {string} */ name) => schemaAt(schemas, schemas.AttentionReply, name.split("."))?.description ?? "";
  const one = (/** @type {string} */ name, /** @type {Trial} */ trial = bringing(examples, name)) => {
    main.append(entry(`include-${name}`, name, "", told(name), el("details", {}, el("summary", {}, "Example"), spelled(trial), ...tried(trial))));
  };
  section("reply", "The reply");
  main.append(el("p", {}, "Every reply has dtype, shape, axes and scale. These members come with an option, or when include names them:"));
  for (const [name, option] of Object.entries(COME_WITH).filter(([, each]) => examples[each])) one(name, { path: "v1/attention", accept: "application/json", body: examples[option].value });
  for (const name of names.filter((each) => !/^(steps|gradients)\./.test(each))) { one(name); listed(`include-${name}`, name); }
  section("steps", "Steps");
  names.filter((name) => name.startsWith("steps.")).forEach((name) => one(name));
  section("gradients", "Gradients");
  names.filter((name) => name.startsWith("gradients.")).forEach((name) => one(name));
}

/** @param {any[]} problems @param {string} here  the one that the address names */
function drawProblems(problems, here) {
  section("refusals", "Refusals");
  for (const { code, title, status, advice, causes } of problems) {
    const trial = REFUSED[code];
    const rows = causes.map((/** @type {{cause: string, instead: string}} */ each) => el("tr", {}, el("td", {}, each.cause), el("td", {}, each.instead)));
    const table = rows.length ? el("table", { class: "plain" }, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Common cause"), el("th", { scope: "col" }, "Send instead"))), el("tbody", {}, ...rows)) : null;
    main.append(entry(code, `${status} ${code}`, title, advice, table, ...(trial ? [el("details", { open: code === here }, el("summary", {}, "Example"), spelled(trial), ...tried(trial))] : [])));
    listed(code, code);
  }
}

/** @param {any[]} examples */
function drawExamples(examples) {
  section("examples", "Examples");
  for (const { name, title, teaches, look } of examples) {
    const details = el("details", {}, el("summary", {}, "Request"));
    details.addEventListener("toggle", async () => {
      if (details.childElementCount > 1) return;
      const { json } = await api.ask(`v1/examples/${encodeURIComponent(name)}`), trial = { path: "v1/attention", body: json };
      details.append(spelled(trial), ...tried(trial));
    });
    main.append(entry(name, title, name, `${teaches} ${look}`, el("a", { href: new URL(`./?example=${encodeURIComponent(name)}`, document.baseURI).href }, "Open in the explorer"), details));
    listed(name, title);
  }
}

/** @param {string} path @returns {Promise<any>} */
const fetched = async (path) => (await api.ask(path)).json;

async function draw() {
  const path = location.pathname.slice(api.base.pathname.length - 1), name = decodeURIComponent(path.split("/").pop() ?? "");
  if (path.startsWith("/problems")) {
    write(byId("title"), "Refusals");
    write(byId("lead"), "Every refusal of the service, by the name that ends the type of a problem, and what to do about it.");
    drawProblems(await fetched("problems"), name);
  } else if (path.startsWith("/v1/examples")) {
    write(byId("title"), "Examples");
    write(byId("lead"), "Worked examples: the body of each is a request for /v1/attention.");
    drawExamples((await fetched("v1/examples")).examples);
  } else {
    write(byId("lead"), "What the service takes and what it gives, made of the tables that it is built of. The same for machines: openapi.json.");
    const openapi = await fetched("openapi.json");
    const common = new Set(Object.keys(openapi.paths["/v1/attention"].post.requestBody.content["application/json"].examples));
    drawPaths(openapi);
    for (const at of Object.keys(openapi.paths).filter((each) => openapi.paths[each].post?.requestBody?.content?.["application/json"]?.examples))
      drawOptions(openapi, at, `POST ${at}`, (option) => at === "/v1/attention" || !common.has(option));
    drawReplies(openapi);
    drawProblems(await fetched("problems"), "");
  }
  const target = document.getElementById(location.hash.slice(1) || name);
  target?.scrollIntoView();
  target?.querySelector("details")?.setAttribute("open", "");
}

draw().catch(() => fill(main, el("h1", {}, "Reference"), el("p", { class: "refusal" }, "The service does not answer."))).finally(() => { document.body.dataset.ready = "answered"; });
