// The explorer's lessons: gradients, a head that learns, the wrong ways. Usage: node lessons.mjs ADDRESS
import { checkAccess, checkWidth } from "./audit.mjs";
import { answered, check, conclude, eventually, launch, visit } from "./browser.mjs";

const [address] = process.argv.slice(2);
const browser = await launch();
const text = (page, selector) => page.$eval(selector, (node) => node.textContent);
/** The numbers of the figure whose caption has these words. */
const numbers = (page, caption) => page.evaluate((wanted) => [...([...document.querySelectorAll("#lesson figure")].find((one) => !one.hidden && one.querySelector("figcaption").textContent.includes(wanted))?.querySelectorAll("[data-at]") ?? [])].map((cell) => Number(cell.textContent.replace("\u2212", "-"))), caption);

async function open(name, options = {}) {
  const visited = await visit(browser, `${address}/`, options);
  await answered(visited.page);
  await visited.page.click(`[data-lens="${name}"]`);
  await visited.page.waitForSelector("#lesson .lesson");
  return visited;
}

async function showsWhatPulls() {
  const { page, context, errors } = await open("pull");
  const body = { q: [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]], k: [[0.5, 1, 0], [1, -0.5, 0.5], [0, 1, 1], [-1, 0.5, 0]], v: [[1, 0], [0, 1], [1, 1], [-1, 2]], mask: "causal", backward: { cell: { query: 2, feature: 0 } }, include: ["gradients"] };
  const { gradients } = await (await fetch(`${address}/v1/attention`, { method: "POST", body: JSON.stringify(body) })).json();
  const close = (shown, wanted) => shown.length === wanted.length && shown.every((x, i) => Math.abs(x - wanted[i]) < 0.006);
  for (const [caption, wanted] of [["scores it saw", gradients.masked], ["queries", gradients.q], ["keys", gradients.k], ["values", gradients.v]]) {
    const shown = await eventually(() => numbers(page, caption), (now) => close(now, wanted.flat()));
    check(`the gradient of ${caption} is the service's`, close(shown, wanted.flat()), shown);
  }
  await page.fill('[aria-label="Temperature as a number"]', "0.1");
  await page.keyboard.press("Enter");
  check("a sharp row learns less", (await eventually(() => numbers(page, "scores it saw"), (now) => Math.abs(now[9]) < 0.15)).length === 16, await numbers(page, "scores it saw"));
  await page.click("#lesson figure [data-at='1 0']");
  check("a saturated row goes dark and is told as such", (await eventually(() => text(page, "#lesson .say"), (now) => now.includes("saturated"))).includes("cat"), await text(page, "#lesson .say"));
  check("nothing went wrong in the page", errors.length === 0, errors);
  await context.close();
}

async function learnsToCopy() {
  const { page, context, errors } = await open("learn");
  await eventually(() => text(page, "#lesson .say"), (now) => now.includes("Untrained"));
  await page.click("#learn");
  const told = await eventually(() => text(page, "#lesson .say"), (now) => now.includes("says it"));
  check("the loss falls until the head copies", told.includes("each word looks at the word before"), told);
  await page.click("#learn");
  const weights = await numbers(page, "where each word looks"), stripe = [6, 13, 20, 27, 34].map((at) => weights[at]);
  check("each word looks at the one before", stripe.every((x) => x > 0.8), stripe);
  check("the curve is told in words", /falls from 1\.\d+ to 0\.\d+/.test(await page.getAttribute("#lesson .curve", "aria-label")), await page.getAttribute("#lesson .curve", "aria-label"));
  check("nothing went wrong in the page", errors.length === 0, errors);
  await context.close();
}

async function showsTheWrongWays() {
  const { page, context, errors } = await open("wrong");
  const [right, zero, late] = await Promise.all(["right", "wrong: 0", "after the softmax"].map((caption) => eventually(() => numbers(page, caption), (now) => now.length === 16)));
  check("zeros leak to what is hidden", zero[1] > 0.2 && right[1] === 0, zero);
  check("a late mask leaves too little", Math.abs(late[0] + late[1] + late[2] + late[3] - 0.22) < 0.01, late);
  check("the sentence has the numbers", /zeros leak 0\.\d+ .* only 0\.\d+/.test(await text(page, "#lesson .say")), await text(page, "#lesson .say"));
  check("nothing went wrong in the page", errors.length === 0, errors);
  await context.close();
}

async function readsTileByTile() {
  const { page, context, errors } = await open("tiles");
  const body = { q: [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]], k: [[0.5, 1, 0], [1, -0.5, 0.5], [0, 1, 1], [-1, 0.5, 0]], v: [[1, 0], [0, 1], [1, 1], [-1, 2]], mask: "causal" };
  const { output } = await (await fetch(`${address}/v1/attention`, { method: "POST", body: JSON.stringify(body) })).json();
  const first = await eventually(() => numbers(page, "output so far"), (now) => now.length === 8);
  check("after one tile every row has the first value", first.join() === "1,0,1,0,1,0,1,0", first);
  for (let tile = 2; tile <= 4; tile++) {
    await page.click("#next-tile");
    await eventually(() => text(page, "#lesson .lesson"), (now) => now.includes(`tile ${tile} of 4`));
  }
  const last = await numbers(page, "output so far");
  check("after the last it is the output", last.every((x, at) => Math.abs(x - output.flat()[at]) < 0.006), last);
  check("and told as such", (await text(page, "#lesson .say")).includes("no row was ever whole"), await text(page, "#lesson .say"));
  await page.fill('#lesson input[type="range"]', "2");
  check("wider tiles are fewer", (await eventually(() => text(page, "#lesson .lesson"), (now) => now.includes("of 2"))).includes("tile 1 of 2"), await text(page, "#lesson .lesson"));
  check("nothing went wrong in the page", errors.length === 0, errors);
  await context.close();
}

async function keepsFewerBits() {
  const { page, context, errors } = await open("cache");
  const fact = (name) => page.evaluate((wanted) => Number([...document.querySelectorAll("#lesson .facts dt")].find((one) => one.textContent === wanted)?.nextElementSibling.textContent ?? NaN), name);
  const coarse = await eventually(() => fact("of a share"), (x) => x > 0);
  check("two bits move the shares", Math.abs(coarse - 0.0577) < 1e-3, coarse);
  await page.fill('#lesson input[type="range"]', "8");
  const fine = await eventually(() => fact("of a share"), (x) => x < coarse);
  check("eight bits hardly do", fine < 0.002, fine);
  await page.click('#lesson [data-value="turboquant"]');
  check("another method keeps to the bits it has", (await eventually(() => page.inputValue('#lesson input[type="range"]'), (x) => x === "4")) === "4" && (await text(page, "#lesson .refusal")) === "", await text(page, "#lesson .refusal"));
  check("nothing went wrong in the page", errors.length === 0, errors);
  await context.close();
}

async function roundsAsKernelsDo() {
  const { page, context, errors } = await open("precision");
  const body = { q: [[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1]], k: [[0.5, 1, 0], [1, -0.5, 0.5], [0, 1, 1], [-1, 0.5, 0]], v: [[1, 0], [0, 1], [1, 1], [-1, 2]], mask: "causal", include: ["weights"] };
  for (const [precision, told] of [["fp8", "8 bits"], ["bf16-all", "Every step is rounded"]]) {
    const { weights } = await (await fetch(`${address}/v1/attention`, { method: "POST", body: JSON.stringify({ ...body, precision }) })).json();
    await page.click(`#lesson [data-value="${precision}"]`);
    const close = (now) => now.length === 16 && now.every((x, at) => Math.abs(x - weights.flat()[at]) < 0.0051), shown = await eventually(() => numbers(page, "shares, rounded"), close);
    check(`${precision}: the shares are the service's`, close(shown) && (await eventually(() => text(page, "#lesson .quiet"), (now) => now.includes(told))).includes(told), shown);
  }
  check("the sentence has both shares", /in place of 0\.2430; its row adds up to \d\.\d{4}/.test(await text(page, "#lesson .say")), await text(page, "#lesson .say"));
  check("nothing went wrong in the page", errors.length === 0, errors);
  await context.close();
}

async function keepsANote() {
  const { page, context, errors } = await open("latent");
  const made = await eventually(() => numbers(page, "shares"), (now) => now.length === 16);
  await page.click('#lesson [data-value="absorbed"]');
  const told = await eventually(() => text(page, "#lesson .say"), (now) => now.includes("no key is ever made"));
  check("both forms give the same shares", /the same to (\d\.\de\u2212\d+|0)/.test(told) && (await numbers(page, "shares")).join() === made.join(), told);
  check("nothing went wrong in the page", errors.length === 0, errors);
  await context.close();
}

async function fitsAndSpeaks() {
  for (const [width, scheme] of [[320, "light"], [1440, "dark"]])
    for (const name of await lenses()) {
      const { page, context } = await open(name, { width, scheme, motion: "reduce" });
      await eventually(() => page.$$eval("#lesson [data-at]", (all) => all.length), (count) => count > 0);
      await checkWidth(page, `${name} at ${width}, ${scheme}`);
      await checkAccess(page, `${name} at ${width}, ${scheme}`);
      await page.setViewportSize({ width: 768, height: 900 });
      await checkWidth(page, `${name} at 768, ${scheme}`);
      await context.close();
    }
}

async function lenses() {
  const { page, context } = await visit(browser, `${address}/`);
  await answered(page);
  const names = await page.$$eval("[data-lens]", (all) => all.map((one) => one.dataset.lens).filter((name) => name && name !== "steps"));
  await context.close();
  return [...new Set(names)];
}

async function keepsTheLessonInTheLink() {
  const { page, context } = await open("wrong");
  await page.waitForFunction(() => location.hash.length > 2);
  await page.reload();
  check("a link opens the lesson again", (await eventually(() => text(page, "#title"), (now) => now.includes("wrong ways"))).includes("wrong ways"), await text(page, "#title"));
  await page.click('[data-lens="steps"]');
  check("and back to the steps", (await eventually(() => page.isVisible("#rail"), Boolean)) && !(await page.isVisible("#lesson")), "");
  await context.close();
}

try {
  await showsWhatPulls();
  await learnsToCopy();
  await showsTheWrongWays();
  await readsTileByTile();
  await keepsFewerBits();
  await roundsAsKernelsDo();
  await keepsANote();
  await fitsAndSpeaks();
  await keepsTheLessonInTheLink();
} finally {
  await browser.close();
}
conclude();
