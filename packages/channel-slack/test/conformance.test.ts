import {
  type ChannelHarness,
  type Delivery,
  type Failure,
  type Platform,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import {
  channelMention,
  eventCallback,
  type PushOptions,
  push,
  type SlackDelivery,
  type SlackFault,
  signed,
  startSlack,
  textMessage,
} from "@signalbox/testkit/slack";
import { afterAll, describe, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type SlackAddress, slack } from "../src/index.ts";
import { recorded } from "./recorded.ts";

const botToken = "xoxb-token-of-the-bot";
const signingSecret = "secret-of-the-app";
const to = { channel: "D_DIRECT", thread: "1767225600.000100" };

type Running = Parameters<Platform<SlackAddress>["deliver"]>[0];

async function hand(channel: Running, request: RequestInit): Promise<number> {
  const answer = await channel.webhook?.(new Request("http://gateway/events", request));
  return answer?.status ?? 0;
}

function eventOf({ eventId, messageId, text, from }: Delivery): SlackDelivery {
  const options = { eventId, ts: messageId, clientMsgId: `client-${messageId}` };
  if (from === "person") return textMessage(text, options);
  const bot = from === "self" ? { user: "U_BOT", botId: "B_BOT" } : { user: "U_OTHER", botId: "B_OTHER" };
  return channelMention(text, "U_BOT", { ...options, ...bot });
}

const faults: Readonly<Record<Failure, SlackFault>> = {
  rate: { kind: "rate", method: "chat." },
  "rate-until": { kind: "rate", method: "chat.", retryAfter: 3 },
  server: { kind: "status", status: 502, method: "chat." },
  "lost-answer": { kind: "cut", method: "chat." },
};

const harness: ChannelHarness<SlackAddress> = {
  addresses: [{ channel: "C1" }, to, { channel: "Cü/ä:% 😀", thread: "1/2" }],
  entry: {
    url: new URL("../src/index.ts", import.meta.url).href,
    sdk: ["@slack/bolt", "@slack/web-api", "@slack/socket-mode", "undici"],
  },
  recorded,
  async open() {
    const standIn = await startSlack({ botToken, signingSecret, users: { U_ANN: { name: "Ann" } } });
    const dressed = (delivery: SlackDelivery, options: Partial<PushOptions> = {}) =>
      push(delivery, { signingSecret, ...options });
    const file = standIn.addFile({
      id: "F1",
      name: "a.txt",
      mimeType: "text/plain",
      content: Buffer.from("content"),
    });
    const here = () => standIn.sent.filter(({ isDeleted }) => !isDeleted);
    const idOf = ({ channel, ts }: { channel: string; ts: string }) => `${channel}:${ts}`;
    return {
      config: { botToken, signingSecret, transport: "webhook", baseUrl: standIn.apiUrl },
      secrets: [botToken, signingSecret],
      to,
      messageId: ({ from, messageId }) => `${from === "person" ? "D_DIRECT" : "C_GENERAL"}:${messageId}`,
      sent: () => here().map((one) => ({ messageId: idOf(one), text: one.shown.at(-1) ?? "[file]" })),
      drafted: () => standIn.sent.flatMap(({ shown }) => shown),
      sentMedia: () =>
        standIn.files.flatMap(({ id, name, content, share }) => {
          if (id === "F1" || share === undefined) return [];
          const kind = (["image", "audio", "video"] as const).find((one) => name.startsWith(one)) ?? "file";
          return [{ messageId: idOf(share), kind, name, content }];
        }),
      deliver: async (channel, delivery) => (await hand(channel, dressed(eventOf(delivery)))) === 200,
      deliverRecorded: async (channel, payload) =>
        (await hand(channel, dressed(deliveryOf(payload)))) === 200,
      async forge(channel, how) {
        const event = textMessage("forged");
        const good = dressed(event);
        if (how === "missing") return hand(channel, { ...good, headers: {} });
        if (how === "wrong") return hand(channel, dressed(event, { signingSecret: "a guess" }));
        if (how === "tampered") return hand(channel, { ...good, body: `${good.body} ` });
        return hand(channel, dressed(event, { timestamp: Math.floor(Date.now() / 1000) - 301 }));
      },
      async challenge(channel) {
        const body = JSON.stringify({ type: "url_verification", challenge: "c-1", token: "t" });
        const request = signed(body, "application/json", { signingSecret });
        const answer = await channel.webhook?.(new Request("http://gateway/events", request));
        return (await answer?.text()) === '{"challenge":"c-1"}';
      },
      fail: (how) => standIn.fail(faults[how]),
      setAway: (away) =>
        away ? standIn.fail({ kind: "status", status: 503, method: "", times: 1000 }) : standIn.heal(),
      revoke: () => standIn.revoke(),
      media: {
        ref: {
          kind: "file",
          mimeType: "text/plain",
          ref: { id: "F1", url: String(file["url_private_download"]) },
        },
        content: Buffer.from("content"),
      },
      close: () => standIn.stop(),
    };
  },
};

/** Recorded payloads are what is delivered, with its type; an event may stand for itself. */
function deliveryOf(payload: unknown): SlackDelivery {
  const given = Object.fromEntries(Object.entries(payload ?? {}));
  const body = Object.fromEntries(Object.entries(given["body"] ?? {}));
  switch (given["type"]) {
    case "events_api":
    case "interactive":
    case "slash_commands":
      return { type: given["type"], body };
    default:
      return eventCallback(given);
  }
}

runChannelConformance(slack, harness, { test: { describe, it, afterAll }, print: inMatrix("slack") });
