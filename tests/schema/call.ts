// A call with the types that openapi-typescript has generated; tsc checks it, node runs it. Usage: call.js ADDRESS
import createClient from "openapi-fetch";
import type { components, paths } from "./description.js";

declare const process: { argv: string[] };

// Replies that are JSON; without this they may be text, which many paths have, too.
const client = createClient<paths, `application/${string}json`>({ baseUrl: process.argv[2] });

function fail(what: string, found: unknown): never {
  throw new Error(`${what}: ${JSON.stringify(found)}`);
}

type AttentionRequest = components["schemas"]["AttentionRequest"];
const request: AttentionRequest = { q: [[1, 0]], k: [[1, 0]], v: [[3, 4]], mask: "causal" };
const { data, error } = await client.POST("/v1/attention", { body: request });
if (!data) fail("refused", error.detail);
if (JSON.stringify(data.output) !== "[[3,4]]") fail("output", data.output);
if (data.shape.queries !== 1) fail("shape", data.shape);

// @ts-expect-error A member that is not there does not compile.
const misspelt: AttentionRequest = { q: [[1, 0]], k: [[1, 0]], v: [[3, 4]], scael: 1 };
const wrong = await client.POST("/v1/attention", { body: misspelt });
if (wrong.error?.pointer !== "/scael") fail("refusal", wrong.error);

const info = await client.GET("/v1/info");
if (!info.data || info.data.service !== "attentiond" || info.data.workers < 1) fail("info", info);
const examples = await client.GET("/v1/examples");
const name = examples.data?.examples[0]?.name ?? fail("examples", examples);
const example = await client.GET("/v1/examples/{name}", { params: { path: { name } } });
if (!example.data) fail("example", example.error);
