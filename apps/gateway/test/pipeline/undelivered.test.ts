import { feishu } from "@signalbox/channel-feishu";
import { textMessage } from "@signalbox/testkit/feishu";
import { describe, expect, it } from "vitest";
import {
  eventually,
  exampleConfig,
  inStore,
  LI,
  namedEnds,
  openWorld,
  type World,
  ZHANG,
} from "../support/harness.ts";
import { plainMessage } from "../support/plain-channel.ts";

const OWNED = exampleConfig({
  access: { dm: "open", groups: { mode: "open" }, owners: [`feishu:${LI}`] },
  // A planted failure is to meet the reply, not a draft or a sign before it.
  replies: { stream: "off", typing: false },
});
const TO_OWNER = `oc_of_${LI}`;

async function command(world: World, ...args: readonly string[]): Promise<string> {
  const { out } = await world.command(args);
  return out;
}

/** What is to be read in each chat, in order. */
function said(world: World): string[] {
  return world.feishu.sent.map(({ chatId, content }) => `${chatId}: ${JSON.parse(content).text}`);
}

/** Messages an earlier process has answered, with replies that have become too old. */
async function answeredLongAgo(world: World, messages: readonly (readonly [id: string, chat: string])[]) {
  await inStore(world, async (store) => {
    const lease = await store.leases.acquire("gateway of an earlier process", "earlier", 0);
    if (!lease) throw new Error("no lease");
    for (const [id, chat] of messages) {
      const address = feishu.codec.encode({ id: chat });
      const event = plainMessage(id, "?", { channel: "feishu", account: "main", address });
      const session = { key: chat, agentId: "coder", channel: "feishu", account: "main" };
      const accepted = await store.inbox.accept({
        channel: "feishu",
        account: "main",
        eventId: id,
        messageId: id,
        kind: "message",
        conversationId: chat,
        senderId: ZHANG,
        payload: { event, role: "member", rule: "open" },
        route: { agentId: "coder", sessionKey: chat },
      });
      if (accepted.outcome !== "accepted") throw new Error(accepted.outcome);
      const begun = await store.runs.begin({
        session: { ...session, peer: ZHANG, kind: "direct" },
        lease,
        inboxIds: [accepted.id],
        userMessages: [],
      });
      if (begun.outcome !== "started") throw new Error(begun.outcome);
      const payload = { parts: [{ type: "text", text: "old news" } as const], replyTo: id };
      await store.runs.finish({
        runId: begun.run.id,
        lease,
        outcome: "completed" as const,
        inbox: [{ id: accepted.id, state: "replied" }],
        outbox: [{ channel: "feishu", account: "main", address, payload, expiresAt: Date.now() - 1 }],
      });
    }
  });
}

describe("a reply that is not delivered", () => {
  it("is reported in its chat and to the owner if it expired", async () => {
    const world = await openWorld();
    world.configure(OWNED);
    for (const id of ["om_1", "om_2", "om_3"])
      world.feishu.plant({
        messageId: id,
        chatId: id === "om_3" ? "oc_b" : "oc_a",
        content: "{}",
        msgType: "text",
        senderId: ZHANG,
      });
    await answeredLongAgo(world, [
      ["om_1", "oc_a"],
      ["om_2", "oc_a"],
      ["om_3", "oc_b"],
    ]);
    expect(await namedEnds(world)).toEqual(["om_1", "om_2", "om_3"].map((id) => [id, "replied", undefined]));
    const started = await world.start();
    await eventually(() => world.feishu.sent.length >= 3, "the words are out");
    expect(said(world).sort()).toEqual([
      expect.stringMatching(/^oc_a: 2 answers could not be delivered in time .* ask again/),
      expect.stringMatching(/^oc_b: An answer could not be delivered in time .* ask again/),
      `${TO_OWNER}: 3 replies were not delivered: 3 expired on feishu/main. \`signalbox outbox list\` shows which and why.`,
    ]);
    expect(said(world).join()).not.toContain("old news");
    const reported = ["om_1", "om_2", "om_3"].map((id) => [id, "expired-reported", "undelivered"]);
    await expect.poll(() => namedEnds(world)).toEqual(reported);
    const why = await command(world, "why", "om_2", "--details");
    expect(why).toContain("expired: too old to be sent; the message is unreported until a notice is sent");
    await started.stop();

    // Told once: another start has nothing to say.
    const again = await world.start();
    await again.post(textMessage("/whoami", { senderId: LI, chatId: "oc_li", messageId: "om_4" }));
    await eventually(() => said(world).some((one) => one.startsWith("oc_li")), "the command is answered");
    expect(world.feishu.sent).toHaveLength(4);
    await again.stop();
  });

  it("is reported if the platform rejects it, and counts as replied once it is delivered after all", async () => {
    const world = await openWorld();
    world.configure(OWNED);
    world.script([{ text: "the answer" }]);
    // What is said is refused in every form, the chat is not.
    world.feishu.fail({ kind: "code", code: 230_025, method: "POST", times: 3 });
    const started = await world.start();
    await started.post(textMessage("?", { senderId: ZHANG, chatId: "oc_a", messageId: "om_1" }));
    await eventually(() => world.feishu.sent.length >= 2, "the words are out");
    expect(said(world).sort()).toEqual([
      "oc_a: I have an answer, but this chat does not accept it. My operator can see why.",
      expect.stringMatching(new RegExp(`^${TO_OWNER}: A reply was not delivered: 1 dead on feishu/main`)),
    ]);
    await expect.poll(() => namedEnds(world)).toEqual([["om_1", "failed-reported", "undelivered"]]);
    const [dead] = await inStore(world, (store) => store.outbox.list());
    if (dead === undefined) throw new Error("one row");
    await command(world, "outbox", "retry", dead.id);
    await eventually(() => world.feishu.sent.length === 3, "the reply is out");
    expect(said(world)[2]).toBe("oc_a: the answer");
    await expect.poll(() => namedEnds(world)).toEqual([["om_1", "replied", undefined]]);
    await started.stop();
  });

  it("is reported to an owner in the language of their latest message, ignoring commands", async () => {
    const world = await openWorld();
    world.configure(OWNED);
    world.script([{ text: "好" }, { text: "the answer" }]);
    const started = await world.start();
    for (const [index, text] of ["你好", "/whoami"].entries()) {
      await started.post(textMessage(text, { senderId: LI, chatId: "oc_li", messageId: `om_${index}` }));
      await started.settled();
    }
    world.feishu.fail({ kind: "code", code: 230_025, method: "POST", times: 3 });
    await started.post(textMessage("?", { senderId: ZHANG, chatId: "oc_a", messageId: "om_asked" }));
    await eventually(() => world.feishu.sent.length === 4, "the words are out");
    expect(said(world)).toContainEqual(
      expect.stringContaining(`${TO_OWNER}: 1 条回复未送达：feishu/main 无法送达 1 条`),
    );
    await started.stop();
  });

  it("is reported in the agent's language, whatever the reply's", async () => {
    const world = await openWorld();
    const agents = { defaults: { model: "anthropic/claude-sonnet-4-6", language: "zh" } };
    world.configure({ ...OWNED, agents });
    world.script([{ text: "the answer" }]);
    world.feishu.fail({ kind: "code", code: 230_025, method: "POST", times: 3 });
    const started = await world.start();
    await started.post(textMessage("?", { senderId: ZHANG, chatId: "oc_a", messageId: "om_1" }));
    await eventually(() => world.feishu.sent.length >= 1, "the word is out");
    expect(said(world)[0]).toBe("oc_a: 有一条回复无法发送到此聊天，管理员可查看原因。");
    await started.stop();
  });

  it("stays unreported if no person can be informed, and a notice causes no further notice", async () => {
    const world = await openWorld();
    world.configure(OWNED);
    world.script([{ text: "the answer" }]);
    world.feishu.fail({ kind: "code", code: 230_025, method: "POST", times: 100 });
    const started = await world.start();
    await started.post(textMessage("?", { senderId: ZHANG, chatId: "oc_a", messageId: "om_1" }));
    const dead = () => inStore(world, (store) => store.outbox.list());
    await eventually(async () => (await dead()).length === 3, "the reply, its word and the owner's are dead");
    await started.stop();
    const again = await world.start();
    await again.stop();
    expect(await dead()).toHaveLength(3);
    expect(await namedEnds(world)).toEqual([["om_1", "unreported", "undelivered"]]);
    expect(await command(world, "why", "om_1")).toContain("nobody could be told");
  });

  it("is reported to the owner if its chat accepts nothing, by an account that works", async () => {
    const world = await openWorld();
    world.configure(OWNED);
    world.script([{ text: "the answer" }]);
    // The chat was dissolved.
    world.feishu.fail({ kind: "code", code: 230_002, method: "POST", times: 1 });
    const started = await world.start();
    await started.post(textMessage("?", { senderId: ZHANG, chatId: "oc_a", messageId: "om_1" }));
    await eventually(() => world.feishu.sent.length === 1, "the owner is told");
    expect(said(world)).toEqual([
      expect.stringMatching(new RegExp(`^${TO_OWNER}: A reply was not delivered`)),
    ]);
    await eventually(
      async () => JSON.stringify(await namedEnds(world)).includes("failed-reported"),
      "the message counts as reported",
    );
    await started.stop();
  });

  it("is reported if the answer that says that its run failed is not delivered either", async () => {
    const world = await openWorld();
    world.configure(OWNED);
    world.script([{ error: { status: 401 } }]);
    world.feishu.fail({ kind: "code", code: 230_002, method: "POST", times: 100 });
    const started = await world.start();
    await started.post(textMessage("?", { senderId: ZHANG, chatId: "oc_a", messageId: "om_1" }));
    await eventually(
      async () => JSON.stringify(await namedEnds(world)).includes("unreported"),
      "nobody could be told",
    );
    expect(await namedEnds(world)).toEqual([["om_1", "unreported", "auth"]]);
    await started.stop();
  });
});

it("the trace of each message contains the outcome of its reply, also after a restart and for commands", async () => {
  const world = await openWorld();
  world.configure(exampleConfig());
  world.script([{ text: "the answer" }]);
  world.feishu.fail({ kind: "status", status: 503, method: "POST", times: 10_000 });
  const first = await world.startChild();
  await first.post(textMessage("?", { senderId: ZHANG, chatId: "oc_a", messageId: "om_1" }));
  await eventually(
    async () => (await inStore(world, (store) => store.inbox.list({ state: "replied" }))).length === 1,
    "the message is answered",
  );
  await first.end("SIGKILL");
  world.feishu.heal();
  const second = await world.start();
  await second.post(textMessage("/whoami", { senderId: ZHANG, chatId: "oc_b", messageId: "om_2" }));
  await eventually(() => world.feishu.sent.length === 2, "both replies are out");
  for (const id of ["om_1", "om_2"])
    await eventually(
      async () => /deliver +sent: 1 part/.test(await command(world, "why", id, "--details")),
      `the trace of ${id} tells that its reply was sent`,
    );
  await second.stop();
});
