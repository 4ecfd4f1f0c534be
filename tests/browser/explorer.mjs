// The explorer as its visitors use it: by keyboard alone, with every example, with a link to take along.
// Usage: node explorer.mjs ADDRESS (of a service that asks for no key)
import { createServer, request } from "node:http";
import { readFile } from "node:fs/promises";
import { answered, cells, check, conclude, eventually, launch, visit } from "./browser.mjs";

const [address] = process.argv.slice(2);
const home = `${address}/`;
const browser = await launch();

const text = (page, selector) => page.$eval(selector, (node) => node.textContent);
const apart = (page) => page.$eval("#check", (node) => (node.hasAttribute("data-apart") ? Number(node.getAttribute("data-apart")) : null));
const focused = (page) => page.evaluate(() => document.activeElement?.closest("[data-at], [id]")?.outerHTML.slice(0, 120) ?? "");

/** Tab until the focus stands in `selector`. */
async function tabTo(page, selector) {
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    if (await page.evaluate((wanted) => document.activeElement?.matches(wanted) ?? false, selector)) return true;
  }
  return false;
}

async function walksByKeyboard() {
  const { page, context, asked, errors } = await visit(browser, home);
  await answered(page);
  check("the worked example stands on the page", (await text(page, "#title")) === "Three lists of numbers", await text(page, "#title"));

  check("Tab reaches the rail of steps", await tabTo(page, "#rail button"), await focused(page));
  const titles = [await text(page, "#title")];
  for (let i = 0; i < 10; i++) {
    await page.keyboard.press("ArrowRight");
    titles.push(await eventually(() => text(page, "#title"), (title) => title !== titles.at(-1)));
  }
  check("ten steps lead to the output, each with its own title", new Set(titles).size === 11 && titles.at(-1) === "The output", titles);

  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await eventually(() => text(page, "#title"), (title) => title === "Score every pair");
  const before = await cells(page);
  check("Tab reaches the first query", await tabTo(page, "#input-q td input"), await focused(page));
  await page.keyboard.press("Enter");
  await page.keyboard.type("4");
  await page.keyboard.press("Enter");
  const after = await eventually(() => cells(page), (now) => now[0] !== before[0]);
  check("a number typed changes the scores of its row and no other", after[0] === "2.000" && after.slice(4).join() === before.slice(4).join(), after);
  await answered(page);
  check("the service agrees to the last digits", (await eventually(() => apart(page), (x) => x !== null)) < 1e-12, await apart(page));

  await page.keyboard.press("Alt+ArrowUp");
  await page.keyboard.up("Alt");
  const nudged = await eventually(() => cells(page), (now) => now[4] !== after[4]);
  check("Alt and an arrow move a number by a tenth", nudged[4] !== after[4], nudged);
  await page.keyboard.press("F2");
  await page.keyboard.type("9");
  await page.keyboard.press("Escape");
  check("Escape takes an edit back", (await cells(page)).join() === nudged.join(), await cells(page));

  await page.click("#rail li:nth-child(9) button");
  await eventually(() => text(page, "#title"), (title) => title === "Divide by the sum");
  await page.focus("#picture [data-at].at");
  for (const key of ["Control+End", "Home"]) await page.keyboard.press(key);
  check("Home and Control+End move inside the matrix", (await eventually(() => page.$eval("#picture .at", (cell) => cell.dataset.at), (at) => at === "3 0")) === "3 0", await focused(page));
  await page.keyboard.press("Space");
  const masked = await eventually(() => cells(page), (now) => now[12] === "0");
  const row = masked.slice(12).map(Number);
  check("Space hides a pair and the row renormalises", masked[12] === "0" && Math.abs(row[0] + row[1] + row[2] + row[3] - 1) < 2e-3, masked);
  await page.keyboard.press("Enter");
  check("Enter pins", (await eventually(() => page.getAttribute("#pin", "aria-pressed"), (x) => x === "true")) === "true", "");
  await page.keyboard.press("Escape");
  check("Escape releases", (await eventually(() => page.getAttribute("#pin", "aria-pressed"), (x) => x === "false")) === "false", "");
  await page.keyboard.press("Enter");
  check("what has the focus is spoken", /sat|down|the|cat/.test(await eventually(() => text(page, "#live"), (x) => x.includes("step divide"))), await text(page, "#live"));

  await page.focus("#open-share");
  await page.keyboard.press("Enter");
  const link = await eventually(() => page.inputValue("#export-text"), (value) => value.includes("#s=1."));
  check("the link is short and holds everything", link.startsWith(home) && link.length < 600, link);
  await page.keyboard.press("Escape");
  const other = await visit(browser, link);
  await answered(other.page);
  check("it opens to the same picture", (await cells(other.page)).join() === masked.join() && (await text(other.page, "#sentence")) === (await text(page, "#sentence")), await cells(other.page));
  check("and the same pin", (await other.page.getAttribute("#pin", "aria-pressed")) === "true", "");
  await other.context.close();

  await page.goBack();
  check("Back undoes the mask", (await eventually(() => cells(page), (now) => now[12] !== "0"))[12] !== "0", await cells(page));
  check("no other host was asked", asked.every((url) => url.startsWith(home) || url.startsWith("data:") || url.startsWith("blob:")), asked.filter((url) => !url.startsWith(home)));
  check("nothing went wrong in the page", errors.length === 0, errors);
  await context.close();
}

async function agreesOnEveryExample() {
  const list = await (await fetch(`${address}/v1/examples`)).json();
  const { page, context, errors } = await visit(browser, home);
  for (const { name } of list.examples) {
    await page.goto(`${home}?example=${name}`);
    await page.waitForFunction(() => document.querySelector("#check")?.textContent && document.body.dataset.ready === "answered" && location.hash.length > 2);
    await answered(page);
    const told = await eventually(() => text(page, "#check"), (now) => /largest difference|last bit|only the service/.test(now)), difference = await apart(page), refusal = await text(page, "#refusal");
    const body = await (await fetch(`${address}/v1/examples/${name}`)).json(), foreign = ["latent", "quantize", "precision", "dropout", "ids", "tiles"].some((option) => option in body);
    check(`${name}: the page's own arithmetic agrees with the service, or is not claimed`, refusal === "" && (foreign ? told.includes("only the service") : difference !== null && difference < 1e-12), { told, difference, refusal });
    const steps = await page.$$("#rail button");
    for (const step of steps) {
      await step.click();
      const said = await page.$eval("#sentence", (node) => node.textContent);
      if (/undefined|NaN|\{/.test(said + (await text(page, "#line")))) check(`${name}: every step is told`, false, [await text(page, "#title"), said, await text(page, "#line")]);
    }
  }
  check("nothing went wrong on any of them", errors.length === 0, errors);
  await context.close();
}

async function refusesInPlace() {
  const { page, context } = await visit(browser, home);
  await answered(page);
  await page.click('[data-value="draw"]');
  await page.click("#input-mask .maskgrid tr:nth-child(1) td:nth-child(1)");
  const refusal = await eventually(() => text(page, "#input-mask .refusal"), (now) => now.includes("No key is visible"));
  check("a row that sees nothing is refused beside the mask, in the service's words", refusal.includes("query 0"), refusal);
  await page.click("text=Let empty rows be 0");
  await eventually(() => text(page, "#input-mask .refusal"), (now) => now === "");
  await page.click("#rail li:nth-child(9) button");
  await page.click('#picture [data-at="0 0"]');
  check("as zero it is told as such", (await eventually(() => text(page, "#sentence"), (now) => now.includes("no key"))).includes("no key allowed"), await text(page, "#sentence"));

  await page.focus("#input-v td input");
  await page.keyboard.press("Enter");
  await page.keyboard.type("x");
  await page.keyboard.press("Enter");
  check("what is no number is said beside its field", (await text(page, "#input-v .refusal")).includes("number") && (await page.getAttribute("#input-v td input", "aria-invalid")) === "true", await text(page, "#input-v .refusal"));
  await page.keyboard.press("Escape");

  await page.click("#open-import");
  await page.fill("#import-text", '{"q":[[1,0]],"k":[[1,0]],"v":[[1]],"scael":1}');
  await page.click("#take");
  check("a refusal without a place stands on the stage", (await eventually(() => text(page, "#refusal"), (now) => now.includes("scale"))).includes("scale"), await text(page, "#refusal"));
  await page.click("#open-import");
  await page.fill("#import-text", "{");
  await page.click("#take");
  check("what is not JSON is said where it was pasted", (await text(page, "#import-broken")).includes("not JSON"), await text(page, "#import-broken"));
  await context.close();
}

async function takesItAlong() {
  const { page, context } = await visit(browser, home);
  await answered(page);
  await page.click("#rail li:nth-child(9) button");
  await page.click("#open-export");
  const forms = {};
  for (const name of ["JSON", "curl", "fetch", "NumPy", "PyTorch"]) {
    await page.click(`#export-tabs >> text="${name}"`);
    forms[name] = await eventually(() => page.inputValue("#export-text"), (value) => value.length > 0 && !Object.values(forms).includes(value));
  }
  const reply = await (await fetch(`${address}/v1/attention`, { method: "POST", body: forms.JSON })).json();
  check("the JSON is a request that the service takes", Math.abs(reply.weights?.[2]?.[1] - 0.24295) < 1e-4, reply);
  check("the others name what they need", forms.curl.startsWith("curl http") && forms.fetch.includes("await fetch") && forms.NumPy.includes("np.exp") && forms.PyTorch.includes("scaled_dot_product_attention"), Object.keys(forms));
  for (const [name, start] of [["Matrix, CSV", ",the,cat"], ["Picture, SVG", "<svg"], ["Picture, PNG", ""], ["Reply, JSON", "{"]]) {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(`#export-files >> text="${name}"`)]);
    const bytes = await readFile(await download.path());
    check(`${name} is a file of its kind`, name.endsWith("PNG") ? bytes.subarray(1, 4).toString() === "PNG" && bytes.length > 2000 : bytes.toString().startsWith(start), bytes.toString().slice(0, 60));
  }
  await context.close();
}

async function playsBySteps() {
  const { page, context } = await visit(browser, home, { motion: "reduce" });
  await answered(page);
  check("nothing plays until it is asked to", (await page.getAttribute("#play", "aria-label")) === "Play" && (await text(page, "#at")).startsWith("1 of"), await text(page, "#at"));
  await page.click("#play");
  check("Play goes on step by step", (await eventually(() => text(page, "#at"), (now) => now.startsWith("3 of"))).startsWith("3 of"), await text(page, "#at"));
  await page.click("#back");
  check("a step chosen by hand ends it", (await page.getAttribute("#play", "aria-label")) === "Play", await page.getAttribute("#play", "aria-label"));
  await page.click("#rail li:nth-child(10) button");
  await page.click("#play");
  check("so does the last step", (await eventually(() => text(page, "#at"), (now) => now.startsWith("11 of"))).startsWith("11 of") && (await page.getAttribute("#play", "aria-label")) === "Play", await text(page, "#at"));
  await page.goto(`${home}?embed=1`);
  await answered(page);
  check("embedded it is the chain alone", !(await page.isVisible("header")) && !(await page.isVisible(".inputs")) && (await page.isVisible("#stage")), "");
  await context.close();
}

/** index.html and a folder web on another web server, with the service named in the address. */
async function worksAsACopy() {
  const folder = new URL("../../server/web/", import.meta.url), types = { html: "text/html", js: "text/javascript", css: "text/css", svg: "image/svg+xml" };
  const site = createServer(async ({ url }, sent) => {
    const name = url.split("?")[0].replace(/^\/(web\/)?/, "") || "index.html", bytes = await readFile(new URL(name, folder)).catch(() => null);
    sent.writeHead(bytes ? 200 : 404, { "Content-Type": types[name.split(".").pop()] ?? "text/plain" }).end(bytes ?? "");
  });
  await new Promise((done) => site.listen(0, "127.0.0.1", done));
  const copy = `http://127.0.0.1:${site.address().port}/`, { page, context, asked, errors } = await visit(browser, `${copy}?api=${encodeURIComponent(home)}`);
  await answered(page);
  const difference = await apart(page);
  check("a copy elsewhere asks the service that its address names", errors.length === 0 && difference !== null && difference < 1e-12 && asked.every((url) => url.startsWith(copy) || url.startsWith(`${home}v1/`)), [errors, difference, asked]);
  await context.close();
  site.closeAllConnections();
  site.close();
}

async function addsUpTheMix() {
  const { page, context } = await visit(browser, home);
  await answered(page);
  await page.click("#rail li:nth-child(10) button");
  await page.click('#picture [data-at="1 1"]');
  const read = () => page.$$eval("#picture tbody tr", (rows) => rows.map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.textContent.replace("\u2212", "-")))));
  const rows = await eventually(read, (now) => now.length === 5 && now[1][3] === 0.243), foot = rows.pop();
  const shown = rows.map((row) => row[3]), added = rows.map((_, at) => rows.slice(0, at + 1).reduce((sum, row) => sum + row[2], 0));
  check("the sums so far stand beside the parts", shown.every((x, at) => Math.abs(x - added[at]) < 2e-3), [shown, added]);
  check("the last of them is the output", shown.at(-1) === foot[2], [shown, foot]);
  check("the line adds them up", (await eventually(() => text(page, "#line"), (now) => now.includes("+"))).includes("0.000 + 0.243 = 0.243"), await text(page, "#line"));
  await context.close();
}

async function leansLongLabels() {
  const tokens = ["international", "extraordinarily", "cat"], rows = [[1, 0], [0, 1], [1, 1]];
  const { page, context } = await visit(browser, `${home}#j=${encodeURIComponent(JSON.stringify({ r: { tokens, q: rows, k: rows, v: rows }, v: { s: "weights" } }))}`, { width: 390 });
  await answered(page);
  const heads = await page.$$eval("#picture thead th:not(.corner) span", (all) => all.map((one) => ({ text: one.textContent, clipped: one.scrollWidth > one.clientWidth + 1, box: one.getBoundingClientRect().toJSON() })));
  const top = await page.$eval("#picture", (node) => node.getBoundingClientRect().top);
  check("labels wider than their columns lean and are whole", (await page.$$("#picture .leaning")).length === 1 && heads.map((one) => one.text).join() === tokens.join() && heads.every(({ clipped, box }) => !clipped && box.top >= top - 1), heads);
  await page.goto(home);
  await answered(page);
  await page.click("#rail li:nth-child(9) button");
  check("short ones stand upright", (await eventually(() => page.$$("#picture .matrix:not(.leaning)"), (all) => all.length === 1)).length === 1, "");
  await context.close();
}

async function shelvesEveryExample() {
  const { examples } = await (await fetch(`${address}/v1/examples`)).json();
  const { page, context } = await visit(browser, home);
  await answered(page);
  await page.click("#open-gallery");
  const cards = await eventually(() => page.$$eval("#cards .card", (all) => all.map((card) => [card.dataset.example, card.querySelector("span:last-child").textContent])), (all) => all.length > examples.length);
  check("every example has a card with a sentence", examples.every(({ name, teaches }) => cards.some(([card, told]) => card === name && told === teaches)), cards.map(([name]) => name));
  check("they stand on shelves, each once", new Set(cards.map(([name]) => name)).size === cards.length && (await page.$$("#cards h3")).length > 5, cards.map(([name]) => name));
  await context.close();
}

/** A proxy in front of the service that serves it below /some/where/. */
async function worksBehindAPrefix() {
  const prefix = "/some/where";
  const proxy = createServer((given, sent) => {
    if (!given.url.startsWith(`${prefix}/`)) { sent.writeHead(404).end(); return; }
    const passed = request(address + given.url.slice(prefix.length), { method: given.method, headers: given.headers }, (answer) => { sent.writeHead(answer.statusCode, answer.headers); answer.pipe(sent); });
    given.pipe(passed);
  });
  await new Promise((done) => proxy.listen(0, "127.0.0.1", done));
  const front = `http://127.0.0.1:${proxy.address().port}${prefix}/`, { page, context, asked, errors } = await visit(browser, front);
  await answered(page);
  await page.click("#open-gallery");
  await page.click('#cards [data-example="cross-attention"]');
  await eventually(() => text(page, "#pick-title"), (now) => now.includes("five keys"));
  await page.click("header nav a");
  await answered(page);
  check("the explorer works below a prefix, and its reference", (await page.$$(".entry")).length > 50, page.url());
  await page.goto(`${front}v1/examples/the-cat`);
  await answered(page);
  check("so do the pages of deeper paths", (await page.$$(".entry")).length > 10 && errors.length === 0 && asked.every((url) => url.startsWith(front)), [errors, asked.filter((url) => !url.startsWith(front))]);
  await context.close();
  proxy.closeAllConnections();
  proxy.close();
}

try {
  await walksByKeyboard();
  await agreesOnEveryExample();
  await refusesInPlace();
  await takesItAlong();
  await playsBySteps();
  await worksAsACopy();
  await addsUpTheMix();
  await leansLongLabels();
  await shelvesEveryExample();
  await worksBehindAPrefix();
} finally {
  await browser.close();
}
conclude();
