// How the explorer looks and sounds: nothing overflows, axe-core finds nothing serious, stepping is smooth, the page is small.
// With a FOLDER the pictures for the README are taken. Usage: node look.mjs ADDRESS [FOLDER]
import { answered, cells, check, conclude, eventually, launch, visit } from "./browser.mjs";
import { checkAccess, checkWidth } from "./audit.mjs";

const [address, folder] = process.argv.slice(2);
const browser = await launch();
const LIMIT = 200_000;

const step = (n) => async (page) => { await page.click(`#rail li:nth-child(${n}) button`); };
const STATES = {
  "start": async () => {},
  "scores": step(2), "mask": step(4), "largest": step(5), "sum": step(8), "shares": step(9), "mix": step(10), "output": step(11),
  "gallery": async (page) => { await page.click("#open-gallery"); await page.waitForSelector('#cards [data-example="readout"]'); },
  "export": async (page) => { await page.click("#open-export"); },
  "import": async (page) => { await page.click("#open-import"); },
  "drawer": async (page) => { await page.click("#open-drawer"); },
  "on paper": async (page) => { await page.click("#rail li:nth-child(9) button"); await page.waitForSelector("#paper:not([hidden])"); await page.click("#paper summary"); },
  "refusal": async (page) => { await page.click('[data-value="draw"]'); await page.click("#input-mask .maskgrid tr:nth-child(1) td:nth-child(1)"); await page.waitForSelector("#input-mask .refusal:not(:empty)"); },
};
const EXAMPLES = ["multi-head", "cross-attention", "projections", "past", "linear", "eight"];

async function fitsEverywhere() {
  for (const [width, scheme] of [[320, "light"], [768, "dark"], [1440, "light"], [1440, "dark"]]) {
    const { page, context, errors } = await visit(browser, `${address}/`, { width, height: width === 320 ? 640 : 900, scheme, motion: "reduce" });
    for (const [name, act] of Object.entries(STATES)) {
      await page.goto("about:blank");
      await page.goto(`${address}/`);
      await answered(page);
      await act(page);
      await checkWidth(page, `${name} at ${width}, ${scheme}`);
      await checkAccess(page, `${name} at ${width}, ${scheme}`);
    }
    for (const name of EXAMPLES) {
      await page.goto(`${address}/?example=${name}`);
      await page.waitForFunction(() => location.hash.length > 2);
      await answered(page);
      await checkWidth(page, `${name} at ${width}, ${scheme}`);
    }
    check(`nothing goes wrong at ${width}, ${scheme}`, errors.filter((error) => !error.includes("422")).length === 0, errors);
    await context.close();
  }
}

/** Eight words, eight heads of eight: what a step in every frame costs the page. Its time is told, not judged: that depends
 * on the machine. How often the page is laid out does not. */
async function stepsSmoothly() {
  const { page, context } = await visit(browser, `${address}/?example=eight`);
  await page.waitForFunction(() => location.hash.length > 2);
  await answered(page);
  const devtools = await context.newCDPSession(page), steps = 60;
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  const spent = async () => Object.fromEntries((await devtools.send("Performance.getMetrics")).metrics.map(({ name, value }) => [name, value]));
  const before = await spent();
  await page.evaluate(async (count) => {
    for (let i = 0; i < count; i++) {
      document.querySelector("#next").click();
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    }
  }, steps);
  const after = await spent(), each = (name) => (after[name] - before[name]) / steps;
  console.log(`a step of 8 x 8 x 8 takes ${(1000 * each("TaskDuration")).toFixed(1)} ms of the page's thread and ${each("LayoutCount").toFixed(1)} layouts`);
  check("a step lays the page out a few times, not once for each cell", each("LayoutCount") < 8, each("LayoutCount"));
  await context.close();
}

async function carriesLargeOnes() {
  const n = 64, rows = Array.from({ length: n }, (_, i) => Array.from({ length: 4 }, (_, j) => Math.round(100 * Math.sin(i * (j + 1))) / 100));
  const { page, context } = await visit(browser, `${address}/#j=${encodeURIComponent(JSON.stringify({ r: { q: rows, k: rows, v: rows, mask: "causal" }, v: { s: "weights" } }))}`);
  await answered(page);
  check("64 x 64 is a canvas", await page.isVisible("#picture canvas"), await page.$eval("#picture", (node) => node.innerHTML.slice(0, 200)));
  await page.focus("#picture canvas");
  for (const key of ["Control+End", "ArrowLeft", "Enter"]) await page.keyboard.press(key);
  check("the keyboard walks it", (await eventually(() => page.$eval("#sentence", (node) => node.textContent), (now) => now.includes("k62"))).includes("q63 looks at k62"), await page.$eval("#sentence", (node) => node.textContent));
  await page.click("#as-table");
  check("it may be shown as a table", (await eventually(() => cells(page), (all) => all.length === n * n)).length === n * n, "");
  await context.close();
}

async function isSmallAndQuick() {
  const { page, context } = await visit(browser, `${address}/`);
  await answered(page);
  await page.reload();
  await answered(page);
  const { bytes, paint } = await page.evaluate(async () => {
    const names = performance.getEntriesByType("resource").map(({ name }) => name).filter((name) => name.includes("/web/"));
    const sizes = await Promise.all([location.href.split("#")[0], ...new Set(names)].map(async (url) => (await (await fetch(url, { headers: { Accept: "text/html" } })).arrayBuffer()).byteLength));
    return { bytes: sizes.reduce((sum, size) => sum + size, 0), paint: performance.getEntriesByName("first-contentful-paint")[0].startTime };
  });
  console.log(`the page has ${bytes} bytes; its first picture stands after ${paint.toFixed(0)} ms, which is told and not judged`);
  check("the page is small", bytes < LIMIT, bytes);
  await context.close();
}

/** The README's three pictures. */
async function takePictures() {
  const take = async (name, options, act, query = "") => {
    const { page, context } = await visit(browser, `${address}/${query}`, { ...options, motion: "reduce" });
    if (query) await page.waitForFunction(() => location.hash.length > 2);
    await answered(page);
    await act(page);
    await page.mouse.move(0, 0);
    await page.waitForSelector("#paper:not([hidden])");
    await page.screenshot({ path: `${folder}/${name}.png` });
    await context.close();
  };
  await take("explorer", { width: 1280, height: 840 }, step(9));
  await take("explorer-dark", { width: 1280, height: 840, scheme: "dark" }, step(10));
  await take("explorer-phone", { width: 390, height: 844 }, step(9));
}

try {
  if (folder) await takePictures();
  else {
    await fitsEverywhere();
    await stepsSmoothly();
    await carriesLargeOnes();
    await isSmallAndQuick();
  }
} finally {
  await browser.close();
}
conclude();
