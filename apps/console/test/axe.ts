import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type axe from "axe-core";
import type { Page } from "playwright-core";

declare global {
  interface Window {
    axe: typeof axe;
  }
}

/** Returns serious and critical violations that axe finds on a page, by rule and element. */
export async function findings(page: Page): Promise<string[]> {
  // The content security policy forbids other scripts, so axe is injected through the debugger protocol.
  await page.evaluate(await readFile(createRequire(import.meta.url).resolve("axe-core"), "utf8"));
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target }) => `${id}: ${target.join(" ")}`));
}
