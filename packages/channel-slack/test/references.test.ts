import { channelMention, textMessage } from "@signalbox/testkit/slack";
import { describe, expect, it } from "vitest";
import { type Bench, openBench } from "./harness.ts";

const threadTs = "1767225600.000100";
const signal = new AbortController().signal;

async function referencesAfter(bench: Bench, delivery: ReturnType<typeof textMessage>) {
  bench.events.length = 0;
  await bench.fakeServer.postEvent(bench.url, delivery);
  const [event] = bench.events;
  return event?.type === "message" ? event.references : undefined;
}

const repliesRead = ({ fakeServer }: Bench) =>
  fakeServer.requests.filter(({ path }) => path.endsWith("conversations.replies")).length;

describe("the first message of a thread", () => {
  it("is looked up for the message with which the bot joins the thread, with its author and files", async () => {
    await using bench = await openBench();
    const files = [{ id: "F1", name: "plan.png", mimetype: "image/png" }];
    const root = { ts: threadTs, channelType: "channel", user: "U_ANN", files } as const;
    await bench.fakeServer.postEvent(bench.url, textMessage("The order number is 4711.", root));
    const mention = channelMention("please summarise this thread", "U_BOT", { threadTs });
    expect(await referencesAfter(bench, mention)).toMatchObject([
      {
        kind: "thread",
        messageId: `C_GENERAL:${threadTs}`,
        sender: { id: "U_ANN", name: "Ann", isBot: false },
        text: "The order number is 4711.",
        media: [{ name: "plan.png" }],
        timestamp: 1_767_225_600_000,
      },
    ]);
  });

  it("is the bot's own message if people reply to it in a thread", async () => {
    await using bench = await openBench();
    const question = { parts: [{ type: "text", text: "Should I cancel the meeting?" }] } as const;
    for (const channel of ["D_DIRECT", "C_GENERAL"]) {
      const { parts } = await bench.channel.send({ channel }, question, { idempotencyKey: channel, signal });
      const ts = parts[0]?.messageId.split(":")[1] ?? "";
      const channelType = channel === "D_DIRECT" ? "im" : "channel";
      const reply = textMessage("Yes", { channel, channelType, threadTs: ts, parentUser: "U_BOT" });
      expect(await referencesAfter(bench, reply)).toMatchObject([
        { kind: "thread", sender: { isSelf: true }, text: "Should I cancel the meeting?" },
      ]);
    }
  });

  it("is an alert of another bot, with what it wrote in attachments", async () => {
    await using bench = await openBench();
    const alert = textMessage("", {
      ts: threadTs,
      channelType: "channel",
      botId: "B_ALERTS",
      subtype: "bot_message",
    });
    const { event } = alert.body;
    const attachments = [{ title: "CPU at 97 %", text: "Host web-3" }];
    const body = { ...alert.body, event: { ...Object(event), attachments } };
    await bench.fakeServer.postEvent(bench.url, { ...alert, body });
    const mention = channelMention("investigate this", "U_BOT", { threadTs });
    expect(await referencesAfter(bench, mention)).toMatchObject([
      { kind: "thread", sender: { isBot: true }, text: expect.stringContaining("CPU at 97 %") },
    ]);
  });

  it("is not looked up again once the bot has written in the thread, nor for messages to others", async () => {
    await using bench = await openBench();
    await bench.fakeServer.postEvent(
      bench.url,
      textMessage("begin", { ts: threadTs, channelType: "channel" }),
    );
    const aside = textMessage("for Ben", { channelType: "channel", threadTs });
    expect(await referencesAfter(bench, aside)).toEqual([
      { kind: "thread", messageId: `C_GENERAL:${threadTs}` },
    ]);
    const thread = { channel: "C_GENERAL", thread: threadTs };
    const answer = { parts: [{ type: "text", text: "I am here" }] } as const;
    await bench.channel.send(thread, answer, { idempotencyKey: "k", signal });
    const mention = channelMention("and now?", "U_BOT", { threadTs });
    expect(await referencesAfter(bench, mention)).toEqual([
      { kind: "thread", messageId: `C_GENERAL:${threadTs}` },
    ]);
    expect(repliesRead(bench)).toBe(0);
  });

  it("is named by its id if Slack does not return it", async () => {
    await using bench = await openBench();
    bench.fakeServer.fail({ kind: "status", status: 503, method: "conversations.replies" });
    const mention = channelMention("what is this?", "U_BOT", { threadTs });
    expect(await referencesAfter(bench, mention)).toEqual([
      { kind: "thread", messageId: `C_GENERAL:${threadTs}` },
    ]);
  });
});

it("a mention at the top of a channel names the address of the channel around its new thread", async () => {
  await using bench = await openBench();
  await bench.fakeServer.postEvent(bench.url, channelMention("hello", "U_BOT", { ts: threadTs }));
  expect(bench.events).toMatchObject([
    {
      address: `slack:C_GENERAL/${threadTs}`,
      conversation: { beginsThread: true, outerAddress: "slack:C_GENERAL" },
    },
  ]);
});
