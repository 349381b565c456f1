import { objectAt, objectsAt, textAt } from "@signalbox/channel";
import {
  type ChannelHarness,
  type Choice,
  type Delivery,
  type Failure,
  type Platform,
  runChannelConformance,
  type UsedCommand,
} from "@signalbox/channel/testkit";
import {
  buttonClick,
  channelMention,
  eventCallback,
  type FakeSlack,
  formSubmission,
  menuChoice,
  type PushOptions,
  push,
  type SlackDelivery,
  type SlackFault,
  type SlackMessage,
  signed,
  slashCommand,
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

/** Maps the suite's message names to timestamps, which are Slack's message ids. */
function createTimestamps(): (name: string) => string {
  const given = new Map<string, string>();
  const second = Math.floor(Date.now() / 1000);
  return (name) => {
    const ts = given.get(name) ?? `${second}.${String(given.size + 1).padStart(6, "0")}`;
    given.set(name, ts);
    return ts;
  };
}

function eventOf({ eventId, messageId, text, from }: Delivery, ts: string): SlackDelivery {
  const options = { eventId, ts, clientMsgId: `client-${messageId}` };
  if (from === "person") return textMessage(text, options);
  const bot = from === "self" ? { user: "U_BOT", botId: "B_BOT" } : { user: "U_OTHER", botId: "B_OTHER" };
  return channelMention(text, "U_BOT", { ...options, ...bot });
}

const faults: Readonly<Record<Failure, SlackFault>> = {
  rate: { kind: "rate", method: "chat." },
  rate_until: { kind: "rate", method: "chat.", retryAfter: 3 },
  server: { kind: "status", status: 502, method: "chat." },
  lost_response: { kind: "cut", method: "chat." },
  silent: { kind: "hang", method: "chat." },
};

const harness: ChannelHarness<SlackAddress> = {
  addresses: [
    { channel: "C1" },
    { channel: "C1", command: "1.2.a" },
    to,
    { channel: "Cü/ä:% 😀", thread: "1/2" },
  ],
  entry: {
    url: new URL("../src/index.ts", import.meta.url).href,
    sdk: ["@slack/bolt", "@slack/web-api", "@slack/socket-mode", "undici"],
  },
  recorded,
  async open() {
    const fakeServer = await startSlack({
      botToken,
      signingSecret,
      users: { U_SENDER: { name: "Sender" }, U_ANN: { name: "Ann" } },
    });
    const dressed = (delivery: SlackDelivery, options: Partial<PushOptions> = {}) =>
      push(delivery, { signingSecret, ...options });
    const file = fakeServer.addFile({
      id: "F1",
      name: "a.txt",
      mimeType: "text/plain",
      content: Buffer.from("content"),
    });
    const tsOf = createTimestamps();
    const take = (delivery: Delivery): SlackDelivery => {
      const event = eventOf(delivery, tsOf(delivery.messageId));
      fakeServer.take(event);
      return event;
    };
    const interactions = interactionsOf(fakeServer, (channel, delivery) => hand(channel, dressed(delivery)));
    const here = () => fakeServer.sent.filter(({ isDeleted }) => !isDeleted);
    const idOf = ({ channel, ts }: { channel: string; ts: string }) => `${channel}:${ts}`;
    return {
      config: { botToken, signingSecret, transport: "webhook", baseUrl: fakeServer.apiUrl },
      secrets: [botToken, signingSecret],
      to,
      messageId: ({ from, messageId }) =>
        `${from === "person" ? "D_DIRECT" : "C_GENERAL"}:${tsOf(messageId)}`,
      sent: () => here().map((one) => ({ messageId: idOf(one), text: one.shown.at(-1) ?? "[file]" })),
      drafted: () => fakeServer.sent.flatMap(({ shown }) => shown),
      sentMedia: () =>
        fakeServer.files.flatMap(({ id, name, content, share }) => {
          if (id === "F1" || share === undefined) return [];
          const kind = (["image", "audio", "video"] as const).find((one) => name.startsWith(one)) ?? "file";
          return [{ messageId: idOf(share), kind, name, content }];
        }),
      deliver: async (channel, delivery) => (await hand(channel, dressed(take(delivery)))) === 200,
      miss: async (delivery) => void take(delivery),
      refer: {
        thread: async (channel, delivery, about) => {
          const files = [{ id: "F2", name: "plan.png", mimetype: "image/png" }];
          const threadTs = tsOf(about.messageId);
          fakeServer.take(
            textMessage(about.text, { ts: threadTs, channelType: "channel", user: "U_ANN", files }),
          );
          const mention = channelMention(delivery.text, "U_BOT", {
            eventId: delivery.eventId,
            ts: tsOf(delivery.messageId),
            threadTs,
          });
          fakeServer.take(mention);
          return { isAcknowledged: (await hand(channel, dressed(mention))) === 200 };
        },
        forward: async (channel, delivery, about) => {
          const event = take(delivery);
          const share = {
            is_share: true,
            author_id: "U_ANN",
            author_name: "Ann",
            channel_id: "C_OTHER",
            ts: tsOf(about.messageId),
            text: about.text,
            files: [{ id: "F2", name: "plan.png", mimetype: "image/png" }],
          };
          const { body } = event;
          const shared = {
            ...event,
            body: { ...body, event: { ...objectAt(body, "event"), attachments: [share] } },
          };
          return { isAcknowledged: (await hand(channel, dressed(shared))) === 200 };
        },
      },
      person: { id: "U_SENDER", name: "Sender" },
      reactions: (messageId) => fakeServer.reactions(messageId.split(":")[1] ?? ""),
      choices: (messageId) => interactions.choices(messageId).map(({ label }) => label),
      choose: interactions.choose,
      command: interactions.command,
      deliverRecorded: async (channel, payload) =>
        (await hand(channel, dressed(deliveryOf(payload)))) === 200,
      async forge(channel, how) {
        const event = textMessage("forged");
        const good = dressed(event);
        if (how === "missing") return hand(channel, { ...good, headers: {} });
        if (how === "wrong") return hand(channel, dressed(event, { signingSecret: "a guess" }));
        if (how === "tampered") return hand(channel, { ...good, body: `${good.body} ` });
        const skewSeconds = how === "stale" ? -301 : 301;
        return hand(channel, dressed(event, { timestamp: Math.floor(Date.now() / 1000) + skewSeconds }));
      },
      async challenge(channel) {
        const body = JSON.stringify({ type: "url_verification", challenge: "c-1", token: "t" });
        const request = signed(body, "application/json", { signingSecret });
        const answer = await channel.webhook?.(new Request("http://gateway/events", request));
        return (await answer?.text()) === '{"challenge":"c-1"}';
      },
      fail: (how) => fakeServer.fail(faults[how]),
      setAway: (away) =>
        away ? fakeServer.fail({ kind: "status", status: 503, method: "", times: 1000 }) : fakeServer.heal(),
      revoke: () => fakeServer.revoke(),
      media: {
        ref: {
          kind: "file",
          mimeType: "text/plain",
          ref: { id: "F1", url: String(file["url_private_download"]) },
        },
        content: Buffer.from("content"),
        answerWith: (answer) => fakeServer.answerAt("/files-pri/", answer),
        leadingTo(address) {
          fakeServer.answerAt("/api/files.info", () =>
            Response.json({ ok: true, file: { id: "F1", url_private: address } }),
          );
          return [{ id: "F1", url: address }, { id: "F1" }];
        },
      },
      close: () => fakeServer.stop(),
    };
  },
};

interface Choosable {
  readonly label: string;
  readonly deliver: (ts: string) => SlackDelivery;
}

/** The choices of a message: the options of its menu and its buttons. */
function choosableIn({ content }: SlackMessage): readonly Choosable[] {
  const elements = (content.blocks ?? []).flatMap((block) => objectsAt(block, "elements"));
  return elements.flatMap((element): Choosable[] => {
    const id = textAt(element, "action_id");
    if (id === undefined) return [];
    const options = objectsAt(element, "options").map((option) => ({
      label: textAt(objectAt(option, "text"), "text") ?? "",
      deliver: (ts: string) => menuChoice(ts, { id, value: textAt(option, "value") ?? "" }),
    }));
    if (element["type"] === "static_select") return options;
    const label = textAt(objectAt(element, "text"), "text") ?? "";
    const value = textAt(element, "value");
    const button = { id, label, value };
    return [{ label, deliver: (ts) => buttonClick(ts, button) }];
  });
}

/** Actions of people. The same name from the suite means the same event, delivered again. */
function interactionsOf(
  fakeServer: FakeSlack,
  post: (channel: Running, delivery: SlackDelivery) => Promise<number>,
) {
  const done = new Map<string, SlackDelivery>();

  async function use(channel: Running, eventId: string, make: () => SlackDelivery): Promise<boolean> {
    const delivery = done.get(eventId) ?? make();
    done.set(eventId, delivery);
    fakeServer.take(delivery);
    return (await post(channel, delivery)) === 200;
  }

  function messageOf(id: string): SlackMessage | undefined {
    return fakeServer.sent.find(({ channel, ts }) => `${channel}:${ts}` === id);
  }

  function choices(messageId: string): readonly Choosable[] {
    const message = messageOf(messageId);
    return message === undefined ? [] : choosableIn(message);
  }

  return {
    choices,
    async choose(channel: Running, { eventId, messageId, label, text }: Choice): Promise<boolean> {
      const ts = messageOf(messageId)?.ts ?? "";
      const choice = choices(messageId).find((one) => one.label === label);
      if (choice === undefined) throw new Error(`There is no choice ${label}.`);
      const isTaken = await use(channel, eventId, () => choice.deliver(ts));
      const view = fakeServer.views.at(-1);
      if (text === undefined) return isTaken;
      return view !== undefined && use(channel, `${eventId} filled in`, () => formSubmission(view, text));
    },
    command: (channel: Running, { eventId, name, args }: UsedCommand): Promise<boolean> =>
      use(channel, eventId, () => slashCommand("/signalbox", `${name} ${args}`.trim())),
  };
}

/** Wraps a recorded payload as a delivery with its type. */
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

runChannelConformance(slack, harness, {
  test: { describe, it, afterAll },
  skip: [
    {
      check: "registers the host's commands",
      reason: "an app's commands stand in its manifest; no bot's token can write there",
    },
  ],
  print: inMatrix("slack"),
});
