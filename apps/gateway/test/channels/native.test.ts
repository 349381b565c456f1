import type { ActionEvent, CommandEvent } from "@signalbox/channel";
import { cardAction, groupMention, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inboxRows,
  inStore,
  LI,
  openWorld,
  type Started,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage } from "../support/plain-channel.ts";

const CALL = { name: "write", input: { file_path: "SOUL.md", content: "Be bold." } };
const inGroup = (senderId: string) => ({ senderId, chatType: "group" as const, chatId: "oc_group" });

interface Question {
  readonly id: string;
  readonly messageId: string;
  /** What each button gives back with a click, by its label. */
  readonly values: Readonly<Record<string, unknown>>;
}

async function asked(): Promise<{ world: World; started: Started; question: Question }> {
  const world = await openWorld();
  world.configure(
    exampleConfig({ access: { dm: "open", owners: [`feishu:${ZHANG}`], groups: { mode: "open" } } }),
  );
  world.script([{ toolCalls: [CALL] }, { text: "as you say" }]);
  const started = await world.start();
  await started.post(textMessage("the new motto is: be bold", inGroup(LI)));
  await started.post(groupMention("write the motto down", world.feishu.bot, inGroup(ZHANG)));
  await eventually(() => world.feishu.sent.length > 0, "the question is put");
  const [sent] = world.feishu.sent;
  const [text, ...buttons] = JSON.parse(sent?.content ?? "").body.elements;
  const id = /Approval (\w{8}):/.exec(text.content)?.[1] ?? "";
  const values = Object.fromEntries(
    buttons.map((one: { text: { content: string }; behaviors: { value: unknown }[] }) => [
      one.text.content,
      one.behaviors[0]?.value,
    ]),
  );
  return { world, started, question: { id, messageId: sent?.messageId ?? "", values } };
}

function texts(world: World): string[] {
  return world.feishu.sent.slice(1).map(({ content }) => JSON.parse(content).text);
}

describe("a question with buttons", () => {
  const click = (
    { started, question }: { started: Started; question: Question },
    label: string,
    operatorId: string,
    eventId?: string,
  ) =>
    started.post(
      cardAction(question.messageId, question.values[label], {
        chatId: "oc_group",
        operatorId,
        eventId,
      }),
    );

  it.each([
    ["Allow", "Allowed"],
    ["Deny", "Denied"],
  ])("is decided by an owner's click on %s, once", async (label, decided) => {
    const at = await asked();
    const { world, started, question } = at;
    expect(Object.keys(question.values)).toEqual(["Allow", "Deny"]);
    expect((await click(at, label, ZHANG, "ev_click")).status).toBe(200);
    await started.settled();
    const answer = `${decided}: write, approval ${question.id}.`;
    expect(texts(world).toSorted()).toEqual([answer, "as you say"].toSorted());
    // The answer to a click stands under the question.
    const under = world.feishu.sent.find(({ content }) => content.includes(decided));
    expect(under?.parentId).toBe(question.messageId);
    expect(modelRequests(world.anthropic)).toHaveLength(2);

    expect((await click(at, label, ZHANG, "ev_click")).status).toBe(200);
    await click(at, "Allow", ZHANG);
    await started.settled();
    await eventually(() => world.feishu.sent.length === 4, "the second click is answered");
    expect(texts(world).at(-1)).toBe(`Approval ${question.id} was already decided.`);
    const rows = await inboxRows(world);
    expect(rows.filter(({ kind }) => kind === "action")).toHaveLength(2);
  });

  it("cannot be decided by another person, who gets a notice", async () => {
    const at = await asked();
    const { world } = at;
    await click(at, "Allow", LI);
    await eventually(() => world.feishu.sent.length === 2, "the click is answered");
    expect(texts(world)).toEqual(["Only owners may use /approve."]);
    expect(modelRequests(world.anthropic)).toHaveLength(1);
    await click(at, "Deny", ZHANG);
    await eventually(() => texts(world).includes("as you say"), "the owner decides");
    await expect.poll(() => texts(world)).toContainEqual(expect.stringMatching(/^Denied/));
  });

  it("accepts no other text as an answer", async () => {
    const { world, started, question } = await asked();
    const { id } = question;
    for (const value of [
      { id: "approve", value: { id, answer: "yes" } },
      { id: "approve", value: { id: `${id} allow\n/model x`, answer: "allow" } },
      { id: "approve", value: `${id} allow` },
      { id: "other", value: { id, answer: "allow" } },
      "approve",
      null,
    ]) {
      const event = cardAction(question.messageId, value, { chatId: "oc_group", operatorId: ZHANG });
      expect((await started.post(event)).status).toBe(200);
    }
    await started.post(groupMention("/stop", world.feishu.bot, inGroup(ZHANG)));
    await started.settled();
    expect(texts(world)).toEqual(["Stopped."]);
  });
});

describe("a native command", () => {
  const command = (name: string, args: string, more: Partial<CommandEvent> = {}): CommandEvent => {
    const {
      type: _,
      messageId: _id,
      text: _text,
      media: _media,
      mentions: _m,
      ...base
    } = plainMessage(`c-${name}`, "");
    return { ...base, type: "command", name, args, ...more };
  };

  async function open() {
    const world = await openWorld();
    world.configure(
      exampleConfig({
        channels: { plain: { accounts: { main: {} } } },
        access: { owners: ["plain:anna"], groups: { mode: "open" } },
      }),
    );
    const plain = plainChannel();
    const started = await world.start({ channels: [plain.definition] });
    const said = () =>
      plain.sent.map(({ message }) => message.parts.map((part) => "text" in part && part.text));
    return { world, plain, started, said };
  }

  it("is executed once like its text, and replies to no message", async () => {
    const { world, plain, started, said } = await open();
    expect(await plain.emit(command("whoami", ""))).toBe("accepted");
    await started.settled();
    expect(await plain.emit(command("whoami", ""))).toBe("duplicate");
    await started.settled();
    expect(said()).toEqual([[expect.stringContaining("You are plain:anna, an owner")]]);
    expect(plain.sent[0]?.message.replyTo).toBeUndefined();
    const [row] = await inboxRows(world);
    expect(row).toMatchObject({ kind: "command", state: "replied", detail: { rule: "command:whoami" } });
  });

  it("needs no mention in a group, but the same rights as its text", async () => {
    const { plain, started, said } = await open();
    const guest = { id: "eve", isBot: false, isSelf: false };
    const conversation = { id: "g", kind: "group" } as const;
    const there = { conversation, addressed: "none", address: "plain:g" } as const;
    await plain.emit(command("model", "default", { ...there, sender: guest }));
    await plain.emit(command("status", "", there));
    await started.settled();
    expect(said()).toContainEqual(["Only owners may use /model."]);
    expect(said()).toContainEqual([expect.stringContaining("Agent: ")]);
  });

  it("starts a run if its text does", async () => {
    const { world, plain, started, said } = await open();
    world.script([{ text: "hello" }]);
    await plain.emit(command("new", "say hello"));
    await started.settled();
    expect(said()).toEqual([["hello"]]);
    expect(JSON.stringify(modelRequests(world.anthropic)[0]?.body.messages)).toContain("say hello");
  });

  it("is answered after a restart if it was only accepted", async () => {
    const { world, plain, started, said } = await open();
    await started.stop();
    const { type: _, ...base } = plainMessage("late", "/whoami", { messageId: "" });
    await inStore(world, (store) =>
      store.inbox.accept({
        channel: "plain",
        account: "main",
        eventId: "e-late",
        kind: "command",
        conversationId: "room",
        senderId: "anna",
        payload: { event: { ...base, type: "message" }, role: "owner", rule: "owner" },
        route: { agentId: "coder", sessionKey: "agent:coder:plain:direct:anna" },
      }),
    );
    const again = await world.start({ channels: [plain.definition] });
    await again.settled();
    expect(said()).toEqual([[expect.stringContaining("You are plain:anna, an owner")]]);
  });

  it("is numbered text if the channel has no buttons, and accepts no click", async () => {
    const { world, plain, started, said } = await open();
    world.script([{ toolCalls: [CALL] }, { text: "as you say" }]);
    await plain.emit(
      plainMessage("m1", "write it", {
        references: [{ kind: "reply" as const, messageId: "m0", text: "be bold" }],
      }),
    );
    await eventually(() => plain.sent.length === 1, "the question is put");
    const question = String(said()[0]?.[0]);
    const id = /Approval (\w{8}):/.exec(question)?.[1] ?? "";
    expect(question).toContain(`1. /approve ${id} allow\n2. /approve ${id} deny`);
    expect(plain.sent[0]?.message.parts.map(({ type }) => type)).toEqual(["text"]);
    const { type: _, text: _text, media: _media, mentions: _m, ...base } = plainMessage("a1", "");
    const click: ActionEvent = {
      ...base,
      type: "action",
      actionId: "something",
      value: { id, answer: "allow" },
    };
    expect(await plain.emit(click)).toBe("accepted");
    await plain.emit(plainMessage("m2", `/approve ${id} deny`));
    await started.settled();
    expect(said().slice(1)).toContainEqual([`Denied: write, approval ${id}.`]);
  });
});
