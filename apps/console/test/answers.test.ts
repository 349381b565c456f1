import { describe, expect, it } from "vitest";
import { findings } from "./axe.ts";
import { chatPage, missing } from "./chat-page.ts";
import { HOSTILE, RICH } from "./replies.ts";

describe.skipIf(missing !== undefined)("an answer, in Chromium", () => {
  const chat = chatPage();

  it("streams an answer with folded tool calls and shows the demo note", async () => {
    await chat.signIn();
    expect(await chat.page.getByRole("note").textContent()).toContain("Demo.");
    await chat.send("帮我写一个 Python 脚本，功能是遍历当前目录所有文件");
    await chat.received("send");
    const run = chat.current();
    chat.gateway.say({ type: "run.start", ...run });
    await chat.log().getByText("Working").waitFor();
    chat.gateway.say(
      { type: "text.delta", ...run, delta: "好的，我先看看" },
      { type: "text.delta", ...run, delta: "有哪些文件。" },
    );
    await chat.log().getByText("好的，我先看看有哪些文件。").waitFor();
    const text = "好的，我先看看有哪些文件。";
    chat.gateway.say(chat.reply("a1", text), chat.calls("t1", "ls", { path: "." }));
    const tool = chat.log().getByRole("group").filter({ hasText: "ls" });
    await tool.getByText("running").waitFor();
    chat.gateway.say(
      chat.called("t1", "README.md\nsrc/", false, 12),
      chat.calls("t2", "write", { path: "list_files.py", content: "import os\n" }),
      chat.called("t2", "EACCES: permission denied, open 'list_files.py'", true, 1234),
    );
    await chat.log().getByText("12 ms").waitFor();
    const result = chat.log().getByText("README.md");
    expect(await result.isVisible()).toBe(false);
    await chat.shot("streaming");
    await tool.first().locator("summary").click();
    expect(await result.isVisible()).toBe(true);
    await chat.log().locator('[data-state="failed"] summary').click();
    expect(await chat.log().getByText("EACCES: permission denied").isVisible()).toBe(true);
    chat.gateway.say({ type: "text.delta", ...run, delta: RICH }, chat.reply("a2", RICH), {
      type: "run.end",
      ...run,
      outcome: "replied",
      usage: { inputTokens: 12_345, outputTokens: 678, costMicros: 4321 },
    });
    await chat.log().getByText("12,345 tokens in, 678 out").waitFor();
    await expect.poll(() => chat.log().getByRole("listitem").count()).toBeGreaterThan(3);
    expect(await chat.log().getByText("Working").count()).toBe(0);
    await chat.shot("answer-end");
    await chat.log().evaluate((element) => element.scrollTo(0, 0));
    await chat.page.getByRole("button", { name: "Latest" }).waitFor();
    await chat.shot("answer-start");
    expect(await findings(chat.page)).toEqual([]);
    await chat.page.emulateMedia({ colorScheme: "dark" });
    expect(await findings(chat.page)).toEqual([]);
    await chat.shot("answer-dark");
    await chat.page.getByRole("button", { name: "Latest" }).click();
    await chat.shot("answer-dark-end");
    await chat.page.getByRole("button", { name: "Latest" }).waitFor({ state: "detached" });
  });

  it("works as it is shipped", async () => {
    chat.useShippedPage();
    await chat.signIn();
    await chat.send("hello");
    await chat.received("send");
    chat.gateway.say({ type: "text.delta", ...chat.current(), delta: "**Hello** there" });
    await chat.log().getByText("Hello there").waitFor();
  });

  it("shows errors with their remedies", async () => {
    await chat.signIn();
    await chat.send("hello");
    await chat.received("send");
    const { conversation } = chat.current();
    const remedy = "Check models.providers.anthropic.apiKey.";
    chat.gateway.say({
      type: "error",
      conversation,
      code: "model",
      message: "The provider refused the key.",
      remedy,
    });
    const alert = chat.log().getByRole("alert");
    expect(await alert.textContent()).toContain("The provider refused the key.");
    expect(await alert.textContent()).toContain(remedy);
    await chat.shot("error");
    await alert.getByRole("button", { name: "Dismiss" }).click();
    await alert.waitFor({ state: "detached" });

    chat.gateway.refuse = () => ({
      code: "full",
      message: "Too much is waiting.",
      remedy: "Try again in a minute.",
    });
    await chat.send("once more");
    await chat.log().getByRole("alert").getByText("Try again in a minute.").waitFor();
    chat.gateway.refuse = () => undefined;
    await chat.log().getByRole("button", { name: "Send again" }).click();
    await expect.poll(() => chat.gateway.messages.get(conversation)?.length).toBe(2);
    await chat.log().getByRole("alert").waitFor({ state: "detached" });
  });

  it("renders formulas, and shows the source of invalid or unsafe ones", async () => {
    await chat.signIn();
    await chat.send("hello");
    await chat.received("send");
    const text = [
      "So $E = mc^2$, for $5 and $10:",
      "$$\\int_0^1 x^2\\,dx = \\frac{1}{3}$$",
      "\\(\\unknown{x}\\) and $\\href{javascript:alert(1)}{y}$",
      "$\\includegraphics{https://evil.example/z.png}$",
    ].join("\n\n");
    chat.gateway.say(chat.reply("a1", text));
    await expect.poll(() => chat.log().locator("math").count()).toBeGreaterThanOrEqual(2);
    const answer = chat.log().locator(".markdown").last();
    expect(await chat.log().locator("math mfrac").count()).toBe(1);
    expect(await answer.textContent()).toContain("for $5 and $10:");
    expect(await chat.log().getByText("\\unknown{x}", { exact: true }).isVisible()).toBe(true);
    expect(await answer.locator("a, img, [href], [src]").count()).toBe(0);
    expect(await findings(chat.page)).toEqual([]);
    await chat.shot("formulas");
  });

  it("renders hostile Markdown as inert text", async () => {
    await chat.signIn();
    await chat.send("hello");
    await chat.received("send");
    const run = chat.current();
    const call = { id: "t1", name: "<img src=x onerror=window.pwned=1>" };
    chat.gateway.say(
      { type: "run.start", ...run },
      { type: "thinking.delta", ...run, delta: HOSTILE },
      { type: "text.delta", ...run, delta: HOSTILE },
      chat.reply("a1", HOSTILE),
      { type: "tool.start", ...run, call: { ...call, args: { html: HOSTILE } } },
      { type: "tool.end", ...run, call: { ...call, isError: true, text: HOSTILE, durationMs: 1 } },
      { type: "error", conversation: run.conversation, code: "model", message: HOSTILE, remedy: HOSTILE },
      { type: "run.end", ...run, outcome: "failed" },
    );
    await chat.log().getByText("The run failed.").waitFor();
    // The Markdown renderer is loaded on demand.
    await chat.log().locator('a[href^="https:"]').first().waitFor({ state: "attached" });
    for (const summary of await chat.log().locator("summary").all()) await summary.click();
    const found = await chat.page.evaluate(() => ({
      pwned: "pwned" in window,
      active: document.querySelectorAll(
        "#root :is(img, script, iframe, object, embed, style, link, video, audio, base, meta, .markdown [style]:not(button, button *), [onclick], [onerror], [onload])",
      ).length,
      forms: document.querySelectorAll("[role=log] form, [role=log] input").length,
      schemes: [...new Set([...document.querySelectorAll("a")].map((link) => link.protocol))],
      links: [...document.querySelectorAll<HTMLAnchorElement>("[role=log] a")].every(
        (link) => link.relList.contains("noopener") && link.target === "_blank",
      ),
    }));
    expect(found).toMatchObject({ pwned: false, active: 0, forms: 0, links: true });
    expect(found.schemes.toSorted()).toEqual(["http:", "https:"]);
    await chat.shot("hostile");
  });

  it("stops a run with Escape and moves the focus to the input after a click on Stop", async () => {
    await chat.signIn();
    await chat.send("count to a million");
    await chat.received("send");
    chat.gateway.say({ type: "run.start", ...chat.current() });
    await chat.page.getByRole("button", { name: "Stop" }).waitFor();
    await chat.message().press("Escape");
    await chat.received("abort");
    await chat.page.getByRole("button", { name: "Stop" }).press("Enter");
    chat.gateway.say({ type: "run.end", ...chat.current(), outcome: "aborted" });
    await chat.log().getByText("Stopped.").waitFor();
    expect(await chat.message().evaluate((field) => field === document.activeElement)).toBe(true);
  });

  it("stops a run", async () => {
    await chat.signIn();
    expect(await chat.page.getByRole("button", { name: "Stop" }).count()).toBe(0);
    await chat.send("count to a million");
    await chat.received("send");
    const run = chat.current();
    chat.gateway.say({ type: "run.start", ...run }, { type: "text.delta", ...run, delta: "One, two" });
    await chat.page.getByRole("button", { name: "Stop" }).click();
    await chat.received("abort");
    chat.gateway.say({ type: "run.end", ...run, outcome: "aborted" });
    await chat.log().getByText("Stopped.").waitFor();
    await chat.log().getByText("Not finished.").waitFor();
    expect(await chat.page.getByRole("button", { name: "Stop" }).count()).toBe(0);
  });

  it("fits a phone", async () => {
    await chat.page.setViewportSize({ width: 360, height: 720 });
    chat.gateway.conversations = [
      { id: "old", agent: "writer", title: "旧的对话", updatedAt: 1_700_000_000_000 },
    ];
    await chat.signIn();
    await chat.send("帮我写一个 Python 脚本，功能是遍历当前目录所有文件");
    await chat.received("send");
    const run = chat.current();
    chat.gateway.say(
      { type: "run.start", ...run },
      chat.calls("t1", "write", { path: `src/${"long/".repeat(40)}x.py` }),
      chat.called("t1", "x".repeat(500), false, 5),
      chat.reply("a1", RICH),
      { type: "run.end", ...run, outcome: "replied" },
    );
    await chat.log().getByRole("heading", { name: "怎么运行" }).waitFor();
    await chat.log().locator("summary").first().click();
    const width = await chat.page.evaluate(() =>
      [document.documentElement, document.querySelector("[role=log]")].map((e) => e?.scrollWidth),
    );
    expect(width).toEqual([360, 360]);
    await chat.shot("phone");
    await chat.log().evaluate((element) => element.scrollTo(0, 0));
    await chat.shot("phone-start");
    expect(await findings(chat.page)).toEqual([]);
    const list = chat.page.getByRole("navigation", { name: "Conversations" });
    expect(await list.isVisible()).toBe(false);
    await chat.page.getByRole("button", { name: "Menu", exact: true }).click();
    await list.getByRole("link", { name: "旧的对话" }).waitFor();
    await chat.shot("phone-list");
    await chat.page.keyboard.press("Escape");
    await list.waitFor({ state: "hidden" });
  });
});
