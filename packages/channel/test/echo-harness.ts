import { type Channel, referenceKinds } from "../src/index.ts";
import type {
  ChannelHarness,
  Choice,
  Delivery,
  Forgery,
  Platform,
  ReferencedMessage,
} from "../src/testkit/index.ts";
import { type EchoAddress, echoLimits } from "./echo-config.ts";
import { type EchoServer, people, servers, sign, startEchoServer } from "./echo-server.ts";

type Running = Channel<EchoAddress>;

const password = "pa55word";

/** Creates a signed request of the platform. */
function push(event: unknown, how: { at?: number; password?: string } = {}): Request {
  const body = JSON.stringify(event);
  const at = how.at ?? Date.now();
  const headers = {
    "x-time": String(at),
    "x-signature": sign(Buffer.from(body), at, how.password ?? password),
  };
  return new Request("http://gateway/", { method: "POST", body, headers });
}

async function deliver(channel: Running, request: Request): Promise<number> {
  return (await channel.webhook?.(request))?.status ?? 0;
}

const recordedMessage = { id: "e1", message: "m1", text: "recorded", from: { id: "person" } };

/** Stores a message on the server. */
function store(server: EchoServer, { messageId, text, from }: Delivery): void {
  const place = from === "person" ? "direct" : "group";
  server.messages.set(messageId, { id: messageId, place, by: from, at: Date.now(), text, buttons: [] });
}

async function choose(server: EchoServer, channel: Running, choice: Choice): Promise<boolean> {
  const { eventId, messageId, label, text } = choice;
  const button = server.messages.get(messageId)?.buttons.find((one) => one.label === label);
  if (button === undefined) throw new Error(`The message has no button ${label}.`);
  if (button.opensForm !== (text !== undefined))
    throw new Error(`The button ${label} does not open what the test expects.`);
  const event = { id: eventId, message: messageId, clicked: button.data, text, from: { id: "person" } };
  return (await deliver(channel, push(event))) === 200;
}

function forge(channel: Running, how: Forgery): Promise<number> {
  const { method, headers } = push(recordedMessage);
  switch (how) {
    case "missing":
      return deliver(channel, new Request("http://gateway/", { method, body: "{}" }));
    case "wrong":
      return deliver(channel, push(recordedMessage, { password: "a guess" }));
    case "stale":
      return deliver(channel, push(recordedMessage, { at: Date.now() - 3_600_000 }));
    case "ahead":
      return deliver(channel, push(recordedMessage, { at: Date.now() + 3_600_000 }));
    case "tampered":
      return deliver(channel, new Request("http://gateway/", { method, headers, body: "{}" }));
  }
}

let count = 0;

export const echoHarness: ChannelHarness<EchoAddress> = {
  addresses: [{ id: "a" }, { id: "ü/b" }],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["zod"] },
  recorded: [
    { name: "a message", payload: recordedMessage, events: [{ text: "recorded", addressed: "dm" }] },
  ],
  async open(): Promise<Platform<EchoAddress>> {
    count += 1;
    const name = `server ${count}`;
    const server = startEchoServer(name);
    return {
      config: { server: name, password },
      secrets: [password],
      to: { id: "a" },
      sent: () =>
        [...server.messages.values()]
          .filter(({ by }) => by === "self")
          .map(({ id, text }) => ({ messageId: id, text })),
      sentMedia: () => [...server.files.values()],
      polls: () => server.polls,
      vote: (messageId, counts) => void server.votes.set(messageId, counts),
      drafted: () => server.drafted,
      age: (ms) => {
        server.passedMs += ms;
      },
      person: { id: "person", name: people.get("person") ?? "" },
      async deliver(channel, delivery) {
        const { eventId, messageId, text, from } = delivery;
        store(server, delivery);
        const event = { id: eventId, message: messageId, text, from: { id: from } };
        return (await deliver(channel, push(event))) === 200;
      },
      miss: async (delivery) => store(server, delivery),
      refer: Object.fromEntries(
        referenceKinds.map((kind) => [
          kind,
          async (
            channel: Running,
            { eventId, messageId, text, from }: Delivery,
            other: ReferencedMessage,
          ) => {
            const about = {
              kind,
              message: other.messageId,
              text: other.text,
              by: "carla",
              file: echoLimits.attachment,
            };
            const event = { id: eventId, message: messageId, text, from: { id: from }, about };
            return { isAcknowledged: (await deliver(channel, push(event))) === 200 };
          },
        ]),
      ),
      reactions: (messageId) => [...(server.reactions.get(messageId) ?? [])],
      choices: (messageId) => server.messages.get(messageId)?.buttons.map(({ label }) => label) ?? [],
      choose: (channel, choice) => choose(server, channel, choice),
      commands: () => server.commands,
      command: async (channel, { eventId, name: command, args }) =>
        (await deliver(channel, push({ id: eventId, command, args, from: { id: "person" } }))) === 200,
      deliverRecorded: async (channel, payload) => (await deliver(channel, push(payload))) === 200,
      forge,
      async challenge(channel) {
        const response = await channel.webhook?.(push({ challenge: "c-1" }));
        return (await response?.text()) === '{"challenge":"c-1"}';
      },
      fail: (how) => {
        server.failure = how;
      },
      setAway: (away) => {
        server.away = away;
      },
      revoke: () => {
        server.revoked = true;
      },
      media: {
        ref: { kind: "file", mimeType: "text/plain", ref: { address: echoLimits.attachment } },
        content: Buffer.from("content"),
        answerWith: (answer) => {
          server.attachment = answer;
        },
        leadingTo: (address) => [{ address }],
      },
      close: async () => void servers.delete(name),
    };
  },
};
