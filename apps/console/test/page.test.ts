import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerFrame } from "@signalbox/protocol";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { findings } from "./axe.ts";
import { developmentPage, launch, SHIPPED, whyNot } from "./chromium.ts";
import { HOSTILE, RICH } from "./replies.ts";
import { visit } from "./signed-in.ts";
import { LINK_SECRET, type StubGateway, startStubGateway, TOKEN } from "./stub-gateway.ts";

const missing = whyNot();
if (missing !== undefined) console.log(`The page is not tested: ${missing}.`);

let browser: Browser;
let folder: string;
let pages: Record<"production" | "development", string>;
let gateway: StubGateway;
let context: BrowserContext;
let page: Page;
let requested: string[];
let violations: string[];

const log = () => page.getByRole("log");
const message = () => page.getByRole("textbox", { name: /^Message / });
const shot = (name: string) => page.screenshot({ path: join(folder, `${name}.png`) });

async function signIn(path = "/"): Promise<void> {
  await page.goto(gateway.url + path);
  await page.getByLabel("Gateway token").fill(TOKEN);
  await page.getByRole("button", { name: "Sign in" }).click();
  await message().waitFor();
}

async function send(text: string): Promise<void> {
  await message().fill(text);
  await message().press("Enter");
}

/** What the last message was sent to. */
function current(): { conversation: string; runId: string } {
  const send = gateway.received.findLast((frame) => frame.type === "send");
  if (send?.type !== "send") throw new Error("nothing was sent");
  return { conversation: send.conversation, runId: "r1" };
}

function reply(id: string, text: string): ServerFrame {
  const { conversation, runId } = current();
  return { type: "message", conversation, message: { id, role: "assistant", text, at: 1, runId } };
}

function calls(id: string, name: string, args: unknown): ServerFrame {
  return { type: "tool.start", ...current(), call: { id, name, args } };
}

function called(id: string, text: string, isError: boolean, durationMs: number): ServerFrame {
  return { type: "tool.end", ...current(), call: { id, name: "", isError, text, durationMs } };
}

async function received(type: string): Promise<void> {
  await expect.poll(() => gateway.received.some((frame) => frame.type === type)).toBe(true);
}

describe.skipIf(missing !== undefined)("the page in Chromium", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "signalbox-console-"));
    pages = { development: await developmentPage(), production: SHIPPED };
    browser = await launch();
    console.log(`Screenshots are in ${folder}`);
  });
  afterAll(() => browser?.close());

  beforeEach(async ({ task }) => {
    const mode = task.name.includes("as it is shipped") ? "production" : "development";
    gateway = await startStubGateway(pages[mode]);
    ({ context, page, requested, violations } = await visit(browser));
  });
  afterEach(async () => {
    const own = new URL(gateway.url).host;
    expect(requested.filter((url) => new URL(url).host !== own)).toEqual([]);
    expect(violations).toEqual([]);
    await context.close();
    await gateway.stop();
  });

  it("signs in with the token, and keeps it nowhere that a script can read", async () => {
    await page.goto(gateway.url);
    await page.getByLabel("Gateway token").fill("a guess");
    await page.getByRole("button", { name: "Sign in" }).click();
    const alert = page.getByRole("alert");
    expect(await alert.textContent()).toContain("That is not the gateway's token.");
    expect(await alert.textContent()).toContain("Run signalbox doctor");
    await shot("sign-in-wrong");

    await page.getByLabel("Gateway token").fill(TOKEN);
    await page.getByLabel("Gateway token").press("Enter");
    await message().waitFor();
    await shot("welcome");
    const readable = await page.evaluate(() =>
      [
        document.cookie,
        location.href,
        JSON.stringify({ ...localStorage, ...sessionStorage }),
        document.documentElement.outerHTML,
        ...[...document.querySelectorAll("input")].map(({ value }) => value),
      ].join("\n"),
    );
    expect(readable).not.toContain(TOKEN);
    expect(requested.join("\n")).not.toContain(TOKEN);
    const kept = () => page.evaluate(() => Object.keys({ ...localStorage, ...sessionStorage }));
    expect(await kept()).toEqual(["signalbox.session-key"]);

    await page.reload();
    await message().waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Gateway token").waitFor();
    expect(await kept()).toEqual([]);
    await page.reload();
    await page.getByLabel("Gateway token").waitFor();
  });

  it("signs in by a link, which leaves the address and the history and is good for one time", async () => {
    const link = `${gateway.url}/#sign-in=${LINK_SECRET}`;
    await page.goto(link);
    await message().waitFor();
    expect(page.url()).not.toContain(LINK_SECRET);
    expect(requested.join("\n")).not.toContain(LINK_SECRET);
    await page.goBack();
    expect(page.url()).not.toContain(LINK_SECRET);

    await page.goto(gateway.url);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Gateway token").waitFor();
    // Opened in the same tab, it changes the fragment alone: the page is not loaded again.
    await page.goto(link);
    await page.getByText("The link has been used, or is too old.").waitFor();
    expect(page.url()).not.toContain(LINK_SECRET);
  });

  it("connects to where it came from, whatever the address asks for", async () => {
    await signIn("/?gatewayUrl=ws://127.0.0.1:9/ws&url=http://127.0.0.1:9&token=abc#token=abc");
    await send("hi");
    await received("send");
    expect(requested.filter((url) => url.startsWith("ws"))).toEqual([
      `${gateway.url.replace("http", "ws")}/ws`,
    ]);
    expect(await page.evaluate(() => document.documentElement.outerHTML)).not.toContain("abc");
  });

  it("shows an answer as it comes, its tool calls folded, and says that it is a demo", async () => {
    await signIn();
    expect(await page.getByRole("note").textContent()).toContain("Demo.");
    await send("帮我写一个 Python 脚本，功能是遍历当前目录所有文件");
    await received("send");
    const run = current();
    gateway.say({ type: "run.start", ...run });
    await log().getByText("Working").waitFor();
    gateway.say(
      { type: "text.delta", ...run, delta: "好的，我先看看" },
      { type: "text.delta", ...run, delta: "有哪些文件。" },
    );
    await log().getByText("好的，我先看看有哪些文件。").waitFor();
    const text = "好的，我先看看有哪些文件。";
    gateway.say(reply("a1", text), calls("t1", "ls", { path: "." }));
    const tool = log().getByRole("group").filter({ hasText: "ls" });
    await tool.getByText("running").waitFor();
    gateway.say(
      called("t1", "README.md\nsrc/", false, 12),
      calls("t2", "write", { path: "list_files.py", content: "import os\n" }),
      called("t2", "EACCES: permission denied, open 'list_files.py'", true, 1234),
    );
    await log().getByText("12 ms").waitFor();
    const result = log().getByText("README.md");
    expect(await result.isVisible()).toBe(false);
    await shot("streaming");
    await tool.first().locator("summary").click();
    expect(await result.isVisible()).toBe(true);
    await log().locator(".failed summary").click();
    expect(await log().getByText("EACCES: permission denied").isVisible()).toBe(true);
    gateway.say({ type: "text.delta", ...run, delta: RICH }, reply("a2", RICH), {
      type: "run.end",
      ...run,
      outcome: "replied",
      usage: { inputTokens: 12_345, outputTokens: 678, costMicros: 4321 },
    });
    await log().getByText("12,345 tokens in, 678 out").waitFor();
    await expect.poll(() => log().getByRole("listitem").count()).toBeGreaterThan(3);
    expect(await log().getByText("Working").count()).toBe(0);
    await shot("answer-end");
    await log().evaluate((element) => element.scrollTo(0, 0));
    await page.getByRole("button", { name: "Latest" }).waitFor();
    await shot("answer-start");
    expect(await findings(page)).toEqual([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findings(page)).toEqual([]);
    await shot("answer-dark");
    await page.getByRole("button", { name: "Latest" }).click();
    await shot("answer-dark-end");
    await page.getByRole("button", { name: "Latest" }).waitFor({ state: "detached" });
  });

  it("works as it is shipped", async () => {
    await signIn();
    await send("hello");
    await received("send");
    gateway.say({ type: "text.delta", ...current(), delta: "**Hello** there" });
    await log().getByText("Hello there").waitFor();
  });

  it("reads a conversation again after a reload, and keeps one for each", async () => {
    gateway.conversations = [{ id: "old", agent: "writer", title: "旧的对话", updatedAt: 1_700_000_000_000 }];
    gateway.messages.set("old", [
      { id: "m1", role: "user", text: "What is there?", at: 1 },
      {
        id: "m2",
        role: "tool",
        text: "a.txt",
        at: 2,
        runId: "r0",
        call: { id: "t1", name: "ls", args: {}, isError: false, durationMs: 3 },
      },
      { id: "m3", role: "assistant", text: "Only **a.txt**.", at: 3, runId: "r0" },
    ]);
    await signIn();
    await page.getByRole("link", { name: "旧的对话" }).click();
    await log().getByText("Only a.txt.").waitFor();
    expect(await page.getByRole("combobox", { name: "Agent" }).inputValue()).toBe("writer");
    await page.reload();
    await log().getByText("Only a.txt.").waitFor();
    const asked = () =>
      gateway.received.filter((frame) => frame.type === "subscribe" && frame.conversation === "old");
    await expect
      .poll(asked)
      .toEqual(Array(2).fill({ type: "subscribe", conversation: "old", agent: "writer" }));
    await page.getByRole("button", { name: "New conversation" }).click();
    await log().getByText("Write below to begin.").waitFor();
    await page.getByRole("combobox", { name: "Agent" }).selectOption("coder");
    await log().getByRole("button", { name: "list files" }).click();
    await received("send");
    expect(gateway.received.at(-1)).toMatchObject({ type: "send", agent: "coder", text: "list files" });
    await page.getByRole("link", { name: "list files" }).waitFor();
    await page.goBack();
    await page.goBack();
    await log().getByText("Only a.txt.").waitFor();
  });

  it("shows what went wrong and what to do about it", async () => {
    await signIn();
    await send("hello");
    await received("send");
    const { conversation } = current();
    const remedy = "Check models.providers.anthropic.apiKey.";
    gateway.say({
      type: "error",
      conversation,
      code: "model",
      message: "The provider refused the key.",
      remedy,
    });
    const alert = log().getByRole("alert");
    expect(await alert.textContent()).toContain("The provider refused the key.");
    expect(await alert.textContent()).toContain(remedy);
    await shot("error");
    await alert.getByRole("button", { name: "Dismiss" }).click();
    await alert.waitFor({ state: "detached" });

    gateway.refuse = () => ({
      code: "full",
      message: "Too much is waiting.",
      remedy: "Try again in a minute.",
    });
    await send("once more");
    await log().getByRole("alert").getByText("Try again in a minute.").waitFor();
    gateway.refuse = () => undefined;
    await log().getByRole("button", { name: "Send again" }).click();
    await expect.poll(() => gateway.messages.get(conversation)?.length).toBe(2);
    await log().getByRole("alert").waitFor({ state: "detached" });
  });

  it("keeps what a hostile model writes inert", async () => {
    await signIn();
    await send("hello");
    await received("send");
    const run = current();
    const call = { id: "t1", name: "<img src=x onerror=window.pwned=1>" };
    gateway.say(
      { type: "run.start", ...run },
      { type: "thinking.delta", ...run, delta: HOSTILE },
      { type: "text.delta", ...run, delta: HOSTILE },
      reply("a1", HOSTILE),
      { type: "tool.start", ...run, call: { ...call, args: { html: HOSTILE } } },
      { type: "tool.end", ...run, call: { ...call, isError: true, text: HOSTILE, durationMs: 1 } },
      { type: "error", conversation: run.conversation, code: "model", message: HOSTILE, remedy: HOSTILE },
      { type: "run.end", ...run, outcome: "failed" },
    );
    await log().getByText("The run failed.").waitFor();
    // What shows Markdown is loaded when it is needed.
    await log().locator('a[href^="https:"]').first().waitFor({ state: "attached" });
    for (const summary of await log().locator("summary").all()) await summary.click();
    const found = await page.evaluate(() => ({
      pwned: "pwned" in window,
      active: document.querySelectorAll(
        "#root :is(img, script, iframe, object, embed, style, link, video, audio, base, meta, [style], [onclick], [onerror], [onload])",
      ).length,
      forms: document.querySelectorAll(".log form, .log input").length,
      schemes: [...new Set([...document.querySelectorAll("a")].map((link) => link.protocol))],
      links: [...document.querySelectorAll<HTMLAnchorElement>(".log a")].every(
        (link) => link.relList.contains("noopener") && link.target === "_blank",
      ),
    }));
    expect(found).toMatchObject({ pwned: false, active: 0, forms: 0, links: true });
    expect(found.schemes.toSorted()).toEqual(["http:", "https:"]);
    await shot("hostile");
  });

  it("says when it is not connected, and sends what waited once it is", async () => {
    await page.clock.install();
    await signIn();
    await send("first");
    await received("send");
    gateway.down = true;
    gateway.cut();
    const status = page.getByRole("status");
    await status.getByText("Not connected.").waitFor();
    // Time stands still, so that the page does not try again by itself before it is told to.
    await page.clock.pauseAt(Date.now() + 60_000);
    await send("second");
    await log().getByText("Sending…").waitFor();
    await shot("reconnecting");
    gateway.down = false;
    await page.getByRole("button", { name: "Try now" }).click();
    await page.clock.resume();
    await log().getByText("Sending…").waitFor({ state: "detached" });
    await expect.poll(() => status.textContent()).toBe("");
    const texts = gateway.messages.get(current().conversation)?.map(({ text }) => text);
    expect(texts).toEqual(["first", "second"]);
    expect(await log().getByRole("article").count()).toBe(2);
  });

  it("asks to sign in again when the session ends", async () => {
    await signIn();
    gateway.endSessions();
    await page.getByText("Your session has ended.").waitFor();
    await page.getByLabel("Gateway token").waitFor();
  });

  it("searches, renames and deletes conversations", async () => {
    gateway.conversations = [
      { id: "tea", agent: "writer", title: "About tea", updatedAt: 1_700_000_000_000 },
      { id: "old", agent: "writer", title: "旧的对话", updatedAt: 1_600_000_000_000 },
    ];
    for (const { id } of gateway.conversations) gateway.messages.set(id, []);
    await signIn("/#/c/tea");
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: "About tea" }).waitFor();
    await page.getByRole("searchbox", { name: "Search conversations" }).fill("旧");
    await list.getByRole("link", { name: "About tea" }).waitFor({ state: "detached" });
    expect(await list.getByRole("link", { name: "旧的对话" }).count()).toBe(1);
    await page.getByRole("searchbox", { name: "Search conversations" }).fill("");

    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByLabel("Title").fill("About coffee");
    await page.getByLabel("Title").press("Enter");
    await list.getByRole("link", { name: "About coffee" }).waitFor();
    await page.getByRole("button", { name: "Delete", exact: true }).click();
    expect(gateway.changes).toHaveLength(1);
    await page.getByRole("button", { name: "Delete for good?" }).click();
    await list.getByRole("link", { name: "About coffee" }).waitFor({ state: "detached" });
    await log().getByText("Write below to begin.").waitFor();
    expect(gateway.changes).toEqual([
      { path: "/api/conversations/tea/rename", body: { title: "About coffee" } },
      { path: "/api/conversations/tea/remove", body: {} },
    ]);
  });

  it("stops a run with Escape, and leaves the focus where one writes after the button", async () => {
    await signIn();
    await send("count to a million");
    await received("send");
    gateway.say({ type: "run.start", ...current() });
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await message().press("Escape");
    await received("abort");
    await page.getByRole("button", { name: "Stop" }).press("Enter");
    gateway.say({ type: "run.end", ...current(), outcome: "aborted" });
    await log().getByText("Stopped.").waitFor();
    expect(await message().evaluate((field) => field === document.activeElement)).toBe(true);
  });

  it("stops a run", async () => {
    await signIn();
    expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
    await send("count to a million");
    await received("send");
    const run = current();
    gateway.say({ type: "run.start", ...run }, { type: "text.delta", ...run, delta: "One, two" });
    await page.getByRole("button", { name: "Stop" }).click();
    await received("abort");
    gateway.say({ type: "run.end", ...run, outcome: "aborted" });
    await log().getByText("Stopped.").waitFor();
    await log().getByText("Not finished.").waitFor();
    expect(await page.getByRole("button", { name: "Stop" }).count()).toBe(0);
  });

  it("sends with Enter, breaks the line with Shift+Enter, and leaves Enter to an input method", async () => {
    await signIn();
    await message().pressSequentially("one");
    await message().press("Shift+Enter");
    await message().pressSequentially("two");
    await message().dispatchEvent("keydown", { key: "Enter", isComposing: true });
    expect(await message().inputValue()).toBe("one\ntwo");
    await message().press("Enter");
    await received("send");
    expect(gateway.received.at(-1)).toMatchObject({ text: "one\ntwo" });
    expect(await message().inputValue()).toBe("");
    expect(await message().evaluate((field) => field === document.activeElement)).toBe(true);
  });

  it("takes files that are chosen, dropped or pasted, shows them, and sends them with the message", async () => {
    await signIn();
    const send = page.getByRole("button", { name: "Send", exact: true });
    const picture = await readFile(join(import.meta.dirname, "../../../docs/console.png"));
    await page.locator('input[type="file"]').setInputFiles([
      { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.alloc(1_200_000, "a") },
      { name: "page.png", mimeType: "image/png", buffer: picture },
    ]);
    const chosen = page.getByRole("list", { name: "Files for this message" });
    await chosen.getByText("1.2 MB").waitFor();
    await chosen.locator("img").waitFor();
    expect([...gateway.uploads.values()]).toContain(1_200_000);
    const give = (event: "paste" | "drop") =>
      message().evaluate((field, type) => {
        const data = new DataTransfer();
        data.items.add(new File(["b"], `${type}.csv`, { type: "text/csv" }));
        const init = { bubbles: true, cancelable: true };
        field.dispatchEvent(
          type === "paste"
            ? new ClipboardEvent(type, { ...init, clipboardData: data })
            : new DragEvent(type, { ...init, dataTransfer: data }),
        );
      }, event);
    await give("paste");
    await give("drop");
    await chosen.getByText("drop.csv").waitFor();
    await chosen.getByRole("button", { name: "Remove paste.csv" }).press("Enter");
    gateway.refusesUploads = true;
    await give("paste");
    await chosen.getByRole("alert").getByText("larger than the gateway takes").waitFor();
    expect(await send.isEnabled()).toBe(false);
    await chosen.getByRole("button", { name: "Remove paste.csv" }).click();
    await shot("files-chosen");
    expect(await findings(page)).toEqual([]);
    // A message may be nothing but its files.
    await send.click();
    await received("send");
    expect(gateway.received.at(-1)).toMatchObject({
      text: "",
      attachments: [
        { name: "notes.txt", mimeType: "text/plain", bytes: 1_200_000 },
        { name: "page.png", mimeType: "image/png" },
        { name: "drop.csv", mimeType: "text/csv" },
      ],
    });
    const sent = log().getByRole("list", { name: "Files" });
    await sent.getByText("notes.txt").waitFor();
    expect(await sent.locator("img").count()).toBe(1);
    await shot("files-sent");
    await page.reload();
    await sent.getByText("notes.txt").waitFor();
  });

  it("fits a phone", async () => {
    await page.setViewportSize({ width: 360, height: 720 });
    gateway.conversations = [{ id: "old", agent: "writer", title: "旧的对话", updatedAt: 1_700_000_000_000 }];
    await signIn();
    await send("帮我写一个 Python 脚本，功能是遍历当前目录所有文件");
    await received("send");
    const run = current();
    gateway.say(
      { type: "run.start", ...run },
      calls("t1", "write", { path: `src/${"long/".repeat(40)}x.py` }),
      called("t1", "x".repeat(500), false, 5),
      reply("a1", RICH),
      { type: "run.end", ...run, outcome: "replied" },
    );
    await log().getByRole("heading", { name: "怎么运行" }).waitFor();
    await log().locator("summary").first().click();
    const width = await page.evaluate(() =>
      [document.documentElement, document.querySelector(".log")].map((e) => e?.scrollWidth),
    );
    expect(width).toEqual([360, 360]);
    await shot("phone");
    await log().evaluate((element) => element.scrollTo(0, 0));
    await shot("phone-start");
    expect(await findings(page)).toEqual([]);
    const list = page.getByRole("navigation", { name: "Conversations" });
    expect(await list.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Conversations", exact: true }).click();
    await list.getByRole("link", { name: "旧的对话" }).waitFor();
    await page.waitForTimeout(200);
    await shot("phone-list");
    await page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
  });
});
