// The reference, the refusals and the examples in a browser: drawn, readable, and every example can be tried.
// Usage: node reference.mjs ADDRESS
import { checkAccess, checkWidth } from "./audit.mjs";
import { answered, check, conclude, eventually, launch, visit } from "./browser.mjs";

const [address] = process.argv.slice(2);
const browser = await launch();
const PAGES = ["docs", "problems", "problems/timeout", "v1/examples", "v1/examples/the-cat"];

async function drawsEach() {
  for (const [width, scheme] of [[320, "dark"], [1440, "light"]])
    for (const path of PAGES) {
      const { page, context, asked, errors } = await visit(browser, `${address}/${path}`, { width, scheme });
      await answered(page);
      check(`${path}: entries stand on it`, (await page.$$(".entry")).length > 10, await page.textContent("main"));
      check(`${path}: no other host was asked, nothing went wrong`, errors.length === 0 && asked.every((url) => url.startsWith(address)), [errors, asked]);
      await checkWidth(page, `${path} at ${width}, ${scheme}`);
      await checkAccess(page, `${path} at ${width}, ${scheme}`);
      await context.close();
    }
}

async function triesEveryOption() {
  const { page, context } = await visit(browser, `${address}/docs`);
  await answered(page);
  const openapi = await (await fetch(`${address}/openapi.json`)).json();
  const options = Object.keys(openapi.paths["/v1/attention"].post.requestBody.content["application/json"].examples);
  for (const option of options) {
    const entry = page.locator(`[id="attention-${option}"]`);
    await entry.locator("summary").click();
    await entry.locator("button").click();
    const status = await eventually(() => entry.locator(".status").textContent(), (told) => told !== "");
    check(`${option}: its example is answered`, status.startsWith("200"), status);
  }
  const refused = page.locator("#invalid-request");
  await refused.locator("summary").click();
  await refused.locator("button").click();
  check("a refusal shows what the service says", (await eventually(() => refused.locator("pre").last().textContent(), (told) => told.includes("pointer"))).includes("/scael"), "");
  await page.locator('[id="attention-softcap"] a').click();
  await answered(page);
  check("an example opens in the explorer", (await page.$$eval("#rail button", (all) => all.map((one) => one.textContent))).includes("cap"), page.url());
  await context.close();
}

/** The members of replies: the request beside each is sent as it stands, and brings the member. */
async function bringsEveryMember() {
  const { page, context } = await visit(browser, `${address}/docs`);
  await answered(page);
  const shown = await page.$$eval('[id^="include-"]', (all) => all.map((entry) => ({ name: entry.id.slice("include-".length), told: entry.querySelector("p")?.textContent ?? "", request: entry.querySelector("pre").textContent })));
  const openapi = await (await fetch(`${address}/openapi.json`)).json(), names = openapi.components.schemas.AttentionRequestQkv.properties.include.items.enum;
  check("every name of include has an entry", names.every((name) => shown.some((entry) => entry.name === name)), shown.map(({ name }) => name));
  const wrong = [];
  for (const { name, told, request } of shown) {
    const body = request.slice(request.indexOf("{")), reply = await (await fetch(`${address}/v1/attention`, { method: "POST", body })).json();
    if (!told || name.split(".").reduce((at, member) => at?.[member], reply) === undefined) wrong.push([name, told, reply.detail]);
  }
  check("its request brings it", wrong.length === 0, wrong);
  const entry = page.locator('[id="include-steps.shifted"]');
  await entry.locator("summary").click();
  await entry.locator("button").click();
  check("a step can be tried", (await eventually(() => entry.locator("pre").last().textContent(), (now) => now.includes('"shifted"'))).includes('"shifted"'), "");
  await context.close();
}

try {
  await drawsEach();
  await triesEveryOption();
  await bringsEveryMember();
} finally {
  await browser.close();
}
conclude();
