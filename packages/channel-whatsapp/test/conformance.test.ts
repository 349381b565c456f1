import { type OutboundMediaKind, objectAt, objectsAt, textAt } from "@signalbox/channel";
import {
  type ChannelHarness,
  type Choice,
  type Delivery,
  type Failure,
  type Platform,
  runChannelConformance,
} from "@signalbox/channel/testkit";
import { inOwnProcess } from "@signalbox/channel-process";
import { launchLocally } from "@signalbox/channel-process/testkit";
import {
  buttonReply,
  type FakeWhatsApp,
  messageEcho,
  person,
  type SignedRequest,
  signed,
  startWhatsApp,
  textMessage,
  type WhatsAppFault,
  type WhatsAppMessage,
} from "@signalbox/testkit/whatsapp";
import { afterAll, describe, expect, it } from "vitest";
import { inMatrix } from "../../../scripts/channel-matrix.ts";
import { type WhatsAppAddress, whatsapp } from "../src/index.ts";
import { BUILT, credentials } from "./harness.ts";
import { recorded } from "./recorded.ts";
import { findViolations } from "./spec.ts";

type Running = Parameters<Platform<WhatsAppAddress>["deliver"]>[0];

async function hand(channel: Running, request: SignedRequest): Promise<number> {
  return (await channel.webhook?.(new Request("http://gateway/events", request)))?.status ?? 0;
}

const faults: Readonly<Record<Failure, WhatsAppFault>> = {
  rate: { kind: "rate" },
  rate_until: { kind: "rate", retryAfter: 3 },
  server: { kind: "status", status: 502 },
  lost_response: { kind: "cut" },
  silent: { kind: "hang" },
};

const kinds: Readonly<Record<string, OutboundMediaKind>> = {
  image: "image",
  audio: "audio",
  video: "video",
  document: "file",
};

/** WhatsApp's ids identify both the event and the message. */
function payloadOf({ messageId, text, from }: Delivery) {
  const options = { id: `wamid.${messageId}` };
  return from === "self" ? messageEcho(text, options) : textMessage(text, options);
}

interface Choosable {
  readonly id: string;
  readonly title: string;
  readonly isRow: boolean;
}

/** The reply buttons or the list rows of a message. */
function choosableIn({ body }: WhatsAppMessage): readonly Choosable[] {
  const action = objectAt(objectAt(body, "interactive"), "action");
  const buttons = objectsAt(action, "buttons").map((button) => objectAt(button, "reply"));
  const rows = objectsAt(action, "sections").flatMap((section) => objectsAt(section, "rows"));
  return [...buttons, ...rows].map((one) => ({
    id: textAt(one, "id") ?? "",
    title: textAt(one, "title") ?? "",
    isRow: rows.includes(one),
  }));
}

async function choose(fakeServer: FakeWhatsApp, channel: Running, choice: Choice): Promise<boolean> {
  const { eventId, messageId, label } = choice;
  const message = fakeServer.sent.find(({ id }) => id === messageId);
  const found = message && choosableIn(message).find(({ title }) => title === label);
  if (found === undefined) throw new Error(`There is no choice ${label}.`);
  const { id, title, isRow } = found;
  const payload = buttonReply({ id, title }, messageId, { id: `wamid.${eventId}`, isRow });
  return (await hand(channel, fakeServer.sign(payload))) === 200;
}

const harness: ChannelHarness<WhatsAppAddress> = {
  addresses: [
    { to: person.id },
    { to: "US.13491208655302741918" },
    { to: "Y2FwaV9ncm91cDoxODA1NTU1MDE3Mjo=", isGroup: true },
  ],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["undici", "axios"] },
  hasBots: false,
  recorded,
  async open() {
    const fakeServer = await startWhatsApp(credentials);
    const content = Buffer.from("content");
    fakeServer.addMedia({ id: "1003383421387256", mimeType: "image/jpeg", content });
    const { accessToken, appSecret, verifyToken } = credentials;
    return {
      config: { ...credentials, phoneNumberId: fakeServer.phoneNumberId, apiBaseUrl: fakeServer.url },
      secrets: [accessToken, appSecret, verifyToken],
      to: { to: person.id },
      sent: () => fakeServer.sent.map(({ id, text }) => ({ messageId: id, text })),
      sentMedia: () =>
        fakeServer.sent.flatMap(({ id, body }) => {
          const kind = kinds[String(body["type"])];
          const file = objectAt(body, String(body["type"]));
          const media = fakeServer.media(textAt(file, "id") ?? "");
          if (kind === undefined || media === undefined) return [];
          const name = textAt(file, "filename");
          return [{ messageId: id, kind, content: media.content, ...(name !== undefined && { name }) }];
        }),
      messageId: ({ messageId }) => `wamid.${messageId}`,
      deliver: async (channel, delivery) =>
        (await hand(channel, fakeServer.sign(payloadOf(delivery)))) === 200,
      person,
      reactions: (messageId) => {
        const emoji = fakeServer.reaction(messageId);
        return emoji === undefined ? [] : [emoji];
      },
      choices(messageId) {
        const message = fakeServer.sent.find(({ id }) => id === messageId);
        return message === undefined ? [] : choosableIn(message).map(({ title }) => title);
      },
      choose: (channel, choice) => choose(fakeServer, channel, choice),
      deliverRecorded: async (channel, payload) => (await hand(channel, fakeServer.sign(payload))) === 200,
      async forge(channel, how) {
        const good = fakeServer.sign(textMessage("forged"));
        if (how === "missing") return hand(channel, { ...good, headers: {} });
        if (how === "wrong") return hand(channel, signed(textMessage("forged"), "a guess"));
        if (how === "tampered") return hand(channel, { ...good, body: `${good.body} ` });
        // Meta's signature contains no time. Redelivered events have the same event id.
        return undefined;
      },
      async challenge(channel) {
        const url = (token: string) =>
          `http://gateway/events?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${token}`;
        const wrong = await channel.webhook?.(new Request(url("a guess")));
        const right = await channel.webhook?.(new Request(url(verifyToken)));
        return wrong?.status === 403 && right?.status === 200 && (await right.text()) === "1158201444";
      },
      fail: (how) => fakeServer.fail(faults[how]),
      setAway: (away) =>
        away ? fakeServer.fail({ kind: "status", status: 503, path: "/", times: 1_000 }) : fakeServer.heal(),
      revoke: () => fakeServer.revoke(),
      media: {
        ref: { kind: "image", mimeType: "image/jpeg", ref: { id: "1003383421387256" } },
        content,
        answerWith: (answer) => fakeServer.answerAt("/whatsapp_business/", answer),
        leadingTo(address) {
          fakeServer.answerAt("/v23.0/1003383421387256", () => Response.json({ url: address }));
          return [{ id: "1003383421387256" }, { id: address }, { id: "../debug_token" }];
        },
      },
      async close() {
        await fakeServer.stop();
        expect(findViolations(fakeServer)).toEqual([]);
      },
    };
  },
};

const test = { describe, it, afterAll };

runChannelConformance(whatsapp, harness, { test, print: inMatrix("whatsapp") });

describe("in a process of its own", () => {
  runChannelConformance(inOwnProcess(whatsapp, BUILT, launchLocally().launch), harness, {
    test,
    print: inMatrix("whatsapp in a process"),
  });
});
