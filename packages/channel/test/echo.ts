import { createHmac } from "node:crypto";
import { z } from "zod";
import {
  type Channel,
  type ChannelContext,
  type ChannelDefinition,
  ChannelError,
  checkedPoll,
  createEditedDraft,
  createWebhook,
  defineChannel,
  equalInConstantTime,
  fitText,
  isPayload,
  isRecent,
  type MessageEvent,
  objectAt,
  type Payload,
  parsePayload,
  readMedia,
  sendParts,
  textAt,
  textLength,
} from "../src/index.ts";
import type { ChannelHarness, Failure, Platform, SentMedia, SentPoll } from "../src/testkit/index.ts";

/** A platform in memory, whose channel does all that the contract knows. */
interface EchoServer {
  readonly messages: Map<string, { id: string; text: string; at: number }>;
  readonly files: Map<string, SentMedia>;
  readonly polls: SentPoll[];
  readonly drafted: string[];
  failure: Failure | undefined;
  away: boolean;
  revoked: boolean;
}

const servers = new Map<string, EchoServer>();
const schema = z.object({ server: z.string(), password: z.string() });
type Config = z.infer<typeof schema>;
export interface EchoAddress {
  readonly id: string;
}
export type EchoDefinition = ChannelDefinition<Config, EchoAddress>;

const limit = { max: 400, unit: "codepoints" } as const;
const sendMedia = { file: { maxBytes: 100, mimeTypes: ["text/plain"] } };
const polls = { options: 3, questionLength: 20, optionLength: 10 };
const editWindowMs = 60_000;

export const echo: EchoDefinition = defineChannel({
  specVersion: 1,
  id: "echo",
  meta: { label: "Echo", fields: { password: { label: "Password", secret: true } } },
  config: schema,
  capabilities: {
    text: { ...limit, markup: "plain" },
    media: { kinds: ["file"], maxBytes: 100, maxPerMessage: 1 },
    sendMedia,
    polls,
    edit: { ownOnly: true, windowMs: editWindowMs },
    stream: "draft",
    threads: "none",
    delivery: { idempotencyKey: { windowMs: 1000 }, readback: true },
    rate: [],
    transports: ["webhook"],
  },
  codec: {
    encode: ({ id }) => `echo:${encodeURIComponent(id)}`,
    decode(text) {
      const id = /^echo:([\w%.~!*'()-]+)$/.exec(text)?.[1];
      const plain = id === undefined ? undefined : decoded(id);
      if (plain === undefined || encodeURIComponent(plain) !== id)
        throw new ChannelError("invalid", "not an address");
      return { id: plain };
    },
  },
  create: async (context) => createEcho(context),
});

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function createEcho(context: ChannelContext<Config>) {
  const server = servers.get(context.config.server);
  if (server === undefined) throw new ChannelError("auth", "no such server");
  const { clock, config } = context;
  let state: "starting" | "ready" | "stopped" = "starting";
  let trouble = false;

  /** One request: everything that the server may do to it. */
  function request<T>(work: () => T): T {
    const { failure } = server ?? {};
    if (server?.revoked === true) {
      trouble = true;
      throw new ChannelError("auth", "the password is refused", { scope: "account" });
    }
    if (server?.away === true) throw new ChannelError("transient", "nobody answers");
    if (server !== undefined) server.failure = undefined;
    if (failure === "rate") throw new ChannelError("rate_limited", "slow", { retryAfterMs: 500 });
    if (failure === "rate-until") throw new ChannelError("rate_limited", "slow", { retryAfterMs: 3000 });
    if (failure === "server") throw new ChannelError("transient", "broken");
    const result = work();
    if (failure === "lost-answer") throw new ChannelError("unknown_outcome", "no answer");
    return result;
  }

  function post(text: string, key: string): string {
    if (textLength(text, limit.unit) > limit.max) throw new ChannelError("too_large", "too long");
    return request(() => {
      if (!server?.messages.has(key)) server?.messages.set(key, { id: key, text, at: clock.now() });
      return key;
    });
  }

  const send: Channel<EchoAddress>["send"] = (_to, message, options) =>
    sendParts(message, options, async ({ part, key }) => {
      if (options.signal.aborted) throw new ChannelError("transient", "Echo: given up before it was tried");
      if (part.type === "poll") {
        const { question, options: choices, multiple = false } = checkedPoll(part, { polls });
        server.polls.push({ messageId: key, question, options: choices, multiple });
        return post("[poll]", key);
      }
      if (part.type !== "media") return post(part.text, key);
      const content = await readMedia(part, sendMedia, options.openMedia);
      server.files.set(key, { messageId: key, kind: part.kind, name: part.name, content });
      return post(`[${part.kind}]`, key);
    });

  return {
    async start(signal: AbortSignal) {
      signal.throwIfAborted();
      if (state === "starting") state = "ready";
    },
    async stop() {
      state = "stopped";
    },
    health: () => (trouble ? { state: "down" as const, reason: "refused" } : { state }),
    self: () => ({ id: "bot" }),
    webhook: createWebhook<Payload>({
      maxBytes: 10_000,
      logger: context.logger,
      verify(body, headers) {
        const signedAt = Number(headers.get("x-time") ?? Number.NaN);
        if (!isRecent(signedAt, clock.now(), 60_000)) return { kind: "forged", reason: "too old" };
        if (!equalInConstantTime(headers.get("x-signature") ?? "", sign(body, signedAt, config.password)))
          return { kind: "forged", reason: "the signature does not hold" };
        const event = parsePayload(Buffer.from(body).toString());
        if (event === undefined) return { kind: "malformed", reason: "no JSON" };
        const challenge = textAt(event, "challenge");
        return challenge === undefined ? { kind: "event", event } : { kind: "answer", body: { challenge } };
      },
      handle: async (event) => (state === "ready" ? context.emit(readMessage(event, context)) : "rejected"),
    }),
    send,
    async edit() {},
    openDraft: async (to: EchoAddress, options) =>
      createEditedDraft(
        {
          snapshot: (text) => fitText(text, limit),
          render: (part) => ("text" in part ? part.text : ""),
          create: async (text, { key }) => {
            const id = post(text, key);
            server.drafted.push(text);
            return id;
          },
          change: async (id, text) =>
            request(() => {
              const message = server.messages.get(id);
              if (message === undefined) throw new ChannelError("not_found", "gone");
              if (clock.now() - message.at > editWindowMs) throw new ChannelError("permission", "too old");
              message.text = text;
              server.drafted.push(text);
            }),
          remove: async (id) => request(() => void server.messages.delete(id)),
          sendRest: (message, how) => send(to, message, { ...options, ...how }),
        },
        options,
      ),
    async fetchMedia({ ref }) {
      if (!isPayload(ref) || ref["file"] !== "f1") throw new ChannelError("invalid", "not a reference");
      return { body: new Blob(["content"]).stream(), mimeType: "text/plain" };
    },
    async reconcile({ idempotencyKey, part }) {
      const message = server.messages.get(`${idempotencyKey}.${part}`);
      return message === undefined ? { outcome: "not-sent" } : { outcome: "sent", messageId: message.id };
    },
  } satisfies Channel<EchoAddress>;
}

function sign(body: Uint8Array, at: number, password: string): string {
  return createHmac("sha256", password).update(`${at}:`).update(body).digest("hex");
}

function readMessage(event: Payload, context: ChannelContext<Config>): MessageEvent {
  const from = objectAt(event, "from");
  const id = textAt(from, "id") ?? "";
  const kind = id === "person" ? "direct" : "group";
  return {
    type: "message",
    channel: "echo",
    account: context.account,
    eventId: textAt(event, "id") ?? "",
    messageId: textAt(event, "message") ?? "",
    conversation: { id: kind, kind },
    address: `echo:${kind}`,
    sender: { id, isBot: id !== "person", isSelf: id === "self" },
    addressed: kind === "direct" ? "dm" : "none",
    text: textAt(event, "text") ?? "",
    media: [],
    mentions: [],
    timestamp: context.clock.now(),
  };
}

const password = "pa55word";

function push(event: unknown, how: { at?: number; password?: string } = {}): Request {
  const body = JSON.stringify(event);
  const at = how.at ?? Date.now();
  const headers = {
    "x-time": String(at),
    "x-signature": sign(Buffer.from(body), at, how.password ?? password),
  };
  return new Request("http://gateway/", { method: "POST", body, headers });
}

const recordedMessage = { id: "e1", message: "m1", text: "recorded", from: { id: "person" } };

let count = 0;

export const echoHarness: ChannelHarness<EchoAddress> = {
  addresses: [{ id: "a" }, { id: "ü/b" }],
  entry: { url: new URL("../src/index.ts", import.meta.url).href, sdk: ["zod", "mdast-util-from-markdown"] },
  recorded: [
    { name: "a message", payload: recordedMessage, events: [{ text: "recorded", addressed: "dm" }] },
  ],
  async open(): Promise<Platform<EchoAddress>> {
    count += 1;
    const name = `server ${count}`;
    const server: EchoServer = {
      messages: new Map(),
      files: new Map(),
      polls: [],
      drafted: [],
      failure: undefined,
      away: false,
      revoked: false,
    };
    servers.set(name, server);
    const hand = async (channel: Channel<EchoAddress>, request: Request): Promise<number> =>
      (await channel.webhook?.(request))?.status ?? 0;
    return {
      config: { server: name, password },
      secrets: [password],
      to: { id: "a" },
      sent: () => [...server.messages.values()].map(({ id, text }) => ({ messageId: id, text })),
      sentMedia: () => [...server.files.values()],
      polls: () => server.polls,
      drafted: () => server.drafted,
      age: (ms) => {
        for (const message of server.messages.values()) message.at -= ms;
      },
      deliver: async (channel, { eventId, messageId, text, from }) =>
        (await hand(channel, push({ id: eventId, message: messageId, text, from: { id: from } }))) === 200,
      deliverRecorded: async (channel, payload) => (await hand(channel, push(payload))) === 200,
      async forge(channel, how) {
        const { method, headers } = push(recordedMessage);
        if (how === "missing") return hand(channel, new Request("http://gateway/", { method, body: "{}" }));
        if (how === "wrong") return hand(channel, push(recordedMessage, { password: "a guess" }));
        if (how === "stale") return hand(channel, push(recordedMessage, { at: Date.now() - 3_600_000 }));
        return hand(channel, new Request("http://gateway/", { method, headers, body: "{}" }));
      },
      async challenge(channel) {
        const answer = await channel.webhook?.(push({ challenge: "c-1" }));
        return (await answer?.text()) === '{"challenge":"c-1"}';
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
        ref: { kind: "file", mimeType: "text/plain", ref: { file: "f1" } },
        content: Buffer.from("content"),
      },
      close: async () => void servers.delete(name),
    };
  },
};
