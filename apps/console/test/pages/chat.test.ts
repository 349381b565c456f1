import { describe, expect, it } from "vitest";
import { findings } from "../axe.ts";
import { keepShot } from "../chromium.ts";
import { missing, ownersConsole } from "../console.ts";
import { Refusal } from "../routes.ts";

/** Creates a WAV file with a second of silence. */
function createWave(): Buffer {
  const rate = 8_000;
  const file = Buffer.alloc(44 + rate, 128);
  file.write("RIFF");
  file.writeUInt32LE(36 + rate, 4);
  file.write("WAVEfmt ", 8);
  file.writeUInt32LE(16, 16);
  // PCM, one channel.
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(1, 22);
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate, 28);
  file.writeUInt16LE(1, 32);
  file.writeUInt16LE(8, 34);
  file.write("data", 36);
  file.writeUInt32LE(rate, 40);
  return file;
}

describe.skipIf(missing !== undefined)("the actions of the chat in Chromium", () => {
  const console = ownersConsole();
  const input = () => console.page.getByLabel(/^Message to /);
  const sent = () => console.gateway.received.flatMap((frame) => (frame.type === "send" ? [frame.text] : []));

  it("completes chat commands by keyboard and by mouse", async () => {
    const { page, gateway } = console;
    gateway.owners.approvals = [];
    await console.open("/");
    await input().pressSequentially("/");
    const list = page.getByRole("listbox", { name: "Commands" });
    await expect.poll(() => list.getByRole("option").count()).toBe(3);
    await keepShot(page, "chat-commands");
    expect(await findings(page)).toEqual([]);
    await input().press("ArrowDown");
    await expect.poll(() => list.getByRole("option", { selected: true }).textContent()).toContain("/model");
    await input().press("Tab");
    expect(await input().inputValue()).toBe("/model ");
    await input().fill("/n");
    await list.getByRole("option", { name: /new/ }).click();
    expect(await input().inputValue()).toBe("/new ");
    await input().fill("/he");
    await list.waitFor();
    await input().press("Escape");
    await list.waitFor({ state: "detached" });
    await input().fill("/help");
    await input().press("Enter");
    await expect.poll(sent).toEqual(["/help"]);
  });

  it("chooses a model for the conversation", async () => {
    const { page, gateway } = console;
    gateway.conversations = [
      { id: "a", agent: "writer", title: "Tea", updatedAt: 1, model: "openai/gpt-5.2" },
    ];
    gateway.messages.set("a", []);
    await console.open("/c/a");
    await page.getByRole("button", { name: "Model: openai/gpt-5.2" }).click();
    await page.getByText("1M tokens · $3.00 in, $15.00 out per million").waitFor();
    await keepShot(page, "chat-models");
    expect(await findings(page)).toEqual([]);
    await page.getByLabel("Search models").fill("sonnet");
    await page.getByRole("option", { name: /claude-sonnet/ }).click();
    await expect.poll(sent).toEqual(["/model anthropic/claude-sonnet-4-6"]);
  });

  it("speaks an answer once the user asks for it, and explains why it cannot", async () => {
    const { page, gateway } = console;
    gateway.conversations = [{ id: "a", agent: "writer", title: "Tea", updatedAt: 1 }];
    gateway.messages.set("a", [
      { id: "m1", role: "user", text: "What is tea?", at: 1 },
      { id: "m2", role: "assistant", text: "A drink.", at: 2, runId: "r0" },
    ]);
    let isUsedUp = true;
    gateway.speech = true;
    gateway.routes["POST /api/conversations/a/speech"] = ({ body }) => {
      if (isUsedUp) throw new Refusal(409, "conflict", "The answer cannot be spoken: a budget is used up.");
      return { mimeType: "audio/wav", data: createWave().toString("base64"), body };
    };
    await console.open("/c/a");
    const answer = page.getByRole("article", { name: "Agent" });
    await answer.getByRole("button", { name: "Listen" }).click();
    await answer.getByText("a budget is used up").waitFor();
    isUsedUp = false;
    await answer.getByRole("button", { name: "Listen" }).click();
    const player = answer.getByLabel("Spoken answer");
    // The content security policy permits the recording.
    await expect.poll(() => player.evaluate((audio) => (audio as { duration?: number }).duration)).toBe(1);
    expect(await answer.getByRole("button", { name: "Listen" }).count()).toBe(0);
    expect(await answer.getByText("a budget is used up").count()).toBe(0);
    expect(await findings(page)).toEqual([]);
  });

  it("asks again, edits a message, and explains it", async () => {
    const { page, gateway } = console;
    gateway.conversations = [{ id: "a", agent: "writer", title: "Tea", updatedAt: 1 }];
    gateway.messages.set("a", [
      { id: "m1", role: "user", text: "What is tea?", at: 1 },
      { id: "m2", role: "assistant", text: "```python\nleaves = 2  # green\n```", at: 2, runId: "r0" },
    ]);
    await console.open("/c/a");
    const question = page.getByRole("article", { name: "You" });
    await question.getByRole("button", { name: "Edit" }).click();
    expect(await input().inputValue()).toBe("What is tea?");
    await input().fill("What is green tea?");
    await input().press("Enter");
    await expect.poll(sent).toEqual(["What is green tea?"]);
    const answer = page.getByRole("article", { name: "Agent" });
    await expect.poll(() => answer.locator(".hljs-comment").textContent()).toBe("# green");
    const conversation = "a";
    gateway.say(
      { type: "run.start", conversation, runId: "r1" },
      { type: "run.end", conversation, runId: "r1", outcome: "replied" },
    );
    await answer.getByRole("button", { name: "Ask again" }).click();
    await expect.poll(sent).toEqual(["What is green tea?", "What is green tea?"]);
    await question.first().getByRole("button", { name: "Why this happened" }).click();
    await expect.poll(() => page.url()).toContain("#/message/m1");
  });
});
