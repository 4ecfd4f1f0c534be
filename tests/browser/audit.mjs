// What sticks out of a page, and what axe-core finds in it.
import { readFile } from "node:fs/promises";
import { axePath, check } from "./browser.mjs";

const axeText = await readFile(axePath, "utf8");

/** Checks that nothing makes the page wider than the window. */
export async function checkWidth(page, what) {
  const out = await page.evaluate(() => {
    const width = document.documentElement.clientWidth, inside = (node) => { for (let at = node.parentElement; at; at = at.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(at).overflowX)) return true; return false; };
    const wide = [...document.querySelectorAll("body *")].filter((node) => { const box = node.getBoundingClientRect(); return box.width && box.right > width + 1 && !inside(node); });
    return [document.documentElement.scrollWidth > width, ...wide.slice(0, 3).map((node) => node.outerHTML.slice(0, 90))];
  });
  check(`${what}: nothing overflows`, out.length === 1 && !out[0], out);
}

/** Checks that axe-core finds nothing serious. */
export async function checkAccess(page, what) {
  await page.evaluate(axeText);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ["violations"] });
    return violations.filter(({ impact }) => impact === "serious" || impact === "critical").map(({ id, nodes }) => [id, nodes.length, nodes[0].html.slice(0, 140), nodes[0].failureSummary?.slice(0, 160)]);
  });
  check(`${what}: axe-core finds nothing serious`, found.length === 0, found);
}
