import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, it } from "vitest";
import { PAGES } from "../../src/pages.ts";
import { findings } from "../axe.ts";
import { keepShot } from "../chromium.ts";
import { missing, ownersConsole } from "../console.ts";
import { PAGE_DATA, ROUTES } from "../data/index.ts";

/** Elements that markup in a text of somebody else would create. */
const ACTIVE =
  "#root :is(img:not([src^='data:']), script, iframe, object, embed, style, base, meta, [onclick], [onerror], [onload])";

describe("the list of pages", () => {
  it("names test data for each page of the navigation", () => {
    const tested = PAGE_DATA.map(({ path }) => path);
    expect(PAGES.map(({ to }) => to).filter((path) => !tested.includes(path))).toEqual([]);
  });

  it("has one shortcut for each page", () => {
    const keys = PAGES.map(({ key }) => key);
    expect(new Set([...keys, "g", "h"]).size).toBe(keys.length + 2);
  });

  it("has a folder with texts for each page", async () => {
    const folders = join(import.meta.dirname, "../../src/pages");
    const without: string[] = [];
    for (const name of await readdir(folders))
      if (!(await readdir(join(folders, name))).includes("words.ts")) without.push(name);
    expect(without).toEqual([]);
  });
});

describe.skipIf(missing !== undefined)("every page in Chromium", () => {
  const console = ownersConsole();

  it.each(PAGE_DATA)("$path is accessible, fits a phone, and keeps hostile text inert", async (data) => {
    const { page, gateway } = console;
    gateway.owners = reverse(gateway.owners, data.text);
    await console.open(data.path, reverse(ROUTES, data.text));
    await page.getByRole("heading", { level: 2, name: data.title, exact: true }).waitFor();
    await page.locator("[data-page]").getByText(data.text).first().waitFor();
    expect(await page.title()).toBe(`${data.title} · Signalbox`);
    const name = data.title.toLowerCase();
    await keepShot(page, name);
    expect(await findings(page)).toEqual([]);

    await page.emulateMedia({ colorScheme: "dark" });
    await page.setViewportSize({ width: 360, height: 720 });
    await page.locator("[data-sidebar]").waitFor({ state: "hidden" });
    const widths = await page.evaluate(() =>
      [document.documentElement, document.querySelector("[data-page]")].map((each) => each?.scrollWidth),
    );
    expect(widths).toEqual([360, 360]);
    await keepShot(page, `${name}-phone`);
    expect(await findings(page)).toEqual([]);

    const inert = await page.evaluate(
      (active) => ({
        pwned: "pwned" in window,
        active: [...document.querySelectorAll(active)].map(({ outerHTML }) => outerHTML),
        // Links in Markdown may lead to other sites. Tests of the chat examine them.
        away: [...document.querySelectorAll("a")].filter(
          (link) =>
            link.origin !== location.origin &&
            link.closest(".markdown") === null &&
            !link.matches('[data-vendor-page][rel="noopener noreferrer"]'),
        ).length,
      }),
      ACTIVE,
    );
    expect(inert).toEqual({ pwned: false, active: [], away: 0 });
    expect(await notIsolated(page)).toEqual([]);
  });

  it("shows no English text of its own in Chinese", async () => {
    await console.visitAgain({ locale: "zh-CN" });
    const { gateway, page } = console;
    const given = JSON.stringify([gateway.owners, gateway.agents, ROUTES]);
    await console.open("/", ROUTES);
    for (const { path, text } of PAGE_DATA) {
      await page.goto(`${gateway.url}/#${path}`);
      await page.locator("[data-page]").getByText(text).first().waitFor();
      await keepShot(page, `${path.replaceAll("/", "")}-zh`);
      const texts = await page.locator("#root").evaluate((body) => {
        const walker = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
        const found: string[] = [];
        while (walker.nextNode() !== null)
          if (walker.currentNode.parentElement?.closest("code, pre") === null)
            found.push(walker.currentNode.textContent ?? "");
        return found;
      });
      const english = texts.filter(
        (each) =>
          /[A-Za-z]{2,} [a-z]{2,}/.test(each) &&
          !/\p{Script=Han}/u.test(each) &&
          !given.includes(JSON.stringify(each).slice(1, -1)),
      );
      expect(english, path).toEqual([]);
    }
  });
});

/** Inserts a mark before a text that changes the direction of writing. */
function reverse<Value extends object>(value: Value, text: string): Value {
  const replace = (part: unknown): unknown => {
    if (typeof part === "string") return part.replaceAll(text, `\u202e${text}`);
    if (Array.isArray(part)) return part.map(replace);
    if (typeof part !== "object" || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, replace(each)]));
  };
  return replace(value) as Value;
}

/** Returns the texts that could change the direction of the text next to them. */
function notIsolated(page: Page): Promise<string[]> {
  return page.locator("main").evaluate((main) => {
    const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    const found: string[] = [];
    while (texts.nextNode() !== null) {
      const { textContent, parentElement } = texts.currentNode;
      if (textContent?.includes("\u202e") !== true || parentElement === null) continue;
      if (!getComputedStyle(parentElement).unicodeBidi.startsWith("isolate")) found.push(textContent);
    }
    return found;
  });
}
