import type { OutboundMediaKind } from "@signalbox/channel";
import { inOwnProcess } from "@signalbox/channel/process";
import {
  type ChannelHarness,
  type Delivery,
  type Failure,
  type Platform,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import { person, startTelegram, type TelegramFault, textMessage } from "@signalbox/testkit/telegram";
import { afterAll, beforeAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type TelegramAddress, telegram } from "../src/index.ts";
import { BUILT, token, webhookSecret } from "./harness.ts";
import { recorded } from "./recorded.ts";
import { sharedProcess } from "./shared-process.ts";

type Running = Parameters<Platform<TelegramAddress>["deliver"]>[0];

async function post(channel: Running, update: unknown, secret: string | undefined): Promise<number> {
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (secret !== undefined) headers["x-telegram-bot-api-secret-token"] = secret;
  const request = new Request("http://gateway/updates", {
    method: "POST",
    headers,
    body: JSON.stringify(update),
  });
  return (await channel.webhook?.(request))?.status ?? 0;
}

/** Telegram numbers what the kit names. */
function numberOf(name: string): number {
  return [...name].reduce((number, letter) => (number * 31 + letter.charCodeAt(0)) % 1_000_003, 7);
}

function updateOf({ eventId, messageId, text, from }: Delivery) {
  const options = { updateId: numberOf(eventId), messageId: numberOf(messageId) };
  if (from === "person") return textMessage(text, options);
  const sender = { id: from === "self" ? 42 : 43, isBot: true };
  return textMessage(text, { ...options, chat: { id: -1_001_234, type: "supergroup" }, from: sender });
}

const faults: Record<Failure, TelegramFault> = {
  rate: { kind: "rate" },
  "rate-until": { kind: "rate", retryAfter: 3 },
  server: { kind: "status", status: 502 },
  "lost-answer": { kind: "cut" },
};

const kinds: Readonly<Record<string, OutboundMediaKind>> = {
  photo: "image",
  voice: "audio",
  audio: "audio",
  video: "video",
  document: "file",
};

const harness: ChannelHarness<TelegramAddress> = {
  addresses: [{ chatId: "5001" }, { chatId: "-1001234567890" }, { chatId: "-1001234567890", topicId: "17" }],
  entry: {
    url: new URL("../src/index.ts", import.meta.url).href,
    sdk: ["grammy", "@grammyjs/types", "mdast-util-from-markdown"],
  },
  recorded,
  async open() {
    const standIn = await startTelegram({ token });
    standIn.addFile("file-1", Buffer.from("content"));
    return {
      config: {
        botToken: token,
        transport: "webhook",
        webhookSecret,
        webhookUrl: "https://gateway.example/channels/telegram/main",
        apiBaseUrl: standIn.url,
      },
      secrets: [token, webhookSecret],
      to: { chatId: String(person.id) },
      sent: () =>
        standIn.sent
          .filter(({ deleted }) => !deleted)
          .map(({ chatId, messageId, text, media }) => ({
            messageId: `${chatId}:${messageId}`,
            text: media === undefined ? text : `[${media.kind}]`,
          })),
      drafted: () => standIn.sent.flatMap(({ texts }) => texts),
      sentMedia: () =>
        standIn.sent.flatMap(({ chatId, messageId, media }) => {
          const kind = kinds[media?.kind ?? ""];
          if (media === undefined || kind === undefined) return [];
          const { name, content } = media.file;
          return [{ messageId: `${chatId}:${messageId}`, kind, content, name }];
        }),
      polls: () =>
        standIn.sent.flatMap(({ chatId, messageId, poll }) =>
          poll === undefined ? [] : [{ messageId: `${chatId}:${messageId}`, ...poll }],
        ),
      messageId: ({ messageId, from }) =>
        `${from === "person" ? person.id : -1_001_234}:${numberOf(messageId)}`,
      deliver: async (channel, delivery) => (await post(channel, updateOf(delivery), webhookSecret)) === 200,
      deliverRecorded: async (channel, payload) => (await post(channel, payload, webhookSecret)) === 200,
      async forge(channel, how) {
        if (how === "tampered" || how === "stale") return undefined;
        return post(channel, textMessage("forged"), how === "missing" ? undefined : "a guess");
      },
      fail: (how) => standIn.fail(faults[how]),
      setAway: (away) =>
        away ? standIn.fail({ kind: "status", status: 503, path: "/bot", times: 1_000 }) : standIn.heal(),
      revoke: () => standIn.revoke(),
      media: {
        ref: { kind: "file", mimeType: "application/octet-stream", ref: { fileId: "file-1" } },
        content: Buffer.from("content"),
      },
      close: () => standIn.stop(),
    };
  },
};

const skip = [{ test: "answers the platform's challenge", reason: "Telegram asks for none" }];
const test = { describe, it, afterAll };

runChannelConformance(telegram, harness, { test, skip, print: inMatrix("telegram") });

describe("in a process of its own", () => {
  const { start, launch, stop } = sharedProcess();
  beforeAll(start);
  runChannelConformance(inOwnProcess(telegram, BUILT, launch), harness, {
    test,
    skip,
    print: inMatrix("telegram in a process"),
  });
  afterAll(stop);
});
