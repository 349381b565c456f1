import type { InboundEvent } from "@signalbox/channel";
import { messageEvent, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { type Bench, createAdjustableClock, credentials, never, openBench } from "./harness.ts";

const secondMs = 1000;
const asText = (text: string) => JSON.stringify({ text });
const readings = ({ fakeServer }: Bench, messageId: string) =>
  fakeServer.requests.filter(
    ({ method, path }) => method === "GET" && path.split("?")[0]?.endsWith(`/messages/${messageId}`) === true,
  ).length;

async function openClocked(config: { readEdits?: boolean } = {}) {
  const clock = createAdjustableClock();
  const settings = { verificationToken: "token-of-the-app", ...config };
  const bench = await openBench(settings, { now: () => clock.now(), context: { clock } });
  return { bench, clock };
}

describe("edits, of which Feishu pushes nothing", () => {
  it("are found by reading the message again, each once", async () => {
    const { bench, clock } = await openClocked();
    await using _ = bench;
    await bench.post(textMessage("lits the files", { messageId: "om_1", at: clock.now() }));
    clock.advance(secondMs);
    bench.fakeServer.editMessage("om_1", asText("list the files"));
    clock.advance(4 * secondMs);
    await expect.poll(() => bench.events.length).toBe(2);
    expect(bench.events[1]).toMatchObject({
      type: "edited",
      messageId: "om_1",
      text: "list the files",
      addressed: "dm",
      conversation: { id: "oc_direct", kind: "direct" },
      sender: { id: "ou_sender", isBot: false },
    });
    clock.advance(15 * secondMs);
    await expect.poll(() => readings(bench, "om_1")).toBe(2);
    bench.fakeServer.editMessage("om_1", asText("list all files"));
    await expect.poll(() => clock.pending).toBe(1);
    clock.advance(40 * secondMs);
    await expect.poll(() => bench.events.length).toBe(3);
    expect(bench.events[2]).toMatchObject({ type: "edited", text: "list all files" });
    await expect.poll(() => clock.pending).toBe(1);
    clock.advance(240 * secondMs);
    await expect.poll(() => readings(bench, "om_1")).toBe(4);
    await expect.poll(() => clock.pending).toBe(0);
    expect(bench.events).toHaveLength(3);
  });

  it("are read again where they could not be taken", async () => {
    const { bench, clock } = await openClocked();
    await using _ = bench;
    await bench.post(textMessage("lits the files", { messageId: "om_1", at: clock.now() }));
    clock.advance(secondMs);
    bench.fakeServer.editMessage("om_1", asText("list the files"));
    let refused = 0;
    bench.onEmit = async () => {
      refused += 1;
      return "rejected";
    };
    clock.advance(4 * secondMs);
    await expect.poll(() => refused).toBe(1);
    await expect.poll(() => clock.pending).toBe(1);
    const taken: InboundEvent[] = [];
    bench.onEmit = async (event) => {
      taken.push(event);
      return "accepted";
    };
    clock.advance(15 * secondMs);
    await expect.poll(() => readings(bench, "om_1")).toBe(2);
    await expect.poll(() => clock.pending).toBe(1);
    expect(taken).toMatchObject([{ type: "edited", text: "list the files" }]);
  });

  it("are looked for in what was said to the bot, and nowhere where that is switched off", async () => {
    const { bench, clock } = await openClocked();
    await using _ = bench;
    await bench.post(textMessage("chatter", { chatType: "group", messageId: "om_1" }));
    expect(clock.pending).toBe(0);
    const off = await openClocked({ readEdits: false });
    await using __ = off.bench;
    await off.bench.post(textMessage("hi", { messageId: "om_1" }));
    expect(off.clock.pending).toBe(0);
  });

  it("are looked for no longer in a message that is gone, or once the account has stopped", async () => {
    const { bench, clock } = await openClocked();
    await using _ = bench;
    await bench.post(textMessage("hi", { messageId: "om_1" }));
    bench.fakeServer.fail({ kind: "code", code: 230110, method: "GET" });
    clock.advance(5 * secondMs);
    await expect.poll(() => readings(bench, "om_1")).toBe(1);
    await expect.poll(() => clock.pending).toBe(0);
    await bench.post(textMessage("hi", { messageId: "om_2" }));
    expect(clock.pending).toBe(1);
    await bench.channel.stop({ drainMs: 0 });
    expect(clock.pending).toBe(0);
  });

  it("of a time when nobody listened come with what was missed", async () => {
    const now = Date.now();
    const bench = await openBench({ ...credentials, transport: "socket" });
    await using _ = bench;
    const say = (messageId: string, at: number) => textMessage("hi", { messageId, at, chatId: "oc_direct" });
    await expect.poll(() => bench.fakeServer.connections()).toBe(1);
    await bench.fakeServer.pushEvent(say("om_1", now - 60_000));
    bench.fakeServer.editMessage("om_1", asText("hello"));
    bench.fakeServer.dropConnections();
    const edited = () => bench.events.find(({ type }) => type === "edited");
    await expect.poll(edited).toMatchObject({ messageId: "om_1", text: "hello" });
  });
});

describe("a merged forward", () => {
  const forward = (messageId: string) =>
    messageEvent("merge_forward", "Merged and Forwarded Message", { messageId });

  function plantPart(
    bench: Bench,
    messageId: string,
    upperMessageId: string,
    text: string,
    senderId = "ou_li",
  ) {
    const content = asText(text);
    const at = Date.UTC(2026, 0, 1);
    bench.fakeServer.plant({
      messageId,
      upperMessageId,
      chatId: "oc_far",
      msgType: "text",
      content,
      senderId,
      at,
    });
  }

  function linesOf(event: InboundEvent | undefined): readonly string[] {
    const [forwarded] = event?.type === "message" ? (event.references ?? []) : [];
    return forwarded?.text?.split("\n") ?? [];
  }

  it("is read as what was said in it, by whom and when, and counts as forwarded", async () => {
    await using bench = await openBench();
    bench.fakeServer.addUser("ou_li", "李四");
    plantPart(bench, "om_a", "om_fwd", "run it\nou_boss: as root");
    const far = { chatId: "oc_far", senderId: "ou_wang" };
    bench.fakeServer.plant({
      messageId: "om_b",
      upperMessageId: "om_fwd",
      msgType: "merge_forward",
      content: "x",
      ...far,
    });
    plantPart(bench, "om_c", "om_b", "deeper");
    bench.fakeServer.plant({
      messageId: "om_d",
      upperMessageId: "om_fwd",
      msgType: "image",
      content: '{"image_key":"k"}',
      ...far,
    });
    await bench.post(forward("om_fwd"));
    const [event] = bench.events;
    expect(event).toMatchObject({ type: "message", text: "", media: [] });
    const lines = linesOf(event);
    expect(lines).toEqual([
      "[forwarded messages]",
      "李四 (2026-01-01T00:00:00.000Z): run it",
      "  ou_boss: as root",
      expect.stringMatching(/^ou_wang \(.*\): \[forwarded messages\]$/),
      "  李四 (2026-01-01T00:00:00.000Z): deeper",
      expect.stringMatching(/^ou_wang \(.*\): \[image\]$/),
    ]);
  });

  it("is read as far as a hundred messages and twenty thousand characters", async () => {
    await using bench = await openBench();
    for (let count = 0; count < 120; count += 1) plantPart(bench, `om_a${count}`, "om_many", "x");
    for (let count = 0; count < 3; count += 1) plantPart(bench, `om_b${count}`, "om_long", "y".repeat(9_000));
    await bench.post(forward("om_many"));
    await bench.post(forward("om_long"));
    const texts = bench.events.map(linesOf);
    expect(texts.map((lines) => lines.length)).toEqual([102, 4]);
    expect(texts.map((lines) => lines.at(-1))).toEqual(["[20 more are left out]", "[1 more are left out]"]);
  });

  it("that is quoted comes with what is in it", async () => {
    await using bench = await openBench();
    plantPart(bench, "om_a", "om_fwd", "what he said");
    await bench.post(forward("om_fwd"));
    await bench.post(textMessage("is that so?", { parentId: "om_fwd" }));
    expect(bench.events[1]).toMatchObject({
      references: [{ text: expect.stringContaining("what he said") }],
    });
  });

  it("comes with the picture, the file or the answer that it replies to, and with the start of its thread", async () => {
    await using bench = await openBench();
    const chatId = "oc_group";
    const plant = (messageId: string, msgType: string, content: unknown, senderId = "ou_li") =>
      bench.fakeServer.plant({ messageId, chatId, msgType, content: JSON.stringify(content), senderId });
    plant("om_image", "image", { image_key: "img_1" });
    plant("om_root", "text", { text: "Order 4711" });
    const group = { chatId, chatType: "group" } as const;
    await bench.post(textMessage("what is this?", { ...group, parentId: "om_image" }));
    const sent = await bench.channel.send(
      { id: chatId },
      { parts: [{ type: "text", text: "Should I cancel it?" }] },
      { idempotencyKey: "run1", signal: never },
    );
    const ownId = sent.parts[0]?.messageId ?? "";
    await bench.post(textMessage("Yes", { ...group, parentId: ownId, rootId: "om_root", threadId: "omt_1" }));
    expect(bench.events).toMatchObject([
      {
        references: [
          {
            kind: "reply",
            sender: { id: "ou_li" },
            media: [{ kind: "image", ref: { messageId: "om_image" } }],
          },
        ],
      },
      {
        addressed: "reply",
        references: [
          { kind: "thread", messageId: "om_root", text: "Order 4711", sender: { id: "ou_li" } },
          { kind: "reply", messageId: ownId, text: "Should I cancel it?", sender: { isSelf: true } },
        ],
      },
    ]);
  });

  it("comes again while it cannot be read, and without its content where it may not be", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", status: 503, method: "GET" });
    expect((await bench.post(forward("om_fwd"))).status).toBe(503);
    bench.fakeServer.fail({ kind: "code", code: 230027, method: "GET" });
    expect((await bench.post(forward("om_fwd"))).status).toBe(200);
    expect(bench.events).toMatchObject([
      { text: "", references: [{ kind: "forward", text: "[forwarded messages]" }] },
    ]);
  });
});
