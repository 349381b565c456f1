import { existsSync } from "node:fs";
import { join } from "node:path";
import type { DeletedEvent, MessageEvent } from "@signalbox/channel";
import { recalled, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inStore,
  namedEnds,
  openWorld,
  TOKEN,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { pauseAt } from "../support/paused-model.ts";
import {
  IN_GROUP,
  type PlainChannel,
  plainChannel,
  plainEdit,
  plainMessage,
} from "../support/plain-channel.ts";

const WRITE = { id: "toolu_1", name: "write", input: { file_path: "a.txt", content: "one" } };

function config(more: object = {}) {
  return exampleConfig({ channels: { plain: { accounts: { main: {} } } }, ...more });
}

function deletionOf(message: MessageEvent): DeletedEvent {
  return { ...message, type: "deleted", eventId: `${message.eventId}-gone` };
}

function replies({ sent }: PlainChannel): unknown[] {
  return sent.map(({ message: { replyTo, parts } }) => [
    replyTo,
    parts.map((part) => ("text" in part ? part.text : "")).join(),
  ]);
}

const heard = (world: World): string =>
  modelRequests(world.anthropic)
    .at(-1)
    ?.messages.map(({ text }) => text)
    .join("\n") ?? "";

describe("a message that is deleted while it is being answered", () => {
  it("removes the visible part of its answer", async () => {
    const world = await openWorld();
    world.configure(exampleConfig());
    const text = "First it looks around, then it writes the script, and in the end it runs it for you. ";
    world.script([
      { text: text.repeat(20), chunks: 200, deltaMs: 20, fault: { kind: "stall", afterEvents: 100 } },
      { text: "next" },
    ]);
    const started = await world.start({ drafts: { afterMs: 0, everyMs: 0 } });
    await started.post(textMessage("how?", { senderId: ZHANG, messageId: "om_1" }));
    await eventually(() => (world.feishu.sent[0]?.edits.length ?? 0) > 1, "it grows");
    await started.post(recalled("om_1"));
    await started.settled();
    expect(world.feishu.sent.map(({ deleted }) => deleted)).toEqual([true]);
    await started.post(recalled("om_1", { eventId: "again" }));
    await started.post(textMessage("and now?", { senderId: ZHANG, messageId: "om_2" }));
    await started.settled();
    expect(await namedEnds(world)).toEqual([
      ["om_1", "ignored", "deleted"],
      ["om_2", "replied", undefined],
    ]);
    expect(world.feishu.sent.filter(({ deleted }) => !deleted).map(({ parentId }) => parentId)).toEqual([
      "om_2",
    ]);
    expect(JSON.stringify(await started.gateway.service.trace("om_1"))).toMatch(
      /while it was being answered/,
    );
  });

  it("runs no further tool call", async () => {
    const world = await openWorld();
    world.configure(config());
    const { reached, goOn } = pauseAt(world, 0, [{ toolCalls: [WRITE] }]);
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const message = plainMessage("m1", "write it");
    await plain.emit(message);
    await reached;
    await plain.emit(deletionOf(message));
    await started.settled();
    goOn();
    await plain.emit(plainMessage("m2", "hello"));
    await started.settled();
    expect(existsSync(join(world.home.workspace("coder"), "a.txt"))).toBe(false);
    expect(replies(plain)).toEqual([["m2", "and that"]]);
    // What stands in the conversation is marked, so that no later turn answers it.
    expect(heard(world)).toMatch(/write it[\s\S]*\(deleted\)[\s\S]*write it[\s\S]*hello/);
    expect(await namedEnds(world)).toEqual([
      ["m1", "ignored", "deleted"],
      ["m2", "replied", undefined],
    ]);
  });

  it.each([
    ["first", 0],
    ["second", 1],
  ])("leaves its run to the others that it answers: the %s of two", async (_, index) => {
    const world = await openWorld();
    world.configure(config());
    const first = pauseAt(world, 0, [{ toolCalls: [{ id: "toolu_1", name: "ls", input: {} }] }]);
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const messages = [plainMessage("m1", "what is seven"), plainMessage("m2", "and what is eight")];
    const [one, two] = messages;
    const gone = messages[index];
    if (one === undefined || two === undefined || gone === undefined) throw new Error("two messages");
    await plain.emit(one);
    await first.reached;
    await plain.emit(two);
    first.goOn();
    const second = pauseAt(world, 1, () => ({ text: "an answer" }));
    await second.reached;
    await plain.emit(deletionOf(gone));
    second.goOn();
    await started.settled();
    expect(heard(world)).toMatch(/seven[\s\S]*eight/);
    expect(heard(world)).toMatch(new RegExp(`\\(deleted\\)[\\s\\S]*message_id: ?${gone.messageId}`));
    expect(heard(world).match(/\(deleted\)/g)).toHaveLength(1);
    const ids = ["m1", "m2"];
    expect(await namedEnds(world)).toEqual(
      ids.map((id) => (id === gone.messageId ? [id, "ignored", "deleted"] : [id, "replied", undefined])),
    );
    expect(plain.sent.map(({ message }) => message.replyTo)).toEqual(ids.toSpliced(index, 1));
  });

  it("is removed together with its corrections", async () => {
    const world = await openWorld();
    world.configure(config());
    const first = pauseAt(world, 0, [{ toolCalls: [{ id: "toolu_1", name: "ls", input: {} }] }]);
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const message = plainMessage("m1", "what is seven");
    await plain.emit(message);
    await first.reached;
    await plain.emit(plainEdit(message, "what is eight"));
    first.goOn();
    const second = pauseAt(world, 1, () => ({ text: "an answer" }));
    await second.reached;
    await plain.emit(plainEdit(message, "what is nine", { eventId: "again" }));
    await plain.emit(deletionOf(message));
    await started.settled();
    second.goOn();
    expect(await namedEnds(world)).toEqual(Array(3).fill(["m1", "ignored", "deleted"]));
    expect(plain.sent).toEqual([]);
  });

  it("is not answered if only a hook was still pending", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const started = await world.start({
      channels: [plain.definition],
      hooks: [
        {
          point: "before_reply",
          name: "slow",
          async run() {
            asked.resolve();
            await gate.promise;
            return {};
          },
        },
      ],
    });
    const message = plainMessage("m1", "hello");
    await plain.emit(message);
    await asked.promise;
    await plain.emit(deletionOf(message));
    gate.resolve();
    await started.settled();
    expect(plain.sent).toEqual([]);
    expect(await namedEnds(world)).toEqual([["m1", "ignored", "deleted"]]);
  });

  it("is noted once in the conversation if its run was being prepared", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const asked = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const started = await world.start({
      channels: [plain.definition],
      hooks: [
        {
          point: "before_prompt_build",
          name: "slow",
          async run() {
            asked.resolve();
            await gate.promise;
            return {};
          },
        },
      ],
    });
    const message = plainMessage("m1", "seven");
    await plain.emit(message);
    await asked.promise;
    await plain.emit(deletionOf(message));
    gate.resolve();
    await started.settled();
    await plain.emit(plainMessage("m2", "eight"));
    await started.settled();
    expect(heard(world).match(/\(deleted\)/g)).toHaveLength(1);
    expect(replies(plain)).toEqual([["m2", "fine"]]);
  });

  it("is not answered even if the store records the deletion slowly", async () => {
    const world = await openWorld();
    world.configure(config());
    const { reached, goOn } = pauseAt(world, 0, [{ text: "fine" }]);
    const plain = plainChannel();
    const held = Promise.withResolvers<void>();
    const started = await world.start({
      channels: [plain.definition],
      failpoints: (point) => (point === "withdraw.before" ? held.promise : undefined),
    });
    const message = plainMessage("m1", "hello");
    await plain.emit(message);
    await reached;
    const deleted = plain.emit(deletionOf(message));
    await started.settled();
    goOn();
    held.resolve();
    expect(await deleted).toBe("accepted");
    expect(plain.sent).toEqual([]);
    expect(await namedEnds(world)).toEqual([["m1", "ignored", "deleted"]]);
  });

  it("is not read if its run has not started", async () => {
    const world = await openWorld();
    world.configure(config());
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const asked = Promise.withResolvers<void>();
    const named = Promise.withResolvers<void>();
    const { definition } = plain;
    const started = await world.start({
      channels: [
        {
          ...definition,
          create: async (context) => ({
            ...(await definition.create(context)),
            resolve: async (id) => {
              asked.resolve();
              await named.promise;
              return { name: id };
            },
          }),
        },
      ],
    });
    const message = plainMessage("m1", "seven");
    await plain.emit(message);
    await asked.promise;
    await plain.emit(deletionOf(message));
    named.resolve();
    await started.settled();
    await plain.emit(plainMessage("m2", "eight"));
    await started.settled();
    expect(heard(world)).not.toContain("seven");
    expect(started.log()).not.toContain("tried again");
    expect(replies(plain)).toEqual([["m2", "fine"]]);
    expect(await namedEnds(world)).toEqual([
      ["m1", "ignored", "deleted"],
      ["m2", "replied", undefined],
    ]);
  });

  it.each([
    ["of the only message", ["m1"], 0],
    ["of one of two", ["m1", "m2"], 1],
  ])("is as good as gone after a restart: %s", async (_, ids, requests) => {
    const world = await openWorld();
    world.configure(
      config({
        gateway: { port: 0, auth: { token: TOKEN }, logLevel: "warn", shutdownMs: 0 },
        session: { queue: { mode: "collect", debounceMs: 20 } },
      }),
    );
    const { reached } = pauseAt(world, 0, []);
    const plain = plainChannel();
    const first = await world.start({ channels: [plain.definition] });
    for (const id of ids) await plain.emit(plainMessage(id, `hello ${id}`));
    await reached;
    await first.stop();
    // As it stands where the process died right after the deletion.
    const place = { channel: "plain", account: "main", messageId: "m1" };
    await inStore(world, (store) => store.inbox.withdraw(place, { rule: "deleted" }));
    const again = plainChannel();
    const second = await world.start({ channels: [again.definition] });
    await second.settled();
    expect(await namedEnds(world)).toEqual(
      ids.map((id) => (id === "m1" ? [id, "ignored", "deleted"] : [id, "replied", undefined])),
    );
    expect(again.sent.map(({ message }) => message.replyTo)).toEqual(ids.slice(1));
    // The request that the stop cut off is not among these.
    expect(modelRequests(world.anthropic)).toHaveLength(requests);
    if (requests > 0) expect(heard(world)).toMatch(/\(deleted\)[\s\S]*hello m1/);
  });
});

describe("an unaddressed group message that a model has read", () => {
  const asked = (id: string) => plainMessage(id, "what do you say?", { ...IN_GROUP, addressed: "mention" });
  const secret = "the door code is 8-heron-3";

  /** A group in which the agent was told of the message. */
  async function toldOf(text: string) {
    const world = await openWorld();
    world.configure(config({ access: { dm: "open", groups: { mode: "open" } } }));
    world.script(() => ({ text: "fine" }));
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const message = plainMessage("m1", text, IN_GROUP);
    await plain.emit(message);
    await plain.emit(asked("m2"));
    await started.settled();
    expect(heard(world)).toContain(text);
    const asks = async () => {
      await plain.emit(asked("m3"));
      await started.settled();
      return heard(world);
    };
    return { world, plain, message, asks };
  }

  it("is not shown after its deletion, and its text is removed everywhere", async () => {
    const { world, plain, message, asks } = await toldOf(secret);
    await plain.emit(deletionOf(message));
    expect(await asks()).not.toContain(secret);
    const { contexts, inbox } = await inStore(world, async (store) => {
      const sessions = await store.sessions.list();
      const kept = await Promise.all(sessions.map(({ key }) => store.contexts.from(key, 0)));
      return { contexts: kept.flat(), inbox: await store.inbox.list() };
    });
    expect(inbox).toHaveLength(3);
    expect(JSON.stringify([contexts, inbox])).not.toContain(secret);
  });

  it("is shown in its edited form", async () => {
    const { world, plain, message, asks } = await toldOf(secret);
    await plain.emit(plainEdit(message, "the door is open"));
    const now = await asks();
    expect(now).not.toContain(secret);
    expect(now).toContain("the door is open");
    expect(JSON.stringify(await inStore(world, (store) => store.inbox.list()))).not.toContain(secret);
  });
});
