// What a stranger's link and a stranger's tokens may do to the explorer: nothing. And what it does when the service is gone.
// Usage: node hostile.mjs ADDRESS PROGRAM LOCKED KEY (LOCKED: the address of a service that asks for the key)
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deflateRawSync } from "node:zlib";
import { answered, cells, check, conclude, eventually, launch, settled, visit } from "./browser.mjs";

const [address, program, locked, key] = process.argv.slice(2);
const browser = await launch();
const text = (page, selector) => page.$eval(selector, (node) => node.textContent);
const packed = (data) => `#s=1.${deflateRawSync(typeof data === "string" ? data : JSON.stringify(data)).toString("base64url")}`;

const markup = '<img src=x onerror="window.hit=1"><script>window.hit=1</script>';
const evil = {
  r: { tokens: { query: [markup, "javascript:alert(1)"], key: [markup, "\u202e\u0000 \ud800"] }, q: [[1, 0], [0, 1]], k: [[1, 0], [0, 1]], v: [[1], [2]], id: markup, ["__proto__"]: { polluted: 1 } },
  n: markup, v: { s: "constructor", q: 1e9, k: -1, f: "x", h: "__proto__", t: "1e999" },
};

const HOSTILE = {
  "markup in tokens": packed(evil),
  "a member called __proto__": packed('{"__proto__":{"polluted":1},"r":{"__proto__":{"polluted":1},"q":[[1]],"k":[[1]],"v":[[1]]},"v":{"__proto__":{"s":"mix"}}}'),
  "plain JSON": `#j=${encodeURIComponent(JSON.stringify(evil))}`,
  "no JSON": packed("{"), "no request": packed({ v: {} }), "a list": packed([1]), "null": packed("null"),
  "no base64": "#s=1.!!!!", "no deflate": "#s=1.AAAA", "another version": "#s=2.abc", "a percent sign": "#j=%E0%A4%A",
  "text for numbers": packed({ r: { q: "x", k: 7, v: null, mask: "\u0000", tokens: 3, scale: "NaN", temperature: [] } }),
  "ragged rows": packed({ r: { q: [[1], [1, 2], "x", null], k: [[]], v: [[[]]], mask: { allow: [] } } }),
  "heads and batches that are not there": packed({ r: { q: [[[1]], [[1]]], k: [[[[1]], [[1]]]], v: [[[[1]]]] }, v: { h: 40, b: 40 } }),
  "too deep for a tensor": packed({ r: { q: [[[[[1]]]]], k: [[[[[1]]]]], v: [[1], []] } }),
  "a bomb": packed(`{"r":{"q":[[${"0,".repeat(4_000_000)}0]]}}`),
  "many numbers": packed({ r: { q: Array(30000).fill(1) } }),
  "deep nesting": packed(`{"r":{"q":${"[".repeat(9000)}${"]".repeat(9000)}}}`),
  "a name that is a method": packed({ r: { q: [[1]], k: [[1]], v: [[1]] }, v: { s: "toString" } }),
};

async function shrugsAtLinks() {
  for (const [what, fragment] of Object.entries(HOSTILE)) {
    const { page, context, asked, errors } = await visit(browser, `${address}/${fragment}`);
    await page.waitForSelector("#title");
    await settled(page);
    const state = await page.evaluate(() => ({ hit: window.hit, polluted: {}.polluted, images: document.querySelectorAll("main img, main script").length, title: document.querySelector("#title").textContent }));
    check(`${what}: no script runs, nothing is polluted`, state.hit === undefined && state.polluted === undefined && state.images === 0, state);
    check(`${what}: no other place is asked`, asked.every((url) => url.startsWith(`${address}/`)), asked);
    check(`${what}: the page is still a page`, state.title.length > 3 && errors.every((error) => /status of 4\d\d/.test(error)), [state, errors]);
    await context.close();
  }
}

async function showsTokensAsText() {
  const { page, context } = await visit(browser, `${address}/${HOSTILE["markup in tokens"]}`);
  await settled(page);
  await page.click("#rail li:nth-child(2) button");
  const header = await eventually(() => page.$eval("#picture tbody th", (th) => th.textContent), (now) => now.includes("<img"));
  check("markup in a token is text", header === markup, header);
  await page.click("#open-export");
  const [svg] = await Promise.all([page.waitForEvent("download"), page.click('#export-files >> text="Picture, SVG"')]);
  const drawn = await readFile(await svg.path(), "utf8");
  check("in the SVG as well", !drawn.includes("<img") && !drawn.includes("<script") && drawn.includes("&lt;img"), drawn.slice(0, 200));
  await context.close();
}

async function start(folder) {
  const service = spawn(program, ["--listen", "127.0.0.1", "--port", "0", "--port-file", join(folder, "port"), "--log-level", "error"], { stdio: "inherit" });
  const port = await eventually(() => readFile(join(folder, "port"), "utf8").catch(() => ""), (found) => found !== "");
  return { service, home: `http://127.0.0.1:${port.trim()}/`, port: port.trim() };
}

const stop = (service) => new Promise((done) => { service.on("exit", done); service.kill("SIGTERM"); });

async function goesOnAlone() {
  const folder = await mkdtemp(join(tmpdir(), "explorer-"));
  const { service, home, port } = await start(folder);
  const { page, context } = await visit(browser, home);
  await answered(page);
  await page.click("#rail li:nth-child(9) button");
  await stop(service);
  await page.click("#input-mask .maskgrid tr:nth-child(3) td:nth-child(2)");
  await page.waitForSelector('body[data-ready="alone"]');
  const shown = await cells(page);
  check("with the service stopped the page says so", (await page.isVisible("#offline")) && (await text(page, "#check")).includes("own arithmetic"), await text(page, "#check"));
  check("and computes on its own", shown[9] === "0" && Math.abs(Number(shown[8]) + Number(shown[10]) - 1) < 2e-3, shown);
  const again = spawn(program, ["--listen", "127.0.0.1", "--port", port, "--log-level", "error"], { stdio: "inherit" });
  await page.waitForSelector('body[data-ready="answered"]', { timeout: 15000 });
  check("when it is back the page notices", !(await page.isVisible("#offline")), "");
  await context.close();
  await stop(again);
  await rm(folder, { recursive: true });
}

async function asksForTheKey() {
  const { page, context } = await visit(browser, `${locked}/`);
  await page.waitForSelector('body[data-ready="refused"]');
  check("it asks for the key", await page.isVisible("#locked"), await text(page, "#check"));
  check("a page without its key still shows its own numbers", (await text(page, "#title")) === "Three lists of numbers" && (await page.$$("#picture td")).length > 0, await text(page, "#title"));
  await page.fill("#key", key);
  await page.keyboard.press("Enter");
  await answered(page);
  const checked = await page.getAttribute("#check", "data-apart");
  check("with the key the service answers, and agrees", !(await page.isVisible("#locked")) && checked !== null && Number(checked) < 1e-12, [checked, await text(page, "#check")]);
  await context.close();
}

try {
  await shrugsAtLinks();
  await showsTokensAsText();
  if (locked) await asksForTheKey();
  if (program) await goesOnAlone();
} finally {
  await browser.close();
}
conclude();
