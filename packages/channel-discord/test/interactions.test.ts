import { type ButtonsPart, type Clock, type Outbound, systemClock } from "@signalbox/channel";
import { buttonsOf, optionsOf } from "@signalbox/testkit/discord";
import { describe, expect, it } from "vitest";
import { discord } from "../src/index.ts";
import { type Bench, channelId, never, openBench, otherBot, until, zhang } from "./harness.ts";

const status = { kind: "command", name: "status" } as const;

function words(...texts: string[]): Outbound {
  return { parts: texts.map((text) => ({ type: "markdown", text })) };
}

/** Uses a command. Returns it and the address of its response once it is deferred. */
async function use(bench: Bench) {
  const interaction = bench.fakeServer.interact(channelId, zhang, status);
  await until(() => interaction.answeredWith !== undefined);
  await until(() => bench.events.length > 0);
  const to = discord.codec.decode(bench.events.at(-1)?.address ?? "");
  return { interaction, to };
}

function textsOf({ fakeServer }: Bench): string[] {
  return fakeServer.sent.map(({ content }) => content);
}

describe("a command", () => {
  it("is deferred after the host accepted it; its first answer replaces the pending response", async () => {
    await using bench = await openBench();
    const { interaction, to } = await use(bench);
    expect(interaction.answeredWith).toBe(5);
    const receipt = await bench.channel.send(to, words("one", "two"), {
      idempotencyKey: "k1",
      signal: never,
    });
    expect(interaction.message?.content).toBe("one");
    expect(receipt.parts[0]?.messageId).toBe(interaction.message?.id);
    await bench.channel.send(to, words("three"), { idempotencyKey: "k2", signal: never });
    expect(textsOf(bench)).toEqual(["one", "two", "three"]);
  });

  it("does not invalidate the bot's token if its own token is rejected", async () => {
    await using bench = await openBench();
    const { to } = await use(bench);
    bench.fakeServer.fail({ kind: "status", status: 401, path: "/webhooks/" });
    await bench.channel.send(to, words("one"), { idempotencyKey: "k1", signal: never });
    expect(textsOf(bench)).toContain("one");
    expect(bench.channel.health()).toEqual({ state: "ready" });
  });

  it("is answered once, however often the answer is retried", async () => {
    await using bench = await openBench();
    const { to } = await use(bench);
    bench.fakeServer.fail({ kind: "cut", path: "/webhooks/" });
    const send = () => bench.channel.send(to, words("one"), { idempotencyKey: "k1", signal: never });
    await expect(send()).rejects.toMatchObject({ code: "unknown_outcome" });
    await send();
    expect(textsOf(bench)).toEqual(["one"]);
  });

  it("shows a draft as its response, and ordinary edits finish it after the token expired", async () => {
    await using bench = await openBench();
    const { interaction, to } = await use(bench);
    const draft = await bench.channel.openDraft?.(to, { idempotencyKey: "k1", signal: never });
    await draft?.update("on");
    expect(interaction.message?.content).toBe("on");
    bench.fakeServer.age(16 * 60_000);
    await draft?.update("one and");
    await draft?.finalize(words("one and all", "the rest"));
    expect(textsOf(bench)).toEqual(["one and all", "the rest"]);
  });

  it("is answered by an ordinary message if it expired or is unknown", async () => {
    await using bench = await openBench();
    const { interaction, to } = await use(bench);
    bench.fakeServer.age(16 * 60_000);
    await bench.channel.send(to, words("late"), { idempotencyKey: "k1", signal: never });
    expect(interaction.message?.content).toBe("");
    const unknown = { channelId, interactionId: "12345" };
    await bench.channel.send(unknown, words("later"), { idempotencyKey: "k2", signal: never });
    expect(textsOf(bench)).toEqual(["", "late", "later"]);
  });

  it("is not deferred if the host rejected it", async () => {
    await using bench = await openBench();
    bench.onEmit = async () => "rejected";
    const interaction = bench.fakeServer.interact(channelId, zhang, status);
    await until(() => bench.channel.health().state === "down");
    expect(interaction.answeredWith).toBeUndefined();
  });

  it("does not fail if it can no longer be acknowledged", async () => {
    await using bench = await openBench();
    bench.onEmit = async () => {
      bench.fakeServer.age(4_000);
      return "accepted";
    };
    bench.fakeServer.interact(channelId, zhang, status);
    await until(() => bench.logged.some((line) => line.includes("failed to respond to an interaction")));
    expect(bench.channel.health()).toEqual({ state: "ready" });
  });
});

describe("buttons", () => {
  const question: Outbound = {
    parts: [
      {
        type: "buttons",
        text: "May it?",
        buttons: Array.from({ length: 7 }, (_, index) => ({
          id: "approve",
          label: `Answer ${index}`,
          style: index === 0 ? "primary" : "default",
          value: { id: "A1B2C3D4", answer: index },
        })),
      },
    ],
  };

  it("return their value, and the click is acknowledged silently", async () => {
    await using bench = await openBench();
    const receipt = await bench.channel.send({ channelId }, question, { idempotencyKey: "k", signal: never });
    const [sent] = bench.fakeServer.sent;
    const messageId = receipt.parts[0]?.messageId ?? "";
    const buttons = sent === undefined ? [] : buttonsOf(sent);
    expect(buttons).toHaveLength(7);
    const click = { kind: "click", messageId, customId: buttons[6]?.customId ?? "" } as const;
    const interaction = bench.fakeServer.interact(channelId, zhang, click);
    await until(() => interaction.answeredWith !== undefined);
    expect(interaction.answeredWith).toBe(6);
    expect(bench.events).toMatchObject([
      { type: "action", actionId: "approve", value: { id: "A1B2C3D4", answer: 6 }, messageId },
    ]);
  });

  it("accept values up to the declared limit", async () => {
    await using bench = await openBench();
    const { cards } = discord.capabilities;
    const send = (length: number) => {
      const value = "x".repeat(length - 2);
      const buttons = [{ id: "sixteen-letters-", label: "One", value }];
      return bench.channel.send(
        { channelId },
        { parts: [{ type: "buttons", text: "May it?", buttons }] },
        { idempotencyKey: "k", signal: never },
      );
    };
    await send(cards?.callbackBytes ?? 0);
    await expect(send(100)).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("a menu", () => {
  const buttons = Array.from({ length: 6 }, (_, index) => ({
    id: "answer",
    label: `Answer ${index}`,
    value: { id: "A1B2C3D4", answer: String(index) },
  }));
  const put = async (bench: Bench, more: ButtonsPart["buttons"] = []) => {
    const parts = [{ type: "buttons", text: "Which one?", buttons: [...buttons, ...more] }] as const;
    await bench.channel.send({ channelId }, { parts }, { idempotencyKey: "k", signal: never });
    const [sent] = bench.fakeServer.sent;
    if (sent === undefined) throw new Error("nothing was sent");
    return sent;
  };

  it("replaces more than one row of choices and returns the chosen value", async () => {
    await using bench = await openBench();
    const sent = await put(bench);
    const options = optionsOf(sent);
    expect(options.map(({ label }) => label)).toEqual(buttons.map(({ label }) => label));
    const { customId = "", value = "" } = options[4] ?? {};
    const choice = { kind: "choose", messageId: sent.id, customId, value } as const;
    const interaction = bench.fakeServer.interact(channelId, zhang, choice);
    await until(() => interaction.answeredWith === 6);
    expect(bench.events).toMatchObject([
      { type: "action", actionId: "answer", value: { id: "A1B2C3D4", answer: "4" }, messageId: sent.id },
    ]);
  });

  it("has the form button below it", async () => {
    await using bench = await openBench();
    const form = { id: "answer", label: "Other answer", opensForm: true, value: { id: "A1B2C3D4" } };
    const sent = await put(bench, [form]);
    expect(optionsOf(sent)).toHaveLength(6);
    expect(buttonsOf(sent).map(({ label }) => label)).toEqual(["Other answer"]);
  });
});

describe("a form", () => {
  const question: Outbound = {
    parts: [
      {
        type: "buttons",
        text: "Where to?",
        buttons: [{ id: "answer", label: "Other answer", opensForm: true, value: { id: "A1B2C3D4" } }],
      },
    ],
  };

  it("is opened by its button, and its text arrives as an action", async () => {
    await using bench = await openBench();
    await bench.channel.send({ channelId }, question, { idempotencyKey: "k", signal: never });
    const [sent] = bench.fakeServer.sent;
    const messageId = sent?.id ?? "";
    const customId = sent === undefined ? "" : (buttonsOf(sent)[0]?.customId ?? "");
    const opened = bench.fakeServer.interact(channelId, zhang, { kind: "click", messageId, customId });
    await until(() => opened.form !== undefined);
    expect(bench.events).toEqual([]);
    expect(opened.form).toMatchObject({
      title: "Other answer",
      components: [{ label: "Your answer", description: "Where to?" }],
    });
    const filled = bench.fakeServer.interact(channelId, zhang, {
      kind: "submit",
      opened,
      text: " to 海边\n ",
    });
    await until(() => filled.answeredWith === 6);
    expect(bench.events).toMatchObject([
      { type: "action", actionId: "answer", value: { id: "A1B2C3D4" }, text: "to 海边", messageId },
    ]);
  });

  it("asks about a message from its menu, and the answer replaces the pending response", async () => {
    await using bench = await openBench();
    const { message } = bench.fakeServer.say({
      channelId,
      authorId: otherBot,
      content: "The build is broken",
      attachments: [{ id: "9001", name: "log.txt", mimeType: "text/plain", content: new Uint8Array(4) }],
    });
    await until(() => bench.events.length === 1);
    const name = "Ask about this";
    const command = { kind: "message-command", name, messageId: message.id } as const;
    const opened = bench.fakeServer.interact(channelId, zhang, command);
    await until(() => opened.form !== undefined);
    expect(opened.form).toMatchObject({ title: name, components: [{ label: "Your question" }] });
    const asked = bench.fakeServer.interact(channelId, zhang, {
      kind: "submit",
      opened,
      text: "Since when?",
    });
    await until(() => asked.answeredWith === 5);
    expect(bench.events.slice(1)).toMatchObject([
      {
        type: "message",
        addressed: "mention",
        sender: { id: zhang },
        text: "Since when?",
        references: [
          {
            kind: "reply",
            messageId: message.id,
            text: "The build is broken",
            sender: { id: otherBot },
            media: [{ name: "log.txt" }],
          },
        ],
        media: [],
      },
    ]);
    const to = discord.codec.decode(bench.events[1]?.address ?? "");
    await bench.channel.send(to, words("Since noon."), { idempotencyKey: "k1", signal: never });
    expect(asked.message?.content).toBe("Since noon.");
  });

  it("is ignored if empty, and does not fail if it comes too late", async () => {
    await using bench = await openBench();
    await bench.channel.send({ channelId }, question, { idempotencyKey: "k", signal: never });
    const [sent] = bench.fakeServer.sent;
    const messageId = sent?.id ?? "";
    const customId = sent === undefined ? "" : (buttonsOf(sent)[0]?.customId ?? "");
    const click = { kind: "click", messageId, customId } as const;
    const opened = bench.fakeServer.interact(channelId, zhang, click);
    await until(() => opened.form !== undefined);
    bench.fakeServer.interact(channelId, zhang, { kind: "submit", opened, text: " " });
    bench.fakeServer.fail({ kind: "status", status: 404, path: "/callback" });
    bench.fakeServer.interact(channelId, zhang, click);
    await until(() => bench.logged.some((line) => line.includes("failed to respond to an interaction")));
    expect(bench.events).toEqual([]);
    expect(bench.channel.health()).toEqual({ state: "ready" });
  });
});

it("shortens labels without splitting a character, and never to nothing", async () => {
  await using bench = await openBench();
  const labels = [`${"x".repeat(79)}😀`, "two\u0007", " "];
  const buttons = labels.map((label, index) => ({ id: `b${index}`, label }));
  await bench.channel.send(
    { channelId },
    { parts: [{ type: "buttons", text: "?", buttons }] },
    { idempotencyKey: "k", signal: never },
  );
  const [sent] = bench.fakeServer.sent;
  expect(sent && buttonsOf(sent).map(({ label }) => label)).toEqual([`${"x".repeat(79)}…`, "two", "…"]);
});

describe("registered commands", () => {
  const commands = [
    { name: "model", description: "Which model answers", usage: "[name]" },
    { name: "new", description: "Begin anew", localized: { zh: "重新开始", de: "Neu anfangen" } },
    { name: "Not Possible", description: "A name that Discord refuses" },
  ];

  it("are the host's, registered again only after a change", async () => {
    await using bench = await openBench({ context: { commands } });
    await until(() => bench.fakeServer.commands.length > 0);
    expect(bench.fakeServer.commands).toEqual([
      {
        type: 1,
        name: "model",
        description: "Which model answers",
        contexts: [0, 1],
        options: [{ type: 3, name: "name", description: "[name]", required: false }],
      },
      {
        type: 1,
        name: "new",
        description: "Begin anew",
        description_localizations: { "zh-CN": "重新开始", "zh-TW": "重新开始", de: "Neu anfangen" },
        contexts: [0, 1],
      },
      {
        type: 3,
        name: "Ask about this",
        name_localizations: { "zh-CN": "就此提问", "zh-TW": "就此提問" },
        contexts: [0, 1],
      },
    ]);
    const puts = () => bench.fakeServer.requests.filter(({ method }) => method === "PUT").length;
    const state = { get: async () => undefined, set: async () => {}, delete: async () => {} };
    expect(puts()).toBe(1);
    await using again = await openBench({ context: { commands, state }, fakeServer: bench.fakeServer });
    await until(() => puts() === 2);
    expect(again.channel.health()).toEqual({ state: "ready" });
  });

  it("have descriptions without split characters", async () => {
    const description = `${"x".repeat(99)}😀`;
    await using bench = await openBench({ context: { commands: [{ name: "new", description }] } });
    await until(() => bench.fakeServer.commands.length > 0);
    expect(bench.fakeServer.commands[0]).toMatchObject({ description: `${"x".repeat(99)}…` });
  });

  it("are registered as soon as Discord accepts them", async () => {
    const hurried: Clock = {
      now: systemClock.now,
      delay: (ms, signal) => systemClock.delay(ms === 1_000 ? 5 : ms, signal),
    };
    await using bench = await openBench({ context: { commands, clock: hurried }, start: false });
    bench.fakeServer.fail({ kind: "status", status: 503, path: "/commands", times: 1 });
    await bench.channel.start(never);
    await until(() => bench.fakeServer.commands.length > 0);
  });

  it("are left unchanged if registerCommands is off", async () => {
    await using bench = await openBench({ context: { commands }, config: { registerCommands: false } });
    await bench.channel.send({ channelId }, words("x"), { idempotencyKey: "k", signal: never });
    expect(bench.fakeServer.requests.filter(({ method }) => method === "PUT")).toEqual([]);
  });
});
