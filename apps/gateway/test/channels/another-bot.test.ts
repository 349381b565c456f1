import { describe, expect, it } from "vitest";
import { exampleConfig, inboxRows, openWorld, type Started, type World } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { type PlainChannel, plainChannel, plainEdit, plainMessage, said } from "../support/plain-channel.ts";

interface Talk {
  readonly world: World;
  readonly plain: PlainChannel;
  readonly started: Started;
}

/** A gateway whose account has another bot now; both count their events and their messages from the same number. */
async function open(options: Parameters<World["start"]>[0] = {}): Promise<Talk> {
  const world = await openWorld();
  world.configure(exampleConfig({ channels: { plain: { accounts: { main: {} } } } }));
  world.script((_, index) => ({ text: `answer ${index}` }));
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition], ...options });
  return { world, plain, started };
}

const before = (text: string) => plainMessage("1", text, { botId: "41" });
const now = (text: string) => plainMessage("1", text, { botId: "42" });

describe("an account that has another bot", () => {
  it("accepts a message with the ids of another bot's message, and neither twice", async () => {
    const { plain, started } = await open();
    expect(await plain.emit(before("hello"))).toBe("accepted");
    await started.settled();
    expect(await plain.emit(now("hello, you"))).toBe("accepted");
    await started.settled();
    expect(said(plain)).toEqual(["answer 0", "answer 1"]);
    for (const message of [before("hello"), now("hello, you")]) {
      expect(await plain.emit(message)).toBe("duplicate");
      expect(await plain.emit({ ...message, eventId: "delivered again" })).toBe("duplicate");
    }
    await started.settled();
    expect(said(plain)).toHaveLength(2);
    // Replies and buttons name the message as its platform does.
    expect(plain.sent.map(({ message }) => message.replyTo)).toEqual(["1", "1"]);
  });

  it("does not accept a message again that was accepted before the bot's id was known", async () => {
    const { plain, started } = await open();
    await plain.emit(plainMessage("1", "hello"));
    await started.settled();
    expect(await plain.emit({ ...now("hello"), eventId: "delivered again" })).toBe("duplicate");
  });

  it("edits and deletes its own message, not the other bot's", async () => {
    const held = Promise.withResolvers<void>();
    const { world, plain, started } = await open({
      failpoints: (point) => (point === "begin.before" ? held.promise : undefined),
    });
    const room = { conversation: { id: "hall", kind: "direct" }, address: "plain:hall" } as const;
    await plain.emit(before("of the first"));
    await plain.emit({ ...now("of the second"), ...room });
    await plain.emit({ ...plainMessage("0", "waits", { botId: "42" }), ...room });
    await plain.emit(plainEdit({ ...now(""), ...room }, "of the second, edited"));
    await plain.emit({ ...now(""), ...room, type: "deleted", eventId: "gone" });
    held.resolve();
    await started.settled();
    const asked = JSON.stringify(modelRequests(world.anthropic));
    expect(asked).toContain("of the first");
    expect(asked).not.toContain("of the second");
    const rows = await inboxRows(world);
    expect(rows.map(({ payload, state }) => [payload.event.botId, payload.event.messageId, state])).toEqual(
      expect.arrayContaining([
        ["41", "1", "replied"],
        ["42", "1", "ignored"],
      ]),
    );
  });

  it("accepts an edit with the event id of another bot's edit", async () => {
    const { world, plain, started } = await open();
    let reached = Promise.withResolvers<void>();
    let goOn = Promise.withResolvers<void>();
    world.script(async (_, index) => {
      if (index % 2 === 1) return { text: "fine" };
      reached.resolve();
      await goOn.promise;
      return { toolCalls: [{ name: "ls", input: {} }] };
    });
    for (const [botId, id] of [
      ["41", "2"],
      ["42", "3"],
    ] as const) {
      reached = Promise.withResolvers();
      goOn = Promise.withResolvers();
      const message = plainMessage(id, "delete nothing", { botId });
      await plain.emit(message);
      await reached.promise;
      const edit = plainEdit(message, `list nothing, says ${botId}`, { eventId: "7" });
      expect(await plain.emit(edit)).toBe("accepted");
      expect(await plain.emit(edit)).toBe("duplicate");
      goOn.resolve();
      await started.settled();
    }
    expect(JSON.stringify(modelRequests(world.anthropic))).toContain("(edited) list nothing, says 42");
  });
});
