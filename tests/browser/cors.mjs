// A page on another origin uses the service with a key, as a real browser lets it: preflight, headers, errors, streams.
// Usage: node cors.mjs ADDRESS KEY (playwright-core is found through NODE_PATH)
import { createServer } from "node:http";
import { createRequire } from "node:module";

const { chromium } = createRequire(process.env.NODE_PATH + "/")("playwright-core");
const [address, key] = process.argv.slice(2);
const cat = {
  tokens: ["the", "cat"], mask: "causal",
  q: [[0.3, -0.2, 0.5, 0.1], [1.1, -0.8, 0.2, 0.3]],
  k: [[-0.4, -0.3, 0.2, 1.2], [1.6, -0.7, -0.4, -0.5]],
  v: [[-0.5, -0.4, 0.1, 1.1], [1.2, -0.3, -0.2, -0.6]],
};
let passed = 0, failed = 0;

function check(what, good, found) {
  if (good) passed++;
  else { failed++; console.log(`failed: ${what}: ${JSON.stringify(found)}`); }
}

// In the page: one request, and all that a script may see of the reply.
async function ask({ url, headers, body }) {
  try {
    const reply = await fetch(url, body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers });
    return { status: reply.status, id: reply.headers.get("x-request-id"), json: await reply.json().catch(() => null) };
  } catch (error) {
    return { blocked: String(error) };
  }
}

const site = createServer((_, reply) => reply.setHeader("Content-Type", "text/html").end("<!doctype html><title>elsewhere</title>"));
await new Promise((done) => site.listen(0, "127.0.0.1", done));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"],
});
try {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${site.address().port}/`);
  const url = `${address}/v1/attention`;
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${key}`, "X-Made-Up": "1", traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };

  const good = await page.evaluate(ask, { url, headers, body: cat });
  check("a page elsewhere gets its numbers", good.status === 200 && Math.abs(good.json?.weights[1][1] - 0.7201) < 5e-5, good);
  check("and may read the request id", /^[A-Za-z0-9._-]{1,128}$/.test(good.id ?? ""), good);

  const refused = await page.evaluate(ask, { url, headers: { "Content-Type": "application/json" }, body: cat });
  check("without the key it reads why it is refused", refused.status === 401 && refused.json?.code === "unauthorized", refused);

  const wrong = await page.evaluate(ask, { url, headers, body: { ...cat, scael: 1 } });
  check("it reads what is wrong with its request", wrong.status === 422 && wrong.json?.pointer === "/scael", wrong);

  const lost = await page.evaluate(ask, { url: `${address}/nowhere`, headers });
  check("it reads that there is nothing", lost.status === 404, lost);

  const n = 200, rows = Array.from({ length: n }, (_, i) => [Math.sin(i), Math.cos(i)]);
  const stream = await page.evaluate(ask, { url, headers, body: { q: rows, k: rows, v: rows } });
  check("it reads a streamed reply to its end", stream.json?.weights?.length === n && stream.json.weights[n - 1].length === n, stream.status);
} finally {
  await browser.close();
  site.close();
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed ? 1 : 0;
