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
  // Colors that are still changing would be measured in between.
  await page.evaluate(() =>
    Promise.allSettled(
      document
        .getAnimations()
        .filter(({ effect }) => effect?.getTiming().iterations !== Number.POSITIVE_INFINITY)
        .map(({ finished }) => finished),
    ),
  );
  // The content security policy forbids other scripts, so axe is injected through the debugger protocol.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(await source());
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"] }));
  return violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .flatMap(({ id, nodes }) => nodes.map(({ target, html }) => `${id}: ${target.join(" ")} ${html}`));
}

let text: Promise<string> | undefined;

function source(): Promise<string> {
  text ??= readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  return text;
}
