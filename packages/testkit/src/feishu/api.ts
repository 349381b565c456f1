import { formOf, type SeenRequest } from "../http.ts";
import type { Cards } from "./cards.ts";
import type { Messages } from "./messages.ts";
import type { Reactions } from "./reactions.ts";
import { type ApiReply, ok, refusals, refuse } from "./reply.ts";
import type { Resources } from "./resources.ts";
import type { Tokens } from "./tokens.ts";
import type { Uploads } from "./uploads.ts";

/** Delivery settings for an app's events. */
export interface Subscription {
  readonly type: "webhook" | "websocket";
  readonly url?: string;
  readonly events: readonly string[];
}

/** State that the API reads and changes. */
export interface ApiParts {
  readonly appId: string;
  readonly bot: { readonly openId: string; readonly name: string };
  /** People by open id. */
  readonly users: ReadonlyMap<string, { readonly name: string }>;
  readonly permissions: readonly string[];
  readonly subscription: Subscription | undefined;
  readonly hasCardKit: boolean;
  readonly tokens: Tokens;
  readonly messages: Messages;
  readonly uploads: Uploads;
  readonly cards: Cards;
  readonly resources: Resources;
  readonly reactions: Reactions;
  /** Mode of each chat. */
  readonly chatModes: ReadonlyMap<string, string>;
}

interface Call {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
  readonly seen: SeenRequest;
}

/** Creates a function that responds to API calls like Feishu. */
export function createApi(
  parts: ApiParts,
): (call: Call, authorization: string | undefined) => ApiReply | Promise<ApiReply> {
  return (call, authorization) => {
    const path = call.url.pathname.replace(/^\/open-apis/, "");
    if (path === "/auth/v3/tenant_access_token/internal") return parts.tokens.give(call.body);
    return (
      parts.tokens.refusal(authorization) ??
      ofApp(parts, call, path) ??
      ofDirectory(parts, call, path) ??
      ofMessages(parts, call, path) ??
      refuse(404, "404 page not found", 404)
    );
  };
}

/** Calls about the app itself. */
function ofApp(parts: ApiParts, { method }: Call, path: string): ApiReply | undefined {
  if (method !== "GET") return undefined;
  const { bot, permissions } = parts;
  if (path === "/bot/v3/info") {
    const info = {
      activate_status: 2,
      app_name: bot.name,
      avatar_url: "",
      ip_white_list: [],
      open_id: bot.openId,
    };
    return { status: 200, body: { code: 0, msg: "ok", bot: info } };
  }
  if (path === "/application/v6/scopes")
    return ok({
      scopes: permissions.map((name) => ({ scope_name: name, grant_status: 1, scope_type: "tenant" })),
    });
  return path.startsWith("/application/v6/applications/") ? ownApplication(parts, path) : undefined;
}

function ownApplication({ subscription, appId }: ApiParts, path: string): ApiReply {
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

/** Calls about people and chats. */
function ofDirectory({ users, chatModes }: ApiParts, { method }: Call, path: string): ApiReply | undefined {
  if (method !== "GET") return undefined;
  const userId = /^\/contact\/v3\/users\/([^/]+)$/.exec(path)?.[1];
  if (userId !== undefined) {
    const user = users.get(decodeURIComponent(userId));
    if (user === undefined) return refuse(41050, "no user authority error");
    return ok({ user: { open_id: userId, union_id: `on_${userId}`, name: user.name, en_name: "" } });
  }
  const chatId = /^\/im\/v1\/chats\/([^/]+)$/.exec(path)?.[1];
  if (chatId === undefined) return undefined;
  const mode = chatModes.get(chatId);
  return mode === undefined
    ? refusals.notInChat()
    : ok({ chat_mode: mode, name: mode === "p2p" ? "" : chatId });
}

/** Calls about messages, their files, and cards. */
function ofMessages(parts: ApiParts, call: Call, path: string): ApiReply | Promise<ApiReply> | undefined {
  const { messages, uploads, cards, hasCardKit } = parts;
  const { method, url, body, seen } = call;
  if (path === "/im/v1/images" && method === "POST") return formOf(seen).then((form) => uploads.image(form));
  if (path === "/im/v1/files" && method === "POST") return formOf(seen).then((form) => uploads.file(form));
  if (path === "/im/v1/messages" && method === "POST") return messages.create(url.searchParams, body);
  if (path === "/im/v1/messages" && method === "GET") return messages.list(url.searchParams);
  if (path === "/cardkit/v1/cards/id_convert" && hasCardKit) return messages.cardOf(body);
  const ofCard = cards.answer(method, path, body);
  if (ofCard !== undefined) return ofCard;
  const [, id, rest = "", last] =
    /^\/im\/v1\/messages\/([^/]+)(?:\/([^/]+)(?:\/([^/]+))?)?$/.exec(path) ?? [];
  return id === undefined ? undefined : ofMessage(parts, call, [id, rest, last]);
}

/** Calls about one message. */
function ofMessage(
  { messages, reactions, resources }: ApiParts,
  call: Call,
  [id, rest, last]: readonly [id: string, rest: string, last: string | undefined],
): ApiReply {
  const { method, url, body } = call;
  if (rest === "reply" && method === "POST") return messages.reply(id, body);
  if (rest === "reactions" && method === "GET") return reactions.list(id);
  if (rest === "reactions" && !messages.all.has(id)) return refusals.noSuchMessage();
  if (rest === "reactions")
    return method === "DELETE" && last !== undefined ? reactions.remove(last) : reactions.add(id, body);
  if (rest === "resources" && last !== undefined)
    return resources.get(id, last, url.searchParams.get("type"));
  if (rest !== "") return refuse(404, "404 page not found", 404);
  if (method === "GET") return messages.get(id, url.searchParams);
  if (method === "PUT") return messages.update(id, body, "edit");
  if (method === "PATCH") return messages.update(id, body, "card");
  return method === "DELETE" ? messages.remove(id) : refuse(404, "404 page not found", 404);
}
