import { formOf, type SeenRequest } from "../http.ts";
import type { Raw } from "../raw.ts";
import type { Files } from "./files.ts";
import type { Messages } from "./messages.ts";
import { type ApiReply, ok, rateLimited, readArguments, refuse, textOf } from "./reply.ts";
import type { Sockets } from "./sockets.ts";
import type { Tiers } from "./tiers.ts";
import type { Views } from "./views.ts";

const ALL_SCOPES =
  "app_mentions:read assistant:write channels:history channels:read chat:write commands files:read files:write groups:history groups:read im:history im:read im:write mpim:history mpim:read reactions:read reactions:write users:read".split(
    " ",
  );

/** Scopes that each method requires. */
const scopeOf: Readonly<Record<string, readonly string[]>> = {
  "chat.postMessage": ["chat:write"],
  "chat.update": ["chat:write"],
  "chat.delete": ["chat:write"],
  "chat.startStream": ["chat:write"],
  "chat.appendStream": ["chat:write"],
  "chat.stopStream": ["chat:write"],
  "conversations.history": ["channels:history", "groups:history", "im:history", "mpim:history"],
  "conversations.replies": ["channels:history", "groups:history", "im:history", "mpim:history"],
  "conversations.info": ["channels:read", "groups:read", "im:read", "mpim:read"],
  "conversations.open": ["im:write", "mpim:write"],
  "users.info": ["users:read"],
  "reactions.add": ["reactions:write"],
  "reactions.remove": ["reactions:write"],
  "files.getUploadURLExternal": ["files:write"],
  "files.completeUploadExternal": ["files:write"],
  "files.info": ["files:read"],
  "assistant.threads.setStatus": ["assistant:write", "chat:write"],
};

export type ChannelKind = "im" | "mpim" | "channel" | "group";

export interface ApiOptions {
  readonly botToken: string;
  /** Allows the app to open sockets. */
  readonly appToken?: string;
  /** The workspace and its organization. Default: `T_TEAM` without an organization. */
  readonly team?: { readonly id: string; readonly enterpriseId?: string };
  /** People, by id. */
  readonly users?: Readonly<Record<string, { readonly name: string }>>;
  /** Scopes of the token. Default: all scopes. */
  readonly scopes?: readonly string[];
}

interface ApiParts {
  readonly bot: { readonly userId: string; readonly botId: string; readonly name: string };
  readonly kindOf: (channel: string) => ChannelKind | undefined;
  readonly messages: Messages;
  readonly files: Files;
  readonly sockets: Sockets;
  readonly views: Views;
  readonly tiers: Tiers | undefined;
}

/** The Web API and the URLs of files. */
export class Api {
  isRevoked = false;
  /** The bot's reactions, by message timestamp. */
  readonly reactions: Map<string, Set<string>> = new Map();
  /** The bot's status texts, by thread. */
  readonly statuses: Map<string, string> = new Map();
  readonly #options: ApiOptions;
  readonly #parts: ApiParts;
  readonly #methods: Readonly<Record<string, (args: Raw) => ApiReply>> = {
    "auth.test": () => this.#self(),
    "apps.connections.open": () => ok({ url: this.#parts.sockets.address() }),
    "chat.postMessage": (args) => this.#parts.messages.post(args),
    "chat.update": (args) => this.#parts.messages.update(args),
    "chat.delete": (args) => this.#parts.messages.remove(args),
    "chat.startStream": (args) => this.#parts.messages.startStream(args),
    "chat.appendStream": (args) => this.#parts.messages.appendStream(args),
    "chat.stopStream": (args) => this.#parts.messages.stopStream(args),
    "conversations.history": (args) => this.#parts.messages.history(args),
    "conversations.replies": (args) => this.#parts.messages.replies(args),
    "conversations.info": (args) => this.#conversation(textOf(args, "channel") ?? ""),
    "conversations.open": (args) => open(textOf(args, "users")),
    "users.info": (args) => this.#user(textOf(args, "user") ?? ""),
    "views.open": (args) => this.#parts.views.open(args),
    "reactions.add": (args) => this.#react(args, true),
    "reactions.remove": (args) => this.#react(args, false),
    "assistant.threads.setStatus": (args) => this.#setStatus(args),
    "files.getUploadURLExternal": (args) => this.#parts.files.uploadAddress(args),
    "files.completeUploadExternal": (args) => this.#parts.files.complete(args),
    "files.info": (args) => this.#parts.files.info(args),
  };

  constructor(options: ApiOptions, parts: ApiParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async answer(seen: SeenRequest, method: string | undefined): Promise<ApiReply> {
    const { pathname } = new URL(seen.path, "http://fake");
    const type = String(seen.headers["content-type"] ?? "");
    const token = /^Bearer (.+)$/.exec(String(seen.headers["authorization"] ?? ""))?.[1];
    if (method !== undefined) return this.#call(method, readArguments(seen.text, type), token);
    const upload = /^\/upload\/v1\/(\w+)$/.exec(pathname)?.[1];
    if (upload !== undefined) return this.#parts.files.upload(upload, await formOf(seen));
    return this.#parts.files.download(pathname, token === this.#options.botToken && !this.isRevoked);
  }

  #call(method: string, args: Raw, token: string | undefined): ApiReply {
    const run = this.#methods[method];
    if (run === undefined) return refuse("unknown_method");
    const refused = this.#refusedToken(method, token);
    if (refused !== undefined) return refused;
    const wait = this.#parts.tiers?.take(method, textOf(args, "channel")) ?? 0;
    return wait > 0 ? rateLimited(wait) : run(args);
  }

  #refusedToken(method: string, token: string | undefined): ApiReply | undefined {
    const wanted = method === "apps.connections.open" ? this.#options.appToken : this.#options.botToken;
    if (token === undefined) return refuse("not_authed");
    if (this.isRevoked || token !== wanted) return refuse("invalid_auth");
    const needed = this.#options.scopes === undefined ? undefined : scopeOf[method];
    if (needed === undefined || needed.some((scope) => this.#options.scopes?.includes(scope)))
      return undefined;
    return refuse("missing_scope", { needed: needed.join(","), provided: this.#options.scopes?.join(",") });
  }

  #self(): ApiReply {
    const { bot } = this.#parts;
    const { team = { id: "T_TEAM" }, scopes } = this.#options;
    return {
      headers: { "x-oauth-scopes": (scopes ?? ALL_SCOPES).join(",") },
      ...ok({
        url: "https://team.slack.com/",
        team: "team",
        user: bot.name,
        team_id: team.id,
        user_id: bot.userId,
        bot_id: bot.botId,
        enterprise_id: team.enterpriseId,
        is_enterprise_install: false,
      }),
    };
  }

  #conversation(id: string): ApiReply {
    const kind = this.#parts.kindOf(id);
    if (kind === undefined) return refuse("channel_not_found");
    return ok({
      channel: { id, is_im: kind === "im", is_mpim: kind === "mpim", is_private: kind !== "channel" },
    });
  }

  #user(id: string): ApiReply {
    const user = this.#options.users?.[id];
    if (user === undefined) return refuse("user_not_found");
    const profile = { display_name: user.name, real_name: user.name };
    return ok({ user: { id, name: id.toLowerCase(), profile } });
  }

  #react(args: Raw, isAdded: boolean): ApiReply {
    const [channel = "", ts = ""] = [textOf(args, "channel"), textOf(args, "timestamp")];
    const name = textOf(args, "name");
    if (this.#parts.messages.find(channel, ts) === undefined) return refuse("message_not_found");
    if (name === undefined || !/^[a-z0-9_+'-]+(::skin-tone-\d)?$/.test(name)) return refuse("invalid_name");
    const names = this.reactions.get(ts) ?? new Set();
    this.reactions.set(ts, names);
    if (isAdded === names.has(name)) return refuse(isAdded ? "already_reacted" : "no_reaction");
    if (isAdded) names.add(name);
    else names.delete(name);
    return ok();
  }

  #setStatus(args: Raw): ApiReply {
    const thread = textOf(args, "thread_ts");
    if (thread === undefined || this.#parts.kindOf(textOf(args, "channel_id") ?? "") === undefined)
      return refuse("invalid_thread_ts");
    this.statuses.set(thread, textOf(args, "status") ?? "");
    return ok();
  }
}

function open(user: string | undefined): ApiReply {
  return user === undefined || !user.startsWith("U")
    ? refuse("user_not_found")
    : ok({ channel: { id: user === "U_SENDER" ? "D_DIRECT" : `D${user}` } });
}
