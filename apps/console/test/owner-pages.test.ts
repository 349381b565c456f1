import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { en } from "../src/words/en.ts";
import { findings } from "./axe.ts";
import { developmentPage, keepShot, launch, whyNot } from "./chromium.ts";
import { OWNERS } from "./owners.ts";
import { signIn, type Visit, visit } from "./signed-in.ts";
import { type StubGateway, startStubGateway } from "./stub-gateway.ts";

const missing = whyNot();
if (missing !== undefined) console.log(`The pages are not tested: ${missing}.`);

const PAGES = [
  ["#/sessions", "Sessions", "会议纪要"],
  ["#/messages", "Messages", "把昨天的会议纪要整理成表格"],
  ["#/message/01KABC", "Message", "refused the key"],
  ["#/approvals", "Approvals", "/home/me/project"],
  ["#/people", "People", "张三"],
  ["#/channels", "Channels", "the token is wrong"],
  ["#/activity", "Activity", "npm run watch"],
  ["#/usage", "Usage", "2026-11-21"],
] as const;

let browser: Browser;
let built: string;
let gateway: StubGateway;
let visitor: Visit;
let page: Page;

const heading = (name: string) => page.getByRole("heading", { level: 2, name, exact: true });
const button = (name: string) => page.getByRole("button", { name, exact: true });

const ENGLISH = Object.values({ ...en.activity, ...en.usage, ...en.pages }).filter(
  (word) => typeof word === "string",
);

/** Returns English texts that appear on a page. */
async function englishOn(page: Page): Promise<string[]> {
  const found = await Promise.all(
    ENGLISH.map((word) => page.locator(".sheet").getByText(word, { exact: true }).count()),
  );
  return ENGLISH.filter((_, index) => found[index] !== 0);
}

describe.skipIf(missing !== undefined)("the pages for owners in Chromium", () => {
  beforeAll(async () => {
    built = await developmentPage();
    browser = await launch();
  });
  afterAll(() => browser?.close());

  beforeEach(async () => {
    gateway = await startStubGateway(built);
    gateway.owners = structuredClone(OWNERS);
    visitor = await visit(browser);
    page = visitor.page;
  });
  afterEach(async () => {
    const own = new URL(gateway.url).host;
    expect(visitor.requested.filter((url) => new URL(url).host !== own)).toEqual([]);
    expect(visitor.violations).toEqual([]);
    await visitor.context.close();
    await gateway.stop();
  });

  it.each(PAGES.filter(([hash]) => !hash.includes("01KABC")))(
    "%s isolates texts of others that change the direction of writing",
    async (hash, title, text) => {
      gateway.owners = JSON.parse(JSON.stringify(OWNERS).replaceAll(text, `\u202e${text}`));
      await signIn(page, gateway, `/${hash}`);
      await heading(title).waitFor();
      await page.locator(".sheet").getByText(text).first().waitFor();
      const open = await page.locator(".sheet").evaluate((sheet) => {
        const texts = document.createTreeWalker(sheet, NodeFilter.SHOW_TEXT);
        const found: string[] = [];
        while (texts.nextNode() !== null) {
          const { textContent, parentElement } = texts.currentNode;
          if (textContent?.includes("\u202e") !== true || parentElement === null) continue;
          if (!getComputedStyle(parentElement).unicodeBidi.startsWith("isolate")) found.push(textContent);
        }
        return found;
      });
      expect(open).toEqual([]);
    },
  );

  it.each(PAGES)(
    "%s shows what there is, fits a phone, and keeps hostile text inert",
    async (hash, title, text) => {
      await signIn(page, gateway, `/${hash}`);
      await heading(title).waitFor();
      await page.locator(".sheet").getByText(text).first().waitFor();
      for (const summary of await page.locator(".sheet summary").all()) await summary.click();
      const name = title.toLowerCase();
      await keepShot(page, name);
      expect(await findings(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await findings(page)).toEqual([]);
      await page.emulateMedia({ colorScheme: "light" });

      await page.setViewportSize({ width: 360, height: 720 });
      await page.locator(".sidebar").waitFor({ state: "hidden" });
      await page.locator(".sheet").evaluate((sheet) => sheet.scrollTo(0, 0));
      const widths = await page.evaluate(() =>
        [document.documentElement, document.querySelector(".sheet")].map((each) => each?.scrollWidth),
      );
      expect(widths).toEqual([360, 360]);
      await keepShot(page, `${name}-phone`);
      expect(await findings(page)).toEqual([]);

      const inert = await page.evaluate(() => ({
        pwned: "pwned" in window,
        active: [
          ...document.querySelectorAll(
            "#root :is(img, script, iframe, object, embed, style, link, base, meta, [style]:not([style='']), [onclick], [onerror], [onload])",
          ),
        ].map(({ outerHTML }) => outerHTML),
        away: [...document.querySelectorAll("a")].filter(({ origin }) => origin !== location.origin).length,
      }));
      expect(inert).toEqual({ pwned: false, active: [], away: 0 });
    },
  );

  it("navigates by keyboard from a session to the trace of a message", async () => {
    await signIn(page, gateway);
    const link = page.getByRole("link", { name: "Sessions" });
    await link.focus();
    await page.keyboard.press("Enter");
    await heading("Sessions").waitFor();
    // Screen readers announce the heading.
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Sessions");
    await page.keyboard.press("Tab");
    await page.keyboard.type("feishu");
    await expect.poll(() => page.locator(".rows > li").count()).toBe(1);
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await heading("Messages").waitFor();
    await expect.poll(() => page.locator(".rows > li").count()).toBe(1);
    await page.getByRole("link", { name: /把昨天/ }).press("Enter");
    await heading("Message").waitFor();
    const stages = page.locator(".waterfall .stage");
    await expect
      .poll(() => stages.allTextContents())
      .toEqual(["intake", "routing", "gate", "prompt", "model", "reply"]);
    // The model took most of the time, so its bar is the longest.
    const widths = await page
      .locator(".bar .span")
      .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("width"))));
    expect(Math.max(...widths)).toBe(widths[4]);
    expect(widths[4]).toBeGreaterThan(900);
  });

  it("shows pending approvals and decisions next to the chat", async () => {
    gateway.owners.approvals = [];
    await signIn(page, gateway);
    gateway.owners.approvals = structuredClone(OWNERS.approvals);
    const card = page.getByRole("article", { name: /Waiting for approval/ });
    await card.getByText("/usr/bin/rm").waitFor();
    expect(await card.getByText("registry.npmjs.org").count()).toBe(1);
    await keepShot(page, "chat-approval");
    expect(await findings(page)).toEqual([]);
    await button("Allow once").press("Enter");
    await page.getByText("Allowed.").waitFor();
    await card.waitFor({ state: "detached" });
    // The button disappeared with its card, and the region has the focus.
    expect(await page.locator("section:focus").count()).toBe(1);
    await button("Dismiss").press("Enter");
    await page.getByText("Allowed.").waitFor({ state: "detached" });
    expect(await page.locator("section:focus").count()).toBe(1);
    expect(gateway.changes).toEqual([{ path: "/api/approvals/ABCD2345", body: { answer: "allow-once" } }]);
  });

  it("shows the live activity, including after a reconnect", async () => {
    await signIn(page, gateway, "/#/activity");
    await page.getByText("1 run in progress, 1 message waiting.").waitFor();
    const call = page.locator(".calls > li").filter({ hasText: "exec" });
    await call.getByText("running").waitFor();
    const [run] = gateway.owners.activity.runs;
    const over = run?.calls.map((each) => ({ ...each, state: "failed" as const, durationMs: 75_000 })) ?? [];
    gateway.say({
      type: "activity",
      activity: { ...gateway.owners.activity, runs: run ? [{ ...run, calls: over }] : [], waiting: [] },
    });
    await call.getByText("failed").waitFor();
    await call.getByText("1 min").waitFor();
    await page.getByText("1 run in progress, 0 messages waiting.").waitFor();
    gateway.owners.activity = { ...gateway.owners.activity, runs: [], waiting: [] };
    gateway.cut();
    await page.getByText("0 runs in progress, 0 messages waiting.").waitFor();
    await page.getByText("No agent is working.").waitFor();
    // The page stops watching when the user leaves it.
    await page.getByRole("link", { name: "People" }).press("Enter");
    await heading("People").waitFor();
    await expect.poll(() => gateway.received.at(-1)?.type).toBe("unwatch");
  });

  it("navigates by keyboard from a waiting message to its trace", async () => {
    await signIn(page, gateway, "/#/activity");
    await page.getByRole("link", { name: /还有上周的/ }).press("Enter");
    await expect.poll(() => page.url()).toContain("#/message/01KABE");
  });

  it("groups usage by the search parameters of the URL", async () => {
    await signIn(page, gateway);
    await page.getByRole("link", { name: "Usage" }).press("Enter");
    await heading("Usage").waitFor();
    await page.getByText("$1.2755 · 103,701 tokens · 16 runs").waitFor();
    await page.getByText("$0.7655 of $2.0000 left").waitFor();
    // The latest day comes first, and the most expensive one has the longest bar.
    const rows = page.locator(".figures tbody tr");
    expect(await rows.nth(1).locator("th").textContent()).toBe("2026-11-21");
    const widths = await rows
      .locator(".bar .span")
      .evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("width"))));
    expect(widths[1]).toBe(100);
    const asked = () => visitor.requested.filter((url) => url.includes("/api/usage")).at(-1);
    expect(asked()).toMatch(/\/api\/usage\?by=day&days=30$/);
    await page.getByLabel("Group by").selectOption("Session");
    await expect.poll(asked).toMatch(/by=session&days=30$/);
    await page.getByLabel("Period").selectOption("all time");
    await expect.poll(asked).toMatch(/by=session$/);
    await page.getByRole("region", { name: "Usage" }).getByRole("link", { name: "2026-11-21" }).waitFor();
    await page.reload();
    await heading("Usage").waitFor();
    expect(await page.getByLabel("Group by").inputValue()).toBe("session");
    // Invalid search parameters are ignored.
    await page.goto(`${gateway.url}/#/usage?by=nothing&days=-3`);
    await expect.poll(() => page.getByLabel("Group by").inputValue()).toBe("day");
  });

  it("sends one decision for a double click", async () => {
    await signIn(page, gateway, "/#/approvals");
    await button("Allow once").dblclick();
    await page.getByText("Nothing is waiting for approval.").waitFor();
    await page.getByText("Allowed.").waitFor();
    expect(gateway.changes).toHaveLength(1);
  });

  it("reports an approval that someone else decided", async () => {
    await signIn(page, gateway, "/#/approvals");
    await button("Deny").waitFor();
    gateway.owners.approvals = [];
    await button("Deny").click();
    await page.getByText("This request is no longer pending").waitFor();
    await page.getByText("Nothing is waiting for approval.").waitFor();
  });

  it("updates a card that was decided elsewhere and keeps it until it is dismissed", async () => {
    await signIn(page, gateway);
    const card = page.getByRole("article", { name: /Waiting for approval/ });
    await card.getByText("/usr/bin/rm").waitFor();
    await page.clock.install();
    gateway.owners.approvals = [];
    await page.clock.runFor(10_000);
    await page.getByText("This request is no longer pending").waitFor();
    expect(await card.count()).toBe(0);
    expect(await button("Allow once").count()).toBe(0);
    await keepShot(page, "decided-elsewhere");
    await button("Dismiss").click();
    await page.getByText("This request is no longer pending").waitFor({ state: "detached" });
  });

  it("approves and revokes a pairing", async () => {
    await signIn(page, gateway, "/#/people");
    const code = page.getByLabel("Pairing code");
    await code.fill("BADCODE");
    await code.press("Enter");
    await page.getByRole("alert").getByText("No pending request has this code.").waitFor();
    await code.fill("GOODCODE");
    await code.press("Enter");
    await page.getByText("No one is waiting.").waitFor();
    await button("Remove").first().click();
    await button("Remove this person?").click();
    await page.getByText("No one has been approved").waitFor();
    expect(gateway.changes.at(-1)).toEqual({
      path: "/api/pairings/revoke",
      body: { channel: "feishu", account: "main", peer: "ou_zhang" },
    });
  });

  it("shows an error, keeps the old data, and retries", async () => {
    gateway.owners.status = undefined;
    await signIn(page, gateway, "/#/channels");
    await page.getByRole("alert").getByText("There is no such thing.").waitFor();
    gateway.owners.status = structuredClone(OWNERS.status);
    await button("Try again").click();
    await page.getByText("feishu/main").waitFor();
  });

  it("shows configuration changes that need a restart or were rejected", async () => {
    await signIn(page, gateway, "/#/channels");
    await page.getByText("take effect after a restart: gateway.port").waitFor();
    await page.getByText("these sections keep their earlier values: agents").waitFor();
  });

  it("uses the language of the browser unless the user chooses another", async () => {
    await visitor.context.close();
    visitor = await visit(browser, { locale: "zh-CN" });
    page = visitor.page;
    await signIn(page, gateway, "/#/messages");
    await heading("消息").waitFor();
    await keepShot(page, "messages-zh");
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("zh");
    await page.getByRole("link", { name: "实时动态" }).press("Enter");
    await heading("实时动态").waitFor();
    await page.getByText("1 个运行进行中，1 条消息在等待。").waitFor();
    await keepShot(page, "activity-zh");
    expect(await englishOn(page)).toEqual([]);
    expect(await findings(page)).toEqual([]);
    await page.getByRole("link", { name: "用量" }).press("Enter");
    await heading("用量").waitFor();
    await page.getByText("$1.2755 · 103,701 词元 · 16 次运行").waitFor();
    await page.getByLabel("按").selectOption("会话");
    await page.getByText("2026-11-21").first().waitFor();
    await page.getByText("每个发送者，每天 US$2.0000").waitFor();
    await keepShot(page, "usage-zh");
    expect(await englishOn(page)).toEqual([]);
    expect(await findings(page)).toEqual([]);
    await button("English").click();
    await heading("Usage").waitFor();
    await page.reload();
    await heading("Usage").waitFor();
  });
});
