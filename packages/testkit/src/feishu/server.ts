import type { ServerResponse } from "node:http";
import { Faults } from "../faults.ts";
import { type FakeServer, listen, parseJson, type SeenRequest } from "../http.ts";
import { isRaw } from "../raw.ts";
import { createApi, type Subscription } from "./api.ts";
import { Cards, type SeenCard } from "./cards.ts";
import { clientConfig, type LongConnection, startLongConnection } from "./connection.ts";
import type { FeishuFault } from "./faults.ts";
import { Messages, type SentMessage } from "./messages.ts";
import { type PushOptions, push } from "./push.ts";
import { takePushed } from "./pushed-messages.ts";
import { Reactions } from "./reactions.ts";
import { type ApiReply, refusals, refuse } from "./reply.ts";
import { Resources } from "./resources.ts";
import { Tokens } from "./tokens.ts";
import { type Upload, Uploads } from "./uploads.ts";

const ALL_PERMISSIONS = [
  "im:message",
  "im:message:send_as_bot",
  "im:message.group_msg",
  "im:resource",
  "im:chat:readonly",
  "cardkit:card:write",
  "contact:user.base:readonly",
];

export interface FeishuOptions {
  readonly appId: string;
  readonly appSecret: string;
  /** The app's bot. Default: `{ openId: "ou_bot", name: "Bot" }`. */
  readonly bot?: { readonly openId: string; readonly name: string };
  /** People that the contact API returns, by open id. Default: none. */
  readonly users?: Readonly<Record<string, { readonly name: string }>>;
  /** Chats with the bot. Default: every chat. */
  readonly chats?: readonly string[];
  /**
   * Refuses the sixth message per second to a chat, the sixth change per second of a card, the eleventh operation per
   * second on a card entity, and the fifty-first call per second of one kind. Default: false.
   */
  readonly rateLimit?: boolean;
  /** True if the app has the scope for card entities. Default: true. */
  readonly cardKit?: boolean;
  /** The app's permissions. Default: everything that a bot needs. The fake server does not enforce them. */
  readonly permissions?: readonly string[];
  /** Delivery settings for the app's events. Default: the app may not read them. */
  readonly subscription?: Subscription;
  /** Lifetime of a tenant token in seconds. Default: 7,200. */
  readonly tokenSeconds?: number;
  /** Ping interval of the long connection, in seconds. Default: 120, as Feishu sends. */
  readonly pingSeconds?: number;
  /** Token that `postEvent` adds to events. */
  readonly verificationToken?: string;
  readonly encryptKey?: string;
  readonly port?: number;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** A fake Feishu open platform for bots on a loopback port. */
export interface FakeFeishu extends FakeServer {
  readonly appId: string;
  readonly bot: { readonly openId: string; readonly name: string };
  /** Messages that the bot sent, in order, including deleted ones. */
  readonly sent: readonly SentMessage[];
  /** Card entities in the order of their creation. */
  readonly cards: readonly SeenCard[];
  /** Returns the image or file that a message shows, if any. */
  upload(message: Pick<SentMessage, "content">): Upload | undefined;
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** Returns the emoji types of a message's reactions. */
  reactions(messageId: string): readonly string[];
  /** Posts an event as Feishu does, with the token, encrypted and signed if configured. Stores its message. */
  postEvent(url: string, event: unknown, options?: PushOptions): Promise<Response>;
  /** Stores the message of an event that the test delivers without `postEvent` or `pushEvent`. */
  take(event: unknown): void;
  /** Adds a message without an event. */
  plant(message: Parameters<Messages["plant"]>[0]): void;
  /** Changes a message as its sender, without an event. The content is a JSON text. */
  editMessage(messageId: string, content: string): void;
  /** Adds a file or image to a message. */
  addResource(
    messageId: string,
    key: string,
    content: Uint8Array,
    type?: { mimeType?: string; name?: string },
  ): void;
  fail(fault: FeishuFault): void;
  /** Removes all faults. */
  heal(): void;
  /** Expires all tokens. */
  expireTokens(): void;
  setRateLimit(on: boolean): void;
  /** Makes everything that was sent older. */
  age(ms: number): void;
  addUser(openId: string, name: string): void;
  /** Sends an event over the long connection, once the app has one. Stores its message. */
  pushEvent(event: unknown, pieces?: number): Promise<number>;
  /** Number of open long connections. */
  connections(): number;
  /** Ends the connections without a close frame. */
  dropConnections(): void;
  /** Keeps the connections open, but neither sends nor reads anything. */
  freezeConnections(): void;
}

/** Starts the fake server. */
export async function startFeishu(options: FeishuOptions): Promise<FakeFeishu> {
  const { appId } = options;
  const world = openWorld(options);
  const { bot, users, tokens, resources, reactions, chatModes, uploads, limiting, cards, messages } = world;
  const faults = new Faults<FeishuFault>("/im/v1/messages");
  const requests: SeenRequest[] = [];
  const answer = createApi({
    ...world,
    appId,
    permissions: options.permissions ?? ALL_PERMISSIONS,
    subscription: options.subscription,
    hasCardKit: limiting.cardKit,
  });
  const endpoint = new Endpoint(options);

  const server = await listen(async (seen, response) => {
    requests.push(seen);
    const url = new URL(seen.path, "http://fake");
    const fault = faults.take(seen.method, url.pathname);
    const isDone = fault === undefined || ["hang", "cut", "hold"].includes(fault.kind);
    if (!isDone) return write(response, faulty(fault));
    const body = parseJson(seen.text);
    const reply =
      url.pathname === "/callback/ws/endpoint"
        ? await endpoint.give(body)
        : await answer({ method: seen.method, url, body, seen }, header(seen, "authorization"));
    if (fault?.kind === "hold") await fault.until;
    if (fault?.kind === "hang") return;
    if (fault?.kind === "cut") return void response.destroy();
    write(response, reply);
  }, options.port ?? 0);

  return {
    ...server,
    appId,
    bot,
    requests,
    get sent() {
      return [...messages.all.values()].filter((one) => one.senderId === appId);
    },
    get cards() {
      return cards.all;
    },
    upload: ({ content }) => uploads.shownBy(content),
    reactions: (id) => reactions.on(id),
    plant: (message) => messages.plant(message),
    editMessage: (messageId, content) => messages.edit(messageId, content),
    addResource: (messageId, key, content, type) => resources.add(messageId, key, content, type),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    expireTokens: () => tokens.expire(),
    setRateLimit: (on) => {
      world.rules.rateLimit = on;
      limiting.rateLimit = on;
    },
    age: (ms) => {
      messages.age(ms);
      cards.age(ms);
    },
    addUser: (openId, name) => void users.set(openId, { name }),
    pushEvent: async (event, pieces) => {
      takePushed(messages, chatModes, event);
      if (endpoint.standing === undefined) throw new Error("there is no connection");
      return endpoint.standing.push(event, pieces);
    },
    connections: () => endpoint.standing?.count() ?? 0,
    dropConnections: () => endpoint.standing?.drop(),
    freezeConnections: () => endpoint.standing?.freeze(),
    stop: async () => {
      await endpoint.stop();
      await server.stop();
    },
    take: (event) => takePushed(messages, chatModes, event),
    postEvent: (to, event, given = {}) => {
      takePushed(messages, chatModes, event);
      return fetch(to, push(event, { ...pushOptions(options), ...given }));
    },
  };
}

/** Creates the state of the fake Feishu server. */
function openWorld(options: FeishuOptions) {
  const { appId, now = Date.now, rateLimit = false, cardKit = true } = options;
  const uploads = new Uploads();
  const limiting = { now, rateLimit, cardKit };
  const cards = new Cards(limiting);
  const chats = options.chats === undefined ? undefined : new Set(options.chats);
  const rules = { uploads, cards, appId, now, chats, rateLimit };
  return {
    bot: options.bot ?? { openId: "ou_bot", name: "Bot" },
    users: new Map(Object.entries(options.users ?? {})),
    tokens: new Tokens({ ...options, seconds: options.tokenSeconds ?? 7200, now }),
    resources: new Resources(),
    reactions: new Reactions(appId),
    chatModes: new Map<string, string>(),
    uploads,
    limiting,
    cards,
    rules,
    messages: new Messages(rules),
  };
}

function pushOptions({ verificationToken: token, encryptKey }: FeishuOptions): PushOptions {
  return {
    token,
    encryptKey,
  };
}

/** Returns the address of the long connection and starts it on the first request. */
class Endpoint {
  readonly #options: FeishuOptions;
  #starting: Promise<LongConnection> | undefined;
  standing: LongConnection | undefined;

  constructor(options: FeishuOptions) {
    this.#options = options;
  }

  async give(body: unknown): Promise<ApiReply> {
    const { appId, appSecret, pingSeconds = 120 } = this.#options;
    const sent = isRaw(body) ? body : {};
    if (sent["AppID"] !== appId || sent["AppSecret"] !== appSecret)
      return { status: 200, body: { code: 514, msg: "auth failed", data: {} } };
    const settings = clientConfig(pingSeconds);
    this.#starting ??= startLongConnection(settings);
    this.standing = await this.#starting;
    const data = { URL: this.standing.url, ClientConfig: settings };
    return { status: 200, body: { code: 0, msg: "", data } };
  }

  async stop(): Promise<void> {
    await (await this.#starting)?.stop();
  }
}

function faulty(fault: FeishuFault): ApiReply {
  if (fault.kind === "rate") return refusals.rateLimited(fault.resetSeconds);
  if (fault.kind === "code") return refuse(fault.code ?? 1, "scripted refusal", fault.status ?? 400);
  return { status: fault.status ?? 500, body: { code: 2200, msg: "Internal Error" } };
}

function write(response: ServerResponse, reply: ApiReply): void {
  response.writeHead(reply.status, { "content-type": "application/json; charset=utf-8", ...reply.headers });
  response.end(reply.bytes ?? JSON.stringify(reply.body));
}

function header(seen: SeenRequest, name: string): string | undefined {
  const value = seen.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
