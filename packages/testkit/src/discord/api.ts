import { formOf, parseJson, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import type { SentFile } from "./check-message.ts";
import type { Gateway } from "./gateway.ts";
import type { Interactions } from "./interactions.ts";
import type { Messages } from "./messages.ts";
import { type ApiReply, done, ok, refusals } from "./reply.ts";
import { channelPayload, rolePayload, userPayload, type World } from "./world.ts";

/** A parsed request. */
interface Call {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly body: Raw;
  readonly list: readonly unknown[];
  readonly files: readonly SentFile[];
}

interface ApiOptions {
  readonly world: World;
  readonly messages: Messages;
  readonly interactions: Interactions;
  readonly gateway: Gateway;
  readonly applicationId: string;
  /** Returns `undefined` if the token was revoked. */
  readonly token: () => string | undefined;
  readonly mayReadContent: boolean;
  /** Rejects the sixth message within five seconds in one channel. */
  readonly rateLimit: boolean;
  readonly now: () => number;
}

/** Routes HTTP API requests by path. */
export class Api {
  /** Commands that the bot registered. */
  commands: readonly unknown[] = [];
  readonly #options: ApiOptions;
  readonly #world: World;
  readonly #messages: Messages;
  readonly #interactions: Interactions;
  readonly #gateway: Gateway;
  /** Times of each channel's recent messages. */
  readonly #lately = new Map<string, number[]>();

  constructor(options: ApiOptions) {
    this.#options = options;
    this.#world = options.world;
    this.#messages = options.messages;
    this.#interactions = options.interactions;
    this.#gateway = options.gateway;
  }

  answer(call: Call, path: readonly string[], authorization: string | undefined): ApiReply {
    const [area, id = "", ...rest] = path;
    // The token of an interaction is enough to answer it.
    if (area === "interactions") return this.#interactions.answer(id, rest[0] ?? "", call.body);
    if (area === "webhooks" && rest[1] === "messages" && rest[2] === "@original" && call.method === "PATCH")
      return this.#interactions.edit(rest[0] ?? "", call.body, call.files);
    const token = this.#options.token();
    if (token === undefined || authorization !== `Bot ${token}`) return refusals.unauthorized();
    switch (area) {
      case "gateway":
        return this.#gatewayInformation();
      case "users":
        return this.#ofUser(call, id, rest);
      case "channels":
        return this.#ofChannel(call, id, rest);
      case "guilds":
        return this.#ofGuild(id, rest);
      case "applications":
        return this.#ofApplication(call, rest);
      default:
        return refusals.noSuchPath();
    }
  }

  #ofMessage(call: Call, channelId: string, id: string, rest: readonly string[]): ApiReply {
    const [what, emoji, who] = rest;
    if (what === "reactions" && emoji !== undefined && who === "@me")
      return this.#messages.react(channelId, id, decodeURIComponent(emoji), call.method === "PUT");
    if (what !== undefined) return refusals.noSuchPath();
    if (call.method === "GET") return this.#messages.get(channelId, id);
    if (call.method === "PATCH") return this.#messages.edit(channelId, id, call.body, call.files);
    return call.method === "DELETE" ? this.#messages.remove(channelId, id) : refusals.noSuchPath();
  }

  #ofChannel(call: Call, id: string, rest: readonly string[]): ApiReply {
    const channel = this.#world.channels.get(id);
    const [what, messageId, ...more] = rest;
    if (channel === undefined) return refusals.unknownChannel();
    if (channel.isHidden === true) return refusals.missingAccess();
    if (what === undefined) return ok(channelPayload(channel));
    if (what === "typing") return done;
    if (what === "polls" && messageId !== undefined && more[0] === "expire")
      return call.method === "POST" ? this.#messages.endPoll(id, messageId) : refusals.noSuchPath();
    if (what !== "messages") return refusals.noSuchPath();
    if (messageId !== undefined) return this.#ofMessage(call, id, messageId, more);
    if (call.method === "GET") return this.#messages.list(id, call.query);
    if (this.#isTooFast(id)) return refusals.rateLimited(1.5);
    return this.#messages.create({ channelId: id, body: call.body, files: call.files });
  }

  #ofGuild(id: string, rest: readonly string[]): ApiReply {
    const guild = this.#world.guilds.get(id);
    const [what, userId = ""] = rest;
    if (guild === undefined) return refusals.missingAccess();
    if (what === "roles") return ok(guild.roles.map(rolePayload));
    const roles = guild.members.get(userId);
    return what === "members" && roles !== undefined
      ? ok({ user: userPayload(this.#world.user(userId)), roles, joined_at: null, flags: 0 })
      : refusals.unknownUser();
  }

  #ofUser(call: Call, id: string, rest: readonly string[]): ApiReply {
    if (id !== "@me") {
      const user = this.#world.users.get(id);
      return user === undefined ? refusals.unknownUser() : ok(userPayload(user));
    }
    if (rest[0] === "channels" && call.method === "POST")
      return ok(channelPayload(this.#world.direct(String(call.body["recipient_id"]))));
    return rest.length === 0 ? ok(userPayload(this.#world.bot)) : refusals.noSuchPath();
  }

  #ofApplication(call: Call, rest: readonly string[]): ApiReply {
    if (rest.length === 0)
      return ok({
        id: this.#options.applicationId,
        name: this.#world.bot.username,
        flags: this.#options.mayReadContent ? 1 << 19 : 0,
      });
    if (rest[0] !== "commands") return refusals.noSuchPath();
    if (call.method === "PUT") this.commands = call.list;
    return ok(this.commands);
  }

  #gatewayInformation(): ApiReply {
    const left = {
      total: 1_000,
      remaining: this.#gateway.identifiesLeft,
      reset_after: 3_600_000,
      max_concurrency: 1,
    };
    return ok({ url: this.#gateway.url, shards: 1, session_start_limit: left });
  }

  #isTooFast(channelId: string): boolean {
    const recent = (this.#lately.get(channelId) ?? []).filter((at) => at > this.#options.now() - 5_000);
    this.#lately.set(channelId, [...recent, this.#options.now()]);
    return this.#options.rateLimit && recent.length >= 5;
  }
}

export async function callOf(seen: SeenRequest, url: URL): Promise<Call> {
  const form = await formOf(seen);
  const files: SentFile[] = [];
  for (const [name, value] of form ?? []) {
    if (typeof value === "string" || !name.startsWith("files[")) continue;
    files.push({ name: value.name, mimeType: value.type, content: await value.bytes() });
  }
  const json = form === undefined ? seen.text : String(form.get("payload_json") ?? "");
  const body = parseJson(json);
  return {
    method: seen.method,
    query: url.searchParams,
    body: isRaw(body) ? body : {},
    list: Array.isArray(body) ? body : [],
    files,
  };
}
