import { describe, expect, it } from "vitest";
import { keepShot } from "../chromium.ts";
import { missing, ownersConsole } from "../console.ts";
import { OWNERS } from "../data/owners.ts";

describe.skipIf(missing !== undefined)("the list of messages in Chromium", () => {
  const console = ownersConsole();
  const rows = () => console.page.locator("tbody tr");
  const asked = () =>
    new URL(console.requested.filter((url) => url.includes("/api/messages?")).at(-1) ?? "about:blank")
      .searchParams;

  it("is searched and filtered by the search parameters of the URL", async () => {
    const { page } = console;
    await console.open("/messages");
    await expect.poll(() => rows().count()).toBe(2);
    await page.getByText("张三").waitFor();
    await page.getByRole("searchbox", { name: "Search messages and people" }).fill("张三");
    await expect.poll(() => rows().count()).toBe(1);
    expect(asked().get("text")).toBe("张三");
    await page.getByLabel("State").selectOption("failed or expired");
    await expect.poll(() => asked().get("outcome")).toBe("failed");
    await page.getByLabel("Channel").selectOption("telegram");
    await page.getByText("No matching messages").waitFor();
    await keepShot(page, "messages-none");
    await page.reload();
    await page.getByText("No matching messages").waitFor();
    expect(await page.getByLabel("Channel").inputValue()).toBe("telegram");
    await page.getByRole("button", { name: "Show all messages" }).click();
    await expect.poll(() => rows().count()).toBe(2);
  });

  it("loads earlier messages on demand", async () => {
    const { page, gateway } = console;
    const [message] = OWNERS.full.messages;
    if (message === undefined) throw new Error("there is no message");
    gateway.owners.messages = Array.from({ length: 70 }, (_, place) => ({ ...message, id: `m${place}` }));
    await console.open("/messages");
    await page.getByText("50 shown").waitFor();
    await page.getByRole("button", { name: "Load more" }).click();
    await page.getByText("70 shown").waitFor();
    expect(await page.getByRole("button", { name: "Load more" }).count()).toBe(0);
    expect(
      new Set(
        await rows()
          .locator("a")
          .evaluateAll((links) => links.map((link) => link.getAttribute("href"))),
      ).size,
    ).toBe(70);
  });

  it("leads from a session to its transcript and to the outcomes of its messages", async () => {
    const { page } = console;
    await console.open("/sessions");
    await page.getByRole("link", { name: "会议纪要" }).click();
    await page.getByRole("heading", { level: 2, name: "会议纪要" }).waitFor();
    const transcript = page.locator("[data-transcript]");
    await transcript.getByText("张三").first().waitFor();
    expect(await transcript.getByText("minutes.md").first().isVisible()).toBe(true);
    await transcript.locator("summary").first().click();
    await transcript.getByText("2. 招聘").waitFor();
    await transcript.getByRole("cell", { name: "通过" }).waitFor();
    await page.getByRole("button", { name: "Outcome of each message" }).click();
    await expect.poll(() => rows().count()).toBe(1);
    expect(asked().get("session")).toBe("agent:coder:feishu:direct:ou_zhang");
  });

  it("loads earlier messages of a transcript on demand", async () => {
    const { page } = console;
    const history = OWNERS.full.transcript;
    const [first] = history.messages;
    if (first === undefined) throw new Error("there is no message");
    await console.open("/session/agent%3Acoder%3Afeishu%3Adirect%3Aou_zhang", {
      "GET /api/sessions/transcript": ({ url }) =>
        url.searchParams.get("before") === "501"
          ? { messages: [{ ...first, id: "old", text: "上个月的问题" }], ends: [] }
          : { ...history, before: 501 },
    });
    const items = page.locator("[data-transcript] > li");
    await page.locator("[data-transcript]").waitFor();
    const before = await items.count();
    await page.getByRole("button", { name: "Load earlier messages" }).click();
    await page.getByText("上个月的问题").waitFor();
    expect(await items.count()).toBe(before + 1);
    expect(await page.getByRole("button", { name: "Load earlier messages" }).count()).toBe(0);
  });
});
