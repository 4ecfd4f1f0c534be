// What the browser tests share: Chromium, checks that are counted, a page of the explorer with everything it asked for.
// playwright-core and axe-core are found through NODE_PATH.
import { createRequire } from "node:module";

const modules = createRequire(process.env.NODE_PATH + "/");
const { chromium } = modules("playwright-core");
export const axePath = modules.resolve("axe-core/axe.min.js");

let passed = 0, failed = 0;

export function check(what, good, found) {
  if (good) passed++;
  else { failed++; console.log(`failed: ${what}: ${JSON.stringify(found)}`); }
}

export function conclude() {
  console.log(`${passed} passed, ${failed} failed`);
  process.exitCode = failed ? 1 : 0;
}

export const launch = () => chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"],
});

/** A page of the explorer; `asked` and `errors` collect what it asks for and what goes wrong in it. */
export async function visit(browser, url, { width = 1440, height = 900, scheme = "light", motion = "no-preference", touch = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: motion, hasTouch: touch, permissions: [] });
  const page = await context.newPage(), asked = [], errors = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => { if (message.type() === "error") errors.push(message.text()); });
  await page.goto(url);
  return { page, context, asked, errors };
}

/** The service has answered for what the page shows: a change makes the page wait at once, so no answer to an older state counts. */
export const answered = (page) => page.waitForSelector('body[data-ready="answered"]');

/** It has answered or refused, or it is away. */
export const settled = (page) => page.waitForSelector('body[data-ready]:not([data-ready="waiting"])');

/** What stands in the matrix on the stage. */
export const cells = (page) => page.$$eval("#picture .matrix [data-at]", (all) => all.map((cell) => cell.textContent));

/** Waits until what `read` finds in the page satisfies `good`; returns what was found last. */
export async function eventually(read, good) {
  const end = Date.now() + 30000; // a machine that is very busy; what is right comes long before
  let found = await read();
  while (!good(found) && Date.now() < end) {
    await new Promise((done) => setTimeout(done, 20));
    found = await read();
  }
  return found;
}
