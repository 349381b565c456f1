import { cardAction, groupMention, messageEvent, textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import { ASKING } from "../support/asking-config.ts";
import { OWNED, said } from "../support/feishu-talk.ts";
import {
  ends,
  eventually,
  exampleConfig,
  feishuAccount,
  inboxRows,
  LI,
  openWorld,
  ZHANG,
} from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";

const SOCKET = { feishu: { accounts: { main: feishuAccount({ transport: "socket" }) } } };
const SOUL = { id: "toolu_soul", name: "write", input: { file_path: "SOUL.md", content: "Be bold." } };
const group = (senderId: string) => ({ senderId, chatType: "group" as const, chatId: "oc_group" });

async function open(config: Record<string, unknown> = {}, options: { drafts?: object } = {}) {
  const world = await openWorld();
  world.configure(exampleConfig({ access: OWNED, ...config }));
  return { world, started: await world.start(options) };
}

interface Button {
  readonly tag: "button";
  readonly text: { readonly content: string };
  readonly behaviors: readonly { readonly value: unknown }[];
}

/** The buttons of a card, by what stands on them and behind them. */
function buttonsIn(part: unknown): { readonly text: string; readonly value: unknown }[] {
  if (part === null || typeof part !== "object") return [];
  if (isButton(part)) return [{ text: part.text.content, value: part.behaviors[0]?.value }];
  return Object.values(part).flatMap(buttonsIn);
}

function isButton(part: object): part is Button {
  return "tag" in part && part.tag === "button";
}

describe("an agent on Feishu", () => {
  it("requests approval with buttons, and an owner's click decides", async () => {
    const { world, started } = await open();
    world.script([{ toolCalls: [SOUL] }, { text: "as you say" }]);
    await started.post(textMessage("the new motto is: be bold", group(LI)));
    await started.post(groupMention("write the motto down", world.feishu.bot, group(ZHANG)));
    const asked = () => world.feishu.sent.find(({ content }) => buttonsIn(JSON.parse(content)).length > 0);
    await eventually(() => asked() !== undefined, "the question is put");
    const question = asked();
    const [allow, deny] = buttonsIn(JSON.parse(question?.content ?? "{}"));
    expect([allow?.text, deny?.text]).toEqual(["Allow", "Deny"]);
    const click = (operatorId: string) =>
      started.post(cardAction(question?.messageId ?? "", allow?.value, { chatId: "oc_group", operatorId }));
    await click(LI);
    expect(said(world)).not.toContain("as you say");
    await click(ZHANG);
    await started.settled();
    expect(said(world)).toContain("as you say");
    await eventually(() => asked()?.edits.length === 1, "the question shows that it is decided");
    expect(buttonsIn(JSON.parse(asked()?.edits[0] ?? "{}"))).toEqual([]);
  });

  it("accepts a free-text answer through the form in its card, and continues with it", async () => {
    const { world, started } = await open({ agents: ASKING });
    const input = { question: "Tea or coffee?", options: ["Tea", "Coffee"] };
    world.script([{ toolCalls: [{ id: "toolu_ask", name: "ask_user", input }] }, { text: "As you like." }]);
    await started.post(textMessage("make me a drink", { senderId: ZHANG }));
    const asked = () => world.feishu.sent.find(({ content }) => buttonsIn(JSON.parse(content)).length > 0);
    await eventually(() => asked() !== undefined, "the question is put");
    const question = asked();
    const other = buttonsIn(JSON.parse(question?.content ?? "{}")).find(
      ({ text }) => text === "Other answer",
    );
    const [, field] = /"name":"(text_\d+)"/.exec(question?.content ?? "") ?? [];
    const form = { [field ?? ""]: "neither, thank you" };
    await started.post(cardAction(question?.messageId ?? "", other?.value, { operatorId: ZHANG, form }));
    await started.settled();
    expect(modelRequests(world.anthropic)[1]?.messages.at(-1)?.text).toBe(
      "They answered: neither, thank you",
    );
    expect(said(world)).toContain("As you like.");
  });

  it("finishes a long answer in its card after Feishu has ended the stream", async () => {
    const { world, started } = await open({}, { drafts: { afterMs: 0, everyMs: 0 } });
    const long = "It looks around, and then it **writes** what it has seen. ".repeat(40).trim();
    world.script([{ text: long, chunks: 30, deltaMs: 60 }]);
    await started.post(textMessage("tell me all", { senderId: ZHANG }));
    await eventually(() => (world.feishu.cards[0]?.streamed.length ?? 0) > 1, "it is written into the card");
    world.feishu.age(11 * 60_000);
    await started.settled();
    const [sent, ...more] = world.feishu.sent;
    expect(more).toEqual([]);
    const card = JSON.parse(sent?.edits.at(-1) ?? "{}");
    expect(card.body.elements.map(({ content }: { content: string }) => content).join("\n\n")).toBe(long);
    expect(world.feishu.cards[0]?.isStreaming).toBe(false);
  });

  it("reads a merged forward as text of other people", async () => {
    const { world, started } = await open();
    world.script([{ toolCalls: [SOUL] }, { text: "Two people agree." }]);
    const say = (messageId: string, senderId: string, text: string) =>
      world.feishu.plant({
        messageId,
        upperMessageId: "om_forward",
        chatId: "oc_far",
        msgType: "text",
        content: JSON.stringify({ text }),
        senderId,
      });
    say("om_1", LI, "We ship on Monday.");
    say("om_2", "ou_wang", "Monday it is.");
    const forward = { messageId: "om_forward", senderId: ZHANG };
    await started.post(messageEvent("merge_forward", "Merged and Forwarded Message", forward));
    await eventually(() => modelRequests(world.anthropic).length === 1, "the model is asked");
    const [request] = modelRequests(world.anthropic);
    const asked = request?.messages.at(-1)?.text ?? "";
    for (const words of ["李四", "We ship on Monday.", "Monday it is."]) expect(asked).toContain(words);
    // None of it is what the sender says.
    // None of it is what the sender says, so that the run needs a word for what it would do otherwise.
    const isAsked = () => world.feishu.sent.some(({ content }) => buttonsIn(JSON.parse(content)).length > 0);
    await eventually(isAsked, "the question is put");
  });

  it("is delivered again while it takes its time, and answers once", async () => {
    const { world, started } = await open();
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    world.script(async () => {
      begun.resolve();
      await goOn.promise;
      return { text: "At last." };
    });
    const message = textMessage("are you there?", { senderId: ZHANG });
    expect((await started.post(message)).status).toBe(200);
    await begun.promise;
    for (let again = 0; again < 3; again++) expect((await started.post(message)).status).toBe(200);
    goOn.resolve();
    await started.settled();
    expect(said(world)).toEqual(["At last."]);
    expect(world.anthropic.requests).toHaveLength(1);
  });

  it("reads messages sent while its connection was lost and while it was down", async () => {
    const { world, started } = await open({ channels: SOCKET });
    world.script(() => ({ text: "Yes." }));
    const answers = () => said(world).filter((text) => text === "Yes.").length;
    const plant = (text: string, messageId: string) =>
      world.feishu.plant({
        messageId,
        chatId: "oc_direct",
        msgType: "text",
        content: JSON.stringify({ text }),
        senderId: ZHANG,
      });
    expect(await world.feishu.pushEvent(textMessage("before", { senderId: ZHANG }))).toBe(200);
    await eventually(() => answers() === 1, "it is answered");
    world.feishu.dropConnections();
    plant("while no connection stood", "om_lost");
    await eventually(() => answers() === 2, "what was missed is answered");
    await started.stop();
    plant("while it was down", "om_down");
    const again = await world.start();
    await eventually(() => answers() === 3, "what came while it was down is answered");
    await again.settled();
    expect((await inboxRows(world)).map(({ state }) => state)).toEqual(["replied", "replied", "replied"]);
  });

  it("answers a mention by a bot if allowed, and pauses if the two bots loop", async () => {
    const { world, started } = await open({
      access: { dm: "open", groups: { mode: "open", bots: "mentioned" } },
    });
    world.script(() => ({ text: "And you?" }));
    for (let count = 1; count <= 25; count++) {
      const bot = { ...group("cli_other"), senderType: "app" as const };
      await started.post(groupMention(`well? (${count})`, world.feishu.bot, bot));
      await started.settled();
    }
    expect(said(world)).toEqual(Array(20).fill("And you?"));
    expect((await ends(world)).slice(20)).toEqual(Array(5).fill(["ignored", "bot_loop"]));
  });
});
