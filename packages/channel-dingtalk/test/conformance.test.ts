import type { OutboundMediaKind } from "@signalbox/channel";
import {
  type ChannelHarness,
  type Delivery,
  type Failure,
  type Platform,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import { inOwnProcess } from "@signalbox/channel-process";
import { launchLocally } from "@signalbox/channel-process/testkit";
import {
  buttonClick,
  CARD_TOPIC,
  chatbotUserId,
  type DingTalkFault,
  type DingTalkMessage,
  directId,
  groupId,
  inGroup,
  person,
  startDingTalk,
  textMessage,
} from "@signalbox/testkit/dingtalk";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type DingTalkAddress, dingtalk } from "../src/index.ts";
import { BUILT, credentials } from "./harness.ts";
import { recorded } from "./recorded.ts";

/** Time after which a message counts as not acknowledged, in milliseconds. */
const WITHIN_MS = 2_000;

const faults: Record<Failure, DingTalkFault> = {
  rate: { kind: "rate" },
  rate_until: { kind: "rate", retryAfter: 3 },
  server: { kind: "status", status: 502 },
  lost_response: { kind: "cut" },
  silent: { kind: "hang" },
};

const kinds: Readonly<Record<string, OutboundMediaKind>> = {
  sampleImageMsg: "image",
  sampleAudio: "audio",
  sampleFile: "file",
};

function messageOf({ messageId, text, from, eventId }: Delivery) {
  // DingTalk has no ids of events: a redelivery is the same message.
  const msgId = `${messageId}/${eventId}`;
  if (from === "person") return textMessage(text, { msgId });
  return inGroup(textMessage(text, { msgId, sender: { id: chatbotUserId } }));
}

function isShown({ isRecalled }: DingTalkMessage): boolean {
  return !isRecalled;
}

/** The visible text of Markdown that contains only escapes and line ends. */
function visible({ kind, text }: DingTalkMessage): string {
  return kind === "sampleText"
    ? text
    : text.replace(/\\([\\`*_~[\]#<>|.+-])/g, "$1").replaceAll("  \n", "\n");
}

const harness: ChannelHarness<DingTalkAddress> = {
  addresses: [
    { userId: "manager7" },
    { userId: "张/三:%" },
    { conversationId: "cid6KeBBLoveMJOGXoYKF5x7EeiodoA==" },
  ],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["dingtalk-stream", "ws", "axios"] },
  // DingTalk delivers no messages of bots to bots.
  hasBots: false,
  recorded,
  async open() {
    const fakeServer = await startDingTalk(credentials);
    fakeServer.addFile("code-1", Buffer.from("content"));
    const push: Platform<DingTalkAddress>["deliverRecorded"] = async (_channel, message) =>
      fakeServer.stream.push(message, { withinMs: WITHIN_MS });
    return {
      config: { ...credentials, apiBaseUrl: fakeServer.url },
      secrets: [credentials.clientSecret],
      to: { userId: person.staffId },
      sent: () => fakeServer.sent.filter(isShown).map((one) => ({ messageId: one.id, text: visible(one) })),
      drafted: () => fakeServer.sent.flatMap(({ shown }) => shown),
      sentMedia: () =>
        fakeServer.sent.flatMap(({ id, kind, upload, fileName }) => {
          const sentKind = kinds[kind];
          if (upload === undefined || sentKind === undefined) return [];
          return [
            { messageId: id, kind: sentKind, content: upload.content, ...(fileName && { name: fileName }) },
          ];
        }),
      messageId: ({ messageId, eventId, from }) =>
        `${from === "person" ? directId : groupId}:${messageId}/${eventId}`,
      deliver: async (channel, delivery) =>
        channel.health().state !== "stopped" &&
        fakeServer.stream.push(messageOf(delivery), { withinMs: WITHIN_MS }),
      deliverRecorded: push,
      person: { id: person.staffId, name: person.nick },
      reactions: (messageId) => fakeServer.reactions(messageId.split(":")[1] ?? ""),
      choices: (messageId) =>
        fakeServer.sent.find(({ id }) => id === messageId)?.buttons.map(({ text }) => text) ?? [],
      async choose(_channel, { eventId, messageId, label }) {
        const message = fakeServer.sent.find(({ id }) => id === messageId);
        const button = message?.buttons.find(({ text }) => text === label);
        if (button === undefined) throw new Error(`There is no choice ${label}.`);
        return fakeServer.stream.push(buttonClick(messageId, button.id), {
          topic: CARD_TOPIC,
          messageId: eventId,
          withinMs: WITHIN_MS,
        });
      },
      fail: (how) => fakeServer.fail(faults[how]),
      setAway: (away) =>
        away ? fakeServer.fail({ kind: "status", status: 503, path: "/", times: 1_000 }) : fakeServer.heal(),
      revoke: () => fakeServer.revoke(),
      media: {
        ref: { kind: "file", mimeType: "application/octet-stream", ref: { downloadCode: "code-1" } },
        content: Buffer.from("content"),
        answerWith: (answer) => fakeServer.answerAt("/files/1", answer),
        leadingTo(address) {
          fakeServer.leadTo("code-2", address);
          return [{ downloadCode: "code-2" }, { downloadCode: address }];
        },
      },
      close: () => fakeServer.stop(),
    };
  },
};

const skip = [
  {
    check: "delivers messages missed while offline, in order and once",
    reason: "DingTalk keeps what was not acknowledged, and delivers it again",
  },
];
const test = { describe, it, afterAll };

runChannelConformance(dingtalk, harness, { test, skip, print: inMatrix("dingtalk") });

describe("in a process of its own", () => {
  runChannelConformance(inOwnProcess(dingtalk, BUILT, launchLocally().launch), harness, {
    test,
    skip,
    print: () => {},
  });
});
