import { isPayload, type OutboundMediaKind, textAt } from "@signalbox/channel";
import {
  type ChannelHarness,
  type Choice,
  type Delivery,
  type Failure,
  type Platform,
  runChannelConformance,
  type UsedCommand,
} from "@signalbox/channel/testkit";
import { inOwnProcess } from "@signalbox/channel-process";
import { launchLocally } from "@signalbox/channel-process/testkit";
import {
  click,
  commandMessage,
  type FakeTelegram,
  messageObject,
  person,
  startTelegram,
  type TelegramFault,
  type TelegramMessage,
  textMessage,
} from "@signalbox/testkit/telegram";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type TelegramAddress, telegram } from "../src/index.ts";
import { BUILT, token, webhookSecret } from "./harness.ts";
import { recorded } from "./recorded.ts";

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

/** Maps the suite's message names to Telegram's numbers. */
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
  rate_until: { kind: "rate", retryAfter: 3 },
  server: { kind: "status", status: 502 },
  lost_response: { kind: "cut" },
  silent: { kind: "hang" },
};

const kinds: Readonly<Record<string, OutboundMediaKind>> = {
  photo: "image",
  voice: "audio",
  audio: "audio",
  video: "video",
  document: "file",
};

/** The buttons of a message. */
function buttonsOf({
  keyboard,
}: TelegramMessage): readonly { readonly label: string; readonly data: string }[] {
  const rows =
    isPayload(keyboard) && Array.isArray(keyboard["inline_keyboard"]) ? keyboard["inline_keyboard"] : [];
  return rows
    .flat()
    .filter(isPayload)
    .map((button) => ({
      label: textAt(button, "text") ?? "",
      data: textAt(button, "callback_data") ?? "",
    }));
}

function idOf({ chatId, messageId }: TelegramMessage): string {
  return `${chatId}:${messageId}`;
}

async function choose(fakeServer: FakeTelegram, channel: Running, choice: Choice): Promise<boolean> {
  const { eventId, messageId, label } = choice;
  const message = fakeServer.sent.find((one) => idOf(one) === messageId);
  const button = message && buttonsOf(message).find((one) => one.label === label);
  if (message === undefined || button === undefined) throw new Error(`There is no choice ${label}.`);
  const update = click(button.data, message, { queryId: eventId, updateId: numberOf(eventId) });
  return (await post(channel, update, webhookSecret)) === 200;
}

async function use(channel: Running, { eventId, name, args }: UsedCommand): Promise<boolean> {
  const update = commandMessage(`/${name} ${args}`.trim(), { updateId: numberOf(eventId) });
  return (await post(channel, update, webhookSecret)) === 200;
}

const harness: ChannelHarness<TelegramAddress> = {
  addresses: [{ chatId: "5001" }, { chatId: "-1001234567890" }, { chatId: "-1001234567890", topicId: "17" }],
  entry: {
    url: new URL("../src/index.ts", import.meta.url).href,
    sdk: ["grammy", "@grammyjs/types"],
  },
  recorded,
  async open() {
    const fakeServer = await startTelegram({ token, users: [person], chats: [person.id, -1_001_234] });
    fakeServer.addFile("file-1", Buffer.from("content"));
    return {
      config: {
        botToken: token,
        transport: "webhook",
        webhookSecret,
        webhookUrl: "https://gateway.example/channels/telegram/main",
        apiBaseUrl: fakeServer.url,
      },
      secrets: [token, webhookSecret],
      to: { chatId: String(person.id) },
      sent: () =>
        fakeServer.sent
          .filter(({ deleted }) => !deleted)
          .map((message) => ({
            messageId: idOf(message),
            text: message.media === undefined ? message.text : `[${message.media.kind}]`,
          })),
      drafted: () => fakeServer.sent.flatMap(({ texts }) => texts),
      sentMedia: () =>
        fakeServer.sent.flatMap((message) => {
          const { media } = message;
          const kind = kinds[media?.kind ?? ""];
          if (media === undefined || kind === undefined) return [];
          const { name, content } = media.file;
          return [{ messageId: idOf(message), kind, content, name }];
        }),
      polls: () =>
        fakeServer.sent.flatMap(({ chatId, messageId, poll }) =>
          poll === undefined ? [] : [{ messageId: `${chatId}:${messageId}`, ...poll }],
        ),
      vote: (messageId, counts) => fakeServer.vote(Number(messageId.split(":")[1]), counts),
      messageId: ({ messageId, from }) =>
        `${from === "person" ? person.id : -1_001_234}:${numberOf(messageId)}`,
      async deliver(channel, delivery) {
        const update = updateOf(delivery);
        fakeServer.take(update);
        return (await post(channel, update, webhookSecret)) === 200;
      },
      refer: {
        reply: async (channel, delivery, about) => {
          const photo = [{ file_id: "photo-1", file_unique_id: "u1", width: 1, height: 1 }];
          const answered = messageObject(undefined, {
            messageId: numberOf(about.messageId),
            fields: { photo, caption: about.text },
          });
          const update = textMessage(delivery.text, {
            updateId: numberOf(delivery.eventId),
            fields: { reply_to_message: answered },
          });
          return { isAcknowledged: (await post(channel, update, webhookSecret)) === 200 };
        },
        forward: async (channel, delivery, about) => {
          const photo = [{ file_id: "photo-1", file_unique_id: "u1", width: 1, height: 1 }];
          const author = { id: 7, is_bot: false, first_name: "Carla" };
          const update = textMessage("", {
            updateId: numberOf(delivery.eventId),
            fields: {
              text: undefined,
              photo,
              caption: about.text,
              forward_origin: { type: "user", sender_user: author, date: 1_750_000_000 },
            },
          });
          return { isAcknowledged: (await post(channel, update, webhookSecret)) === 200 };
        },
      },
      person: { id: String(person.id), name: person.firstName ?? "" },
      reactions(messageId) {
        const [chatId, id] = messageId.split(":").map(Number);
        return fakeServer.reactions(chatId ?? 0, id ?? 0);
      },
      choices(messageId) {
        const message = fakeServer.sent.find((one) => idOf(one) === messageId);
        return message === undefined ? [] : buttonsOf(message).map(({ label }) => label);
      },
      choose: (channel, choice) => choose(fakeServer, channel, choice),
      commands: () => fakeServer.commands.list.flatMap((one) => textAt(one, "command") ?? []),
      command: use,
      deliverRecorded: async (channel, payload) => (await post(channel, payload, webhookSecret)) === 200,
      async forge(channel, how) {
        if (how !== "missing" && how !== "wrong") return undefined;
        return post(channel, textMessage("forged"), how === "missing" ? undefined : "a guess");
      },
      fail: (how) => fakeServer.fail(faults[how]),
      setAway: (away) =>
        away
          ? fakeServer.fail({ kind: "status", status: 503, path: "/bot", times: 1_000 })
          : fakeServer.heal(),
      revoke: () => fakeServer.revoke(),
      media: {
        ref: { kind: "file", mimeType: "application/octet-stream", ref: { fileId: "file-1" } },
        content: Buffer.from("content"),
        answerWith: (answer) => fakeServer.answerAt(`/file/bot${token}/`, answer),
        leadingTo(address) {
          fakeServer.answerAt(`/bot${token}/getFile`, () =>
            Response.json({ ok: true, result: { file_id: "file-1", file_path: address } }),
          );
          return [{ fileId: address }];
        },
      },
      close: () => fakeServer.stop(),
    };
  },
};

const skip = [
  { check: "answers the platform's challenge", reason: "Telegram asks for none" },
  {
    check: "delivers messages missed while offline, in order and once",
    reason: "Telegram keeps what was not taken, and delivers it again",
  },
];
const test = { describe, it, afterAll };

runChannelConformance(telegram, harness, { test, skip, print: inMatrix("telegram") });

describe("in a process of its own", () => {
  runChannelConformance(inOwnProcess(telegram, BUILT, launchLocally().launch), harness, {
    test,
    skip,
    print: inMatrix("telegram in a process"),
  });
});
