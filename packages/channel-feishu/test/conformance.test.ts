import {
  type OutboundMediaKind,
  objectAt,
  objectsAt,
  type Payload,
  parsePayload,
  textAt,
} from "@signalbox/channel";
import {
  type ChannelHarness,
  type Choice,
  type Delivery,
  type Failure,
  type Platform,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import {
  cardAction,
  type FakeFeishu,
  type FeishuEvent,
  messageEvent,
  type PushOptions,
  push,
  startFeishu,
  textMessage,
} from "@signalbox/testkit/feishu";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type FeishuAddress, feishu } from "../src/index.ts";
import { recorded } from "./recorded.ts";

const appId = "cli_0123456789abcdef";
const appSecret = "secret-of-the-app";
const verificationToken = "token-of-the-app";
const encryptKey = "key-of-the-app";

type Running = Parameters<Platform<FeishuAddress>["deliver"]>[0];

async function hand(channel: Running, request: RequestInit): Promise<number> {
  const answer = await channel.webhook?.(new Request("http://gateway/events", request));
  return answer?.status ?? 0;
}

function eventOf({ eventId, messageId, text, from }: Delivery): FeishuEvent {
  const options = { eventId, messageId, appId };
  if (from === "person") return textMessage(text, options);
  const senderId = from === "self" ? "ou_bot" : "ou_other_bot";
  return textMessage(text, { ...options, chatType: "group", senderType: "app", senderId });
}

const kinds: Readonly<Record<string, OutboundMediaKind>> = {
  image: "image",
  audio: "audio",
  media: "video",
  file: "file",
};

/** Something that a card offers, and what comes back when it is taken. */
interface Choosable {
  readonly label: string;
  readonly value: unknown;
  /** Of a menu. */
  readonly option?: string;
  /** The field of the form that the button sends. */
  readonly field?: string;
}

function choosableIn(element: Payload): readonly Choosable[] {
  const label = textAt(objectAt(element, "text"), "content") ?? "";
  const [behavior = {}] = objectsAt(element, "behaviors");
  const { value } = behavior;
  switch (element["tag"]) {
    case "button":
      return [{ label, value }];
    case "select_static":
      return objectsAt(element, "options").map((option) => ({
        label: textAt(objectAt(option, "text"), "content") ?? "",
        value,
        option: textAt(option, "value") ?? "",
      }));
    case "form": {
      const inner = objectsAt(element, "elements");
      const field = inner.find(({ tag }) => tag === "input");
      return inner.flatMap(choosableIn).map((button) => ({
        ...button,
        field: field === undefined ? "" : (textAt(field, "name") ?? ""),
      }));
    }
    default:
      return [];
  }
}

function choicesOf(fakeServer: FakeFeishu, id: string): readonly Choosable[] {
  const message = fakeServer.sent.find(({ messageId }) => messageId === id);
  const card = parsePayload(message?.content ?? "") ?? {};
  return objectsAt(objectAt(card, "body"), "elements").flatMap(choosableIn);
}

function actionOf(fakeServer: FakeFeishu, { eventId, messageId, label, text }: Choice): FeishuEvent {
  const choice = choicesOf(fakeServer, messageId).find((one) => one.label === label);
  if (choice === undefined) throw new Error(`There is no choice ${label}.`);
  const { value, option, field } = choice;
  return cardAction(messageId, value, {
    eventId,
    appId,
    option,
    ...(field === undefined ? {} : { form: { [field]: text } }),
  });
}

/** What a reader sees of a message's content. */
function shown(msgType: string, content: string): string {
  const body = JSON.parse(content);
  if (kinds[msgType] !== undefined) return `[${msgType}]`;
  if (msgType === "text") return body.text;
  if (msgType === "post") return body.zh_cn.content[0][0].text;
  const [element] = body.body.elements;
  return element.tag === "div" ? element.text.content : element.content;
}

const harness: ChannelHarness<FeishuAddress> = {
  addresses: [{ id: "oc_1" }, { id: "oc_1", rootId: "om_1" }, { id: "ou_ü/ä:% 😀" }],
  entry: {
    url: new URL("../src/index.ts", import.meta.url).href,
    sdk: ["@larksuiteoapi/node-sdk", "axios", "ws"],
  },
  recorded,
  async open() {
    const users = { ou_sender: { name: "张三" } };
    const fakeServer = await startFeishu({ appId, appSecret, verificationToken, encryptKey, users });
    const plant = (messageId: string, senderId: string, senderType: "app" | "user") =>
      fakeServer.plant({
        messageId,
        chatId: "oc_group",
        msgType: "text",
        content: '{"text":"x"}',
        senderId,
        senderType,
      });
    plant("om_by_bot", appId, "app");
    plant("om_by_person", "ou_li", "user");
    fakeServer.addResource("om_by_person", "file_1", Buffer.from("content"));
    const dressed = (event: unknown, options: PushOptions = {}) =>
      push(event, { token: verificationToken, encryptKey, ...options });
    const faults: Record<Failure, Parameters<typeof fakeServer.fail>[0]> = {
      rate: { kind: "rate", method: "POST" },
      rate_until: { kind: "rate", method: "POST", resetSeconds: 3 },
      server: { kind: "status", status: 502, method: "POST" },
      lost_response: { kind: "cut", method: "POST" },
      silent: { kind: "hang", method: "POST" },
    };
    return {
      config: { appId, appSecret, verificationToken, encryptKey, baseUrl: fakeServer.url },
      secrets: [appSecret, verificationToken, encryptKey],
      to: { id: "oc_direct" },
      sent: () =>
        fakeServer.sent
          .filter((one) => one.messageId !== "om_by_bot" && !one.deleted)
          .map((one) => ({
            messageId: one.messageId,
            text: shown(one.msgType, one.edits.at(-1) ?? one.content),
          })),
      drafted: () =>
        fakeServer.sent
          .filter((one) => one.msgType === "interactive")
          .flatMap((one) => [one.content, ...one.edits].map((content) => shown("interactive", content))),
      sentMedia: () =>
        fakeServer.sent.flatMap((one) => {
          const upload = fakeServer.upload(one);
          const kind = kinds[one.msgType];
          if (upload === undefined || kind === undefined) return [];
          const name = upload.name === "" ? {} : { name: upload.name };
          return [{ messageId: one.messageId, kind, content: upload.content, ...name }];
        }),
      age: (ms) => fakeServer.age(ms),
      async deliver(channel, delivery) {
        const event = eventOf(delivery);
        fakeServer.take(event);
        return (await hand(channel, dressed(event))) === 200;
      },
      miss: async (delivery) => fakeServer.take(eventOf(delivery)),
      refer: {
        reply: async (channel, { eventId, messageId, text }, about) => {
          const content = [[{ tag: "text", text: about.text }], [{ tag: "img", image_key: "img_1" }]];
          fakeServer.plant({
            messageId: about.messageId,
            chatId: "oc_direct",
            msgType: "post",
            content: JSON.stringify({ title: "", content }),
            senderId: "ou_li",
            senderType: "user",
          });
          const event = textMessage(text, { eventId, messageId, appId, parentId: about.messageId });
          return { isAcknowledged: (await hand(channel, dressed(event))) === 200 };
        },
        // Feishu returns no files of the messages in a merged forward.
        forward: async (channel, { eventId, messageId }, about) => {
          fakeServer.plant({
            messageId: about.messageId,
            upperMessageId: messageId,
            chatId: "oc_far",
            msgType: "text",
            content: JSON.stringify({ text: about.text }),
            senderId: "ou_li",
            senderType: "user",
          });
          const event = messageEvent("merge_forward", "Merged and Forwarded Message", {
            eventId,
            messageId,
            appId,
          });
          fakeServer.take(event);
          return { isAcknowledged: (await hand(channel, dressed(event))) === 200, isDigest: true };
        },
      },
      person: { id: "ou_sender", name: "张三" },
      reactions: (messageId) => fakeServer.reactions(messageId),
      choices: (messageId) => choicesOf(fakeServer, messageId).map(({ label }) => label),
      choose: async (channel, choice) => (await hand(channel, dressed(actionOf(fakeServer, choice)))) === 200,
      deliverRecorded: async (channel, payload) => (await hand(channel, dressed(payload))) === 200,
      async forge(channel, how) {
        const event = textMessage("forged");
        const good = dressed(event);
        if (how === "missing") return hand(channel, push(event, { token: verificationToken }));
        if (how === "wrong") return hand(channel, dressed(event, { encryptKey: "a guess" }));
        if (how === "tampered")
          return hand(channel, { ...good, body: dressed(messageEvent("text", { text: "x" })).body });
        return hand(channel, dressed(event, { timestamp: how === "stale" ? 1_600_000_000 : 4_000_000_000 }));
      },
      async challenge(channel) {
        const request = dressed({ type: "url_verification", challenge: "c-1", token: verificationToken });
        const answer = await channel.webhook?.(new Request("http://gateway/events", request));
        return (await answer?.text()) === '{"challenge":"c-1"}';
      },
      fail: (how) => fakeServer.fail(faults[how]),
      setAway: (away) =>
        away ? fakeServer.fail({ kind: "status", status: 503, times: 1000 }) : fakeServer.heal(),
      revoke: () => {
        fakeServer.expireTokens();
        fakeServer.fail({ kind: "code", code: 10014, status: 200, path: "tenant_access_token", times: 100 });
      },
      media: {
        ref: {
          kind: "file",
          mimeType: "application/octet-stream",
          ref: { messageId: "om_by_person", key: "file_1", type: "file" },
        },
        content: Buffer.from("content"),
        answerWith: (answer) =>
          fakeServer.answerAt("/open-apis/im/v1/messages/om_by_person/resources/file_1", answer),
        leadingTo: (address) => [
          { messageId: "om_by_person", key: address, type: "file" },
          { messageId: address, key: "file_1", type: "file" },
        ],
      },
      close: () => fakeServer.stop(),
    };
  },
};

runChannelConformance(feishu, harness, {
  test: { describe, it, afterAll },
  print: inMatrix("feishu"),
});
