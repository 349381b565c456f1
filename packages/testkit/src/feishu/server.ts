import type { ServerResponse } from "node:http";
import { Faults } from "../faults.ts";
import { formOf, listen, parseJson, type SeenRequest, type StandIn } from "../http.ts";
import { isRaw } from "../raw.ts";
import { Cards, type SeenCard } from "./cards.ts";
import { clientConfig, type LongConnection, startLongConnection } from "./connection.ts";
import type { FeishuFault } from "./faults.ts";
import { Messages, type SentMessage } from "./messages.ts";
import { type PushOptions, push } from "./push.ts";
import { type ApiReply, ok, refusals, refuse } from "./reply.ts";
import { type Upload, Uploads } from "./uploads.ts";

const ALL_PERMISSIONS = [
  "im:message",
  "im:message:send_as_bot",
  "im:resource",
  "im:chat:readonly",
  "cardkit:card:write",
  "contact:user.base:readonly",
];

export interface FeishuOptions {
  readonly appId: string;
  readonly appSecret: string;
  /** Who the app's bot is. Default `{ openId: "ou_bot", name: "Bot" }`. */
  readonly bot?: { readonly openId: string; readonly name: string };
  /** People the contact API knows, by open id. Default: nobody. */
  readonly users?: Readonly<Record<string, { readonly name: string }>>;
  /** Chats the bot is in. Default: every chat. */
  readonly chats?: readonly string[];
  /**
   * Refuse the sixth message a second to one chat, the sixth change a second of one card, the eleventh operation a
   * second on a card entity, and the fifty-first a second of one call on any. Default false.
   */
  readonly rateLimit?: boolean;
  /** Whether the app has the scope for card entities. Default true. */
  readonly cardKit?: boolean;
  /** What the tenant has granted the app. Default: all that a bot needs. Nothing is refused by it. */
  readonly permissions?: readonly string[];
  /** How the app's events are handed over. Default: the app may not read that. */
  readonly subscription?: {
    readonly type: "webhook" | "websocket";
    readonly url?: string;
    readonly events: readonly string[];
  };
  /** Life of a tenant token in seconds. Default 7200. */
  readonly tokenSeconds?: number;
  /** How often the app is to ask over its long connection whether that stands. Default 120, as Feishu says. */
  readonly pingSeconds?: number;
  /** What `postEvent` puts on events. */
  readonly verificationToken?: string;
  readonly encryptKey?: string;
  readonly port?: number;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** Feishu's open platform as far as a bot needs it, on a loopback port. */
export interface FeishuStandIn extends StandIn {
  readonly appId: string;
  readonly bot: { readonly openId: string; readonly name: string };
  /** What the bot sent, in order, also what it deleted since. */
  readonly sent: readonly SentMessage[];
  /** The card entities that were made, in order. */
  readonly cards: readonly SeenCard[];
  /** The picture or file that a message shows; undefined where it shows none. */
  upload(message: Pick<SentMessage, "content">): Upload | undefined;
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** Reactions on a message, as emoji types. */
  reactions(messageId: string): readonly string[];
  /** Posts an event as Feishu would: with token, encrypted and signed where configured. Remembers its message. */
  postEvent(url: string, event: unknown, options?: PushOptions): Promise<Response>;
  /** Remembers the message of an event, for whoever hands it over without `postEvent` or `pushEvent`. */
  take(event: unknown): void;
  /** Puts a message there without pushing it. */
  plant(message: Parameters<Messages["plant"]>[0]): void;
  /** Somebody changes a message; the content is a JSON text. Nothing is pushed then. */
  editMessage(messageId: string, content: string): void;
  /** A file or image that belongs to a message. */
  addResource(
    messageId: string,
    key: string,
    content: Uint8Array,
    type?: { mimeType?: string; name?: string },
  ): void;
  fail(fault: FeishuFault): void;
  /** Nothing goes wrong any more. */
  heal(): void;
  /** From now on all tokens given so far are refused. */
  expireTokens(): void;
  setRateLimit(on: boolean): void;
  /** Everything sent so far becomes that much older. */
  age(ms: number): void;
  addUser(openId: string, name: string): void;
  /** Pushes an event over the long connection, once the app has one. Remembers its message. */
  pushEvent(event: unknown, pieces?: number): Promise<number>;
  /** How many long connections stand. */
  connections(): number;
  /** Ends them without a word. */
  dropConnections(): void;
  /** They stay open, and nothing is heard or said on them any more. */
  freezeConnections(): void;
}

type Resource = { readonly content: Uint8Array; readonly mimeType: string; readonly name?: string };
type Call = {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
  readonly seen: SeenRequest;
};

/** Starts the stand-in. */
export async function startFeishu(options: FeishuOptions): Promise<FeishuStandIn> {
  const now = options.now ?? Date.now;
  const bot = options.bot ?? { openId: "ou_bot", name: "Bot" };
  const tokenSeconds = options.tokenSeconds ?? 7200;
  const permissions = options.permissions ?? ALL_PERMISSIONS;
  const users = new Map(Object.entries(options.users ?? {}));
  const tokens = new Map<string, number>();
  const resources = new Map<string, Resource>();
  const reactions = new Map<string, { readonly messageId: string; readonly emoji: string }>();
  const chatModes = new Map<string, string>();
  const faults = new Faults<FeishuFault>("/im/v1/messages");
  const requests: SeenRequest[] = [];
  const uploads = new Uploads();
  const limiting = { now, rateLimit: options.rateLimit ?? false, cardKit: options.cardKit ?? true };
  const cards = new Cards(limiting);
  const rules = {
    uploads,
    cards,
    appId: options.appId,
    now,
    chats: options.chats === undefined ? undefined : new Set(options.chats),
    rateLimit: limiting.rateLimit,
  };
  const messages = new Messages(rules);
  let tokenCount = 0;
  let reactionCount = 0;

  /** Started when an app asks for it. */
  let connection: Promise<LongConnection> | undefined;
  let standing: LongConnection | undefined;

  function ownApplication(path: string): ApiReply {
    const { subscription, appId } = options;
    if (subscription === undefined)
      return refuse(99_991_672, "Access denied: application:application:self_manage");
    if (!path.endsWith(`/${appId}`)) return refuse(210_507, "app not found");
    const { type, url: requestUrl, events } = subscription;
    return ok({
      app: {
        app_id: appId,
        event: { subscription_type: type, request_url: requestUrl ?? "", subscribed_events: events },
      },
    });
  }

  async function giveEndpoint(body: unknown): Promise<ApiReply> {
    const sent = isRaw(body) ? body : {};
    if (sent["AppID"] !== options.appId || sent["AppSecret"] !== options.appSecret) {
      return { status: 200, body: { code: 514, msg: "auth failed", data: {} } };
    }
    const settings = clientConfig(options.pingSeconds ?? 120);
    connection ??= startLongConnection(settings);
    standing = await connection;
    return {
      status: 200,
      body: { code: 0, msg: "", data: { URL: standing.url, ClientConfig: settings } },
    };
  }

  function giveToken(body: unknown): ApiReply {
    const sent = isRaw(body) ? body : {};
    if (typeof sent["app_id"] !== "string" || typeof sent["app_secret"] !== "string") {
      return refuse(10003, "invalid param", 200);
    }
    if (sent["app_id"] !== options.appId || sent["app_secret"] !== options.appSecret) {
      return refuse(10014, "app secret invalid", 200);
    }
    tokenCount += 1;
    const token = `t-standin-${tokenCount}`;
    tokens.set(token, now() + tokenSeconds * 1000);
    return { status: 200, body: { code: 0, msg: "ok", tenant_access_token: token, expire: tokenSeconds } };
  }

  function refusedToken(authorization: string | undefined): ApiReply | undefined {
    const token = /^Bearer (.+)$/.exec(authorization ?? "")?.[1];
    if (token === undefined) return refusals.missingToken();
    return (tokens.get(token) ?? 0) > now() ? undefined : refusals.invalidToken();
  }

  function react(method: string, messageId: string, reactionId: string | undefined, body: unknown): ApiReply {
    if (!messages.all.has(messageId)) return refusals.noSuchMessage();
    if (method === "DELETE" && reactionId !== undefined) {
      return reactions.delete(reactionId)
        ? ok({ reaction_id: reactionId })
        : refuse(231010, "reaction not found");
    }
    const type = isRaw(body) ? body["reaction_type"] : undefined;
    const emoji = isRaw(type) ? type["emoji_type"] : undefined;
    if (typeof emoji !== "string" || !/^[A-Za-z0-9_]+$/.test(emoji))
      return refuse(231001, "reaction type is invalid.");
    reactionCount += 1;
    const id = `reaction_${reactionCount}`;
    reactions.set(id, { messageId, emoji });
    return ok({
      reaction_id: id,
      operator: { operator_id: options.appId, operator_type: "app" },
      reaction_type: type,
    });
  }

  function listReactions(messageId: string): ApiReply {
    const items = [...reactions].flatMap(([id, one]) =>
      one.messageId !== messageId
        ? []
        : [
            {
              reaction_id: id,
              operator: { operator_id: options.appId, operator_type: "app" },
              reaction_type: { emoji_type: one.emoji },
            },
          ],
    );
    return ok({ items, has_more: false });
  }

  function ofMessage(call: Call, id: string, rest: string, last: string | undefined): ApiReply {
    const { method, url, body } = call;
    if (rest === "reply" && method === "POST") return messages.reply(id, body);
    if (rest === "reactions") return method === "GET" ? listReactions(id) : react(method, id, last, body);
    if (rest === "resources" && last !== undefined) {
      const found = resources.get(`${id} ${last}`);
      const type = url.searchParams.get("type");
      if (type !== "image" && type !== "file") return refusals.invalidParameter("type");
      if (found === undefined) return refuse(234003, "File not in msg.");
      const name = found.name === undefined ? "" : `; filename="${encodeURIComponent(found.name)}"`;
      const headers = { "content-type": found.mimeType, "content-disposition": `attachment${name}` };
      return { status: 200, body: undefined, bytes: found.content, headers };
    }
    if (rest !== "") return refuse(404, "404 page not found", 404);
    if (method === "GET") return messages.get(id);
    if (method === "PUT") return messages.update(id, body, "edit");
    if (method === "PATCH") return messages.update(id, body, "card");
    return method === "DELETE" ? messages.remove(id) : refuse(404, "404 page not found", 404);
  }

  function answer(call: Call, authorization: string | undefined): ApiReply | Promise<ApiReply> {
    const { method, url, body, seen } = call;
    const path = url.pathname.replace(/^\/open-apis/, "");
    if (path === "/auth/v3/tenant_access_token/internal") return giveToken(body);
    const refused = refusedToken(authorization);
    if (refused !== undefined) return refused;
    if (path === "/bot/v3/info" && method === "GET") {
      const info = {
        activate_status: 2,
        app_name: bot.name,
        avatar_url: "",
        ip_white_list: [],
        open_id: bot.openId,
      };
      return { status: 200, body: { code: 0, msg: "ok", bot: info } };
    }
    if (path === "/application/v6/scopes" && method === "GET")
      return ok({
        scopes: permissions.map((name) => ({ scope_name: name, grant_status: 1, scope_type: "tenant" })),
      });
    if (path.startsWith("/application/v6/applications/") && method === "GET") return ownApplication(path);
    const userId = /^\/contact\/v3\/users\/([^/]+)$/.exec(path)?.[1];
    if (userId !== undefined && method === "GET") {
      const user = users.get(decodeURIComponent(userId));
      if (user === undefined) return refuse(41050, "no user authority error");
      return ok({ user: { open_id: userId, union_id: `on_${userId}`, name: user.name, en_name: "" } });
    }
    const chatId = /^\/im\/v1\/chats\/([^/]+)$/.exec(path)?.[1];
    if (chatId !== undefined && method === "GET") {
      const mode = chatModes.get(chatId);
      return mode === undefined
        ? refusals.notInChat()
        : ok({ chat_mode: mode, name: mode === "p2p" ? "" : chatId });
    }
    if (path === "/im/v1/images" && method === "POST")
      return formOf(seen).then((form) => uploads.image(form));
    if (path === "/im/v1/files" && method === "POST") return formOf(seen).then((form) => uploads.file(form));
    if (path === "/im/v1/messages" && method === "POST") return messages.create(url.searchParams, body);
    if (path === "/im/v1/messages" && method === "GET") return messages.list(url.searchParams);
    if (path === "/cardkit/v1/cards/id_convert" && limiting.cardKit) return messages.cardOf(body);
    const ofCard = cards.answer(method, path, body);
    if (ofCard !== undefined) return ofCard;
    const [, id, rest = "", last] =
      /^\/im\/v1\/messages\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(path) ?? [];
    return id === undefined ? refuse(404, "404 page not found", 404) : ofMessage(call, id, rest, last);
  }

  const server = await listen(async (seen, response) => {
    requests.push(seen);
    const url = new URL(seen.path, "http://standin");
    const fault = faults.take(seen.method, url.pathname);
    if (fault !== undefined && fault.kind !== "hang" && fault.kind !== "cut")
      return write(response, faulty(fault));
    const body = parseJson(seen.text);
    const reply =
      url.pathname === "/callback/ws/endpoint"
        ? await giveEndpoint(body)
        : await answer({ method: seen.method, url, body, seen }, header(seen, "authorization"));
    if (fault?.kind === "hang") return;
    if (fault?.kind === "cut") return void response.destroy();
    write(response, reply);
  }, options.port ?? 0);

  return {
    ...server,
    appId: options.appId,
    bot,
    requests,
    get sent() {
      return [...messages.all.values()].filter((one) => one.senderId === options.appId);
    },
    get cards() {
      return cards.all;
    },
    upload: ({ content }) => uploads.shownBy(content),
    reactions: (id) => [...reactions.values()].filter((one) => one.messageId === id).map((one) => one.emoji),
    plant: (message) => messages.plant(message),
    editMessage: (messageId, content) => messages.edit(messageId, content),
    addResource: (messageId, key, content, type = {}) => {
      const mimeType = type.mimeType ?? "application/octet-stream";
      resources.set(`${messageId} ${key}`, {
        content,
        mimeType,
        ...(type.name === undefined ? {} : { name: type.name }),
      });
    },
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    expireTokens: () => tokens.clear(),
    setRateLimit: (on) => {
      rules.rateLimit = on;
      limiting.rateLimit = on;
    },
    age: (ms) => {
      messages.age(ms);
      cards.age(ms);
    },
    addUser: (openId, name) => void users.set(openId, { name }),
    pushEvent: async (event, pieces) => {
      remember(messages, chatModes, event);
      if (standing === undefined) throw new Error("there is no connection");
      return standing.push(event, pieces);
    },
    connections: () => standing?.count() ?? 0,
    dropConnections: () => standing?.drop(),
    freezeConnections: () => standing?.freeze(),
    stop: async () => {
      await (await connection)?.stop();
      await server.stop();
    },
    take: (event) => remember(messages, chatModes, event),
    postEvent: (to, event, given = {}) => {
      remember(messages, chatModes, event);
      const defaults: PushOptions = {
        ...(options.verificationToken === undefined ? {} : { token: options.verificationToken }),
        ...(options.encryptKey === undefined ? {} : { encryptKey: options.encryptKey }),
      };
      return fetch(to, push(event, { ...defaults, ...given }));
    },
  };
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

/** A message that is pushed exists from then on: it can be answered. */
function remember(messages: Messages, chatModes: Map<string, string>, event: unknown): void {
  const inner = isRaw(event) ? event["event"] : undefined;
  const message = isRaw(inner) ? inner["message"] : undefined;
  const sender = isRaw(inner) && isRaw(inner["sender"]) ? inner["sender"]["sender_id"] : undefined;
  if (!isRaw(message) || typeof message["message_id"] !== "string" || messages.all.has(message["message_id"]))
    return;
  const text = (key: string) => (typeof message[key] === "string" ? message[key] : undefined);
  const type = text("chat_type") ?? "group";
  chatModes.set(text("chat_id") ?? "", type === "topic_group" ? "topic" : type);
  const [rootId, parentId, threadId] = [text("root_id"), text("parent_id"), text("thread_id")];
  messages.plant({
    messageId: message["message_id"],
    chatId: text("chat_id") ?? "",
    msgType: text("message_type") ?? "text",
    content: text("content") ?? "{}",
    senderId: isRaw(sender) && typeof sender["open_id"] === "string" ? sender["open_id"] : "",
    ...(rootId === undefined ? {} : { rootId }),
    ...(parentId === undefined ? {} : { parentId }),
    ...(threadId === undefined ? {} : { threadId }),
    ...(Array.isArray(message["mentions"]) ? { mentions: message["mentions"].map(asInHistory) } : {}),
  });
}

/** A pushed mention has an object of ids, one in the history the open id alone. */
function asInHistory(mention: unknown): unknown {
  const ids = isRaw(mention) ? mention["id"] : undefined;
  return isRaw(mention) && isRaw(ids) ? { ...mention, id: ids["open_id"], id_type: "open_id" } : mention;
}
