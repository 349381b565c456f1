import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Faults } from "../faults.ts";
import { formOf, listen, parseJson, type SeenRequest, type StandIn } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import type { SentFile } from "./check-message.ts";
import type { DiscordFault } from "./faults.ts";
import { Gateway } from "./gateway.ts";
import { type Doing, type Interaction, Interactions } from "./interactions.ts";
import { type DiscordMessage, Messages, type MessageToPlant } from "./messages.ts";
import { type ApiReply, done, ok, refusals } from "./reply.ts";
import {
  channelPayload,
  channelType,
  type DiscordChannel,
  type DiscordRole,
  type DiscordUser,
  guildPayload,
  rolePayload,
  userPayload,
  World,
} from "./world.ts";

export interface DiscordOptions {
  readonly token: string;
  /** Default `{ id: "1000", username: "signalbox" }`. */
  readonly bot?: { readonly id: string; readonly username: string };
  readonly applicationId?: string;
  /** People, by id. Default: everybody exists under a made-up name. */
  readonly users?: Readonly<Record<string, Omit<DiscordUser, "id">>>;
  /** Message Content Intent is turned on. Default true. */
  readonly mayReadContent?: boolean;
  /**
   * How often the bot is to send a heartbeat by itself. Discord says 41 seconds; the default is as long as a timer can
   * run. discord.js takes a connection for dead that is asked for a heartbeat just when one is due, `acknowledged` asks
   * for many, and the first is due at a random moment of this time.
   */
  readonly heartbeatMs?: number;
  /** How many events of a session can be told again. Default 10,000. */
  readonly keeps?: number;
  /** Refuse the sixth message within five seconds in one channel. Default false. */
  readonly rateLimit?: boolean;
  readonly port?: number;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** Discord as far as a bot needs it, on loopback ports: the API, the gateway and the files of messages. */
export interface DiscordStandIn extends StandIn {
  readonly bot: DiscordUser;
  readonly applicationId: string;
  readonly gateway: Gateway;
  /** What the bot sent, in order, also what it deleted since. */
  readonly sent: readonly DiscordMessage[];
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** The commands the bot has registered. */
  readonly commands: readonly unknown[];
  readonly interactions: readonly Interaction[];
  /** A server; gives the id of its first text channel. */
  addGuild(guild: {
    readonly id: string;
    readonly name?: string;
    readonly channelId: string;
    readonly roles?: readonly DiscordRole[];
    /** Roles of members, by the member's id. */
    readonly members?: Readonly<Record<string, readonly string[]>>;
  }): void;
  addChannel(channel: DiscordChannel): void;
  /** Somebody uses a command, a button, a menu or a form. */
  interact(channelId: string, userId: string, doing: Doing): Interaction;
  /** The gateway tells of an interaction once more. Gives the event's sequence number. */
  tellAgain(interaction: Interaction): number | undefined;
  /** People vote in a poll: so often for each of its answers, in their order. */
  vote(messageId: string, counts: readonly number[]): void;
  /** The direct conversation with somebody. */
  directWith(userId: string): DiscordChannel;
  /** Somebody writes, and the gateway tells. Gives the message, and the event's sequence number. */
  say(message: MessageToPlant): { readonly message: DiscordMessage; readonly sequence: number | undefined };
  /** Puts a message there that nobody is told about. */
  plant(message: MessageToPlant): DiscordMessage;
  /** What the gateway would tell of a message. */
  eventOf(message: DiscordMessage): Raw;
  /**
   * Resolves once the bot has taken the event with this number; with false where the connection ends before that stands
   * now, or comes next.
   */
  acknowledged(sequence: number): Promise<boolean>;
  fail(fault: DiscordFault): void;
  /** Nothing goes wrong any more. */
  heal(): void;
  /** From now on the token is refused. */
  revoke(): void;
  /** Time passes for everything that has a lifetime. */
  age(ms: number): void;
}

/** Beyond it a timer fires at once. */
const longestTimerMs = 2 ** 31 - 1;

interface Call {
  readonly method: string;
  readonly query: URLSearchParams;
  readonly body: Raw;
  readonly list: readonly unknown[];
  readonly files: readonly SentFile[];
}

/** Starts the stand-in. */
export async function startDiscord(options: DiscordOptions): Promise<DiscordStandIn> {
  let passed = 0;
  const clock = options.now ?? Date.now;
  const now = () => clock() + passed;
  const world = new World({ id: "1000", username: "signalbox", ...options.bot, bot: true }, now);
  for (const [id, user] of Object.entries(options.users ?? {})) world.users.set(id, { id, ...user });
  const applicationId = options.applicationId ?? world.bot.id;
  const faults = new Faults<DiscordFault>("/messages");
  const requests: SeenRequest[] = [];
  const lately = new Map<string, number[]>();
  let token: string | undefined = options.token;
  let commands: readonly unknown[] = [];

  const gateway = await Gateway.start({
    token: () => token,
    botId: world.bot.id,
    mayReadContent: options.mayReadContent ?? true,
    heartbeatMs: options.heartbeatMs ?? longestTimerMs,
    keeps: options.keeps ?? 10_000,
    ready: () => ({
      data: {
        user: userPayload(world.bot),
        guilds: [...world.guilds.keys()].map((id) => ({ id, unavailable: true })),
        application: { id: applicationId, flags: 0 },
        shard: [0, 1],
      },
      guilds: [...world.guilds.values()].map((guild) => guildPayload(guild, world.channels.values(), now())),
    }),
  });
  const messages = new Messages(
    world,
    () => server.url,
    (type, data) => void gateway.dispatch(type, data),
  );
  const interactions = new Interactions(world, messages, applicationId);

  function tellOf({ payload }: Interaction): number | undefined {
    return gateway.dispatch("INTERACTION_CREATE", payload);
  }

  function isTooFast(channelId: string): boolean {
    const recent = (lately.get(channelId) ?? []).filter((at) => at > now() - 5_000);
    lately.set(channelId, [...recent, now()]);
    return options.rateLimit === true && recent.length >= 5;
  }

  function ofMessage(call: Call, channelId: string, id: string, rest: readonly string[]): ApiReply {
    const [what, emoji, who] = rest;
    if (what === "reactions" && emoji !== undefined && who === "@me")
      return messages.react(channelId, id, decodeURIComponent(emoji), call.method === "PUT");
    if (what !== undefined) return refusals.noSuchPath();
    if (call.method === "GET") return messages.get(channelId, id);
    if (call.method === "PATCH") return messages.edit(channelId, id, call.body, call.files);
    return call.method === "DELETE" ? messages.remove(channelId, id) : refusals.noSuchPath();
  }

  function ofChannel(call: Call, id: string, rest: readonly string[]): ApiReply {
    const channel = world.channels.get(id);
    const [what, messageId, ...more] = rest;
    if (channel === undefined) return refusals.unknownChannel();
    if (channel.isHidden === true) return refusals.missingAccess();
    if (what === undefined) return ok(channelPayload(channel));
    if (what === "typing") return done;
    if (what === "polls" && messageId !== undefined && more[0] === "expire")
      return call.method === "POST" ? messages.endPoll(id, messageId) : refusals.noSuchPath();
    if (what !== "messages") return refusals.noSuchPath();
    if (messageId !== undefined) return ofMessage(call, id, messageId, more);
    if (call.method === "GET") return messages.list(id, call.query);
    if (isTooFast(id)) return refusals.rateLimited(1.5);
    return messages.create({ channelId: id, body: call.body, files: call.files });
  }

  function ofGuild(id: string, rest: readonly string[]): ApiReply {
    const guild = world.guilds.get(id);
    const [what, userId = ""] = rest;
    if (guild === undefined) return refusals.missingAccess();
    if (what === "roles") return ok(guild.roles.map(rolePayload));
    const roles = guild.members.get(userId);
    return what === "members" && roles !== undefined
      ? ok({ user: userPayload(world.user(userId)), roles, joined_at: null, flags: 0 })
      : refusals.unknownUser();
  }

  function ofUser(call: Call, id: string, rest: readonly string[]): ApiReply {
    if (id !== "@me") {
      const user = world.users.get(id);
      return user === undefined ? refusals.unknownUser() : ok(userPayload(user));
    }
    if (rest[0] === "channels" && call.method === "POST")
      return ok(channelPayload(world.direct(String(call.body["recipient_id"]))));
    return rest.length === 0 ? ok(userPayload(world.bot)) : refusals.noSuchPath();
  }

  function ofApplication(call: Call, rest: readonly string[]): ApiReply {
    if (rest.length === 0)
      return ok({
        id: applicationId,
        name: world.bot.username,
        flags: options.mayReadContent === false ? 0 : 1 << 19,
      });
    if (rest[0] !== "commands") return refusals.noSuchPath();
    if (call.method === "PUT") commands = call.list;
    return ok(commands);
  }

  function gatewayInformation(): ApiReply {
    const left = {
      total: 1_000,
      remaining: gateway.identifiesLeft,
      reset_after: 3_600_000,
      max_concurrency: 1,
    };
    return ok({ url: gateway.url, shards: 1, session_start_limit: left });
  }

  function answer(call: Call, path: readonly string[], authorization: string | undefined): ApiReply {
    const [area, id = "", ...rest] = path;
    // Who holds the token of an interaction needs no other.
    if (area === "interactions") return interactions.answer(id, rest[0] ?? "", call.body);
    if (area === "webhooks" && rest[1] === "messages" && rest[2] === "@original" && call.method === "PATCH")
      return interactions.edit(rest[0] ?? "", call.body, call.files);
    if (token === undefined || authorization !== `Bot ${token}`) return refusals.unauthorized();
    switch (area) {
      case "gateway":
        return gatewayInformation();
      case "users":
        return ofUser(call, id, rest);
      case "channels":
        return ofChannel(call, id, rest);
      case "guilds":
        return ofGuild(id, rest);
      case "applications":
        return ofApplication(call, rest);
      default:
        return refusals.noSuchPath();
    }
  }

  const server: StandIn = await listen(async (seen, response) => {
    requests.push(seen);
    const url = new URL(seen.path, "http://standin");
    if (url.pathname.startsWith("/attachments/")) return write(response, fileReply(messages, url));
    const path = url.pathname.replace(/^\/api\/v10\//, "").split("/");
    const fault = faults.take(seen.method, url.pathname);
    if (fault?.kind === "status") return write(response, { status: fault.status ?? 500, body: {} });
    if (fault?.kind === "rate") return write(response, refusals.rateLimited(fault.seconds));
    const reply = answer(await callOf(seen, url), path, String(seen.headers["authorization"]));
    if (fault?.kind === "cut") return void response.destroy();
    if (fault?.kind !== "hang") write(response, reply);
  }, options.port);

  return {
    url: server.url,
    answerAt: server.answerAt,
    bot: world.bot,
    applicationId,
    gateway,
    requests,
    vote: (messageId, counts) => void messages.votes.set(messageId, counts),
    get sent() {
      return [...messages.all.values()].filter(({ author }) => author.id === world.bot.id);
    },
    get commands() {
      return commands;
    },
    get interactions() {
      return [...interactions.all.values()];
    },
    addGuild({ id, name = "Guild", channelId, roles = [], members = {} }) {
      world.guilds.set(id, { id, name, roles, members: new Map(Object.entries(members)) });
      world.channels.set(channelId, { id: channelId, type: channelType.text, guildId: id, name: "general" });
    },
    addChannel: (channel) => void world.channels.set(channel.id, channel),
    directWith: (userId) => world.direct(userId),
    interact(channelId, userId, doing) {
      const interaction = interactions.begin(channelId, userId, doing);
      interaction.sequence = tellOf(interaction);
      return interaction;
    },
    tellAgain: (interaction) => tellOf(interaction),
    say(given) {
      const message = messages.plant(given);
      return { message, sequence: gateway.dispatch("MESSAGE_CREATE", messages.event(message)) };
    },
    plant: (given) => messages.plant(given),
    eventOf: (message) => messages.event(message),
    async acknowledged(sequence) {
      while (gateway.connections() === 0) await delay(5);
      for (;;) {
        const heard = await gateway.heartbeat();
        if (heard === undefined) return false;
        if ((heard ?? -1) >= sequence) return true;
        await delay(5);
      }
    },
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    revoke() {
      token = undefined;
    },
    age(ms) {
      passed += ms;
    },
    async stop() {
      await Promise.all([gateway.stop(), server.stop()]);
    },
  };
}

async function callOf(seen: SeenRequest, url: URL): Promise<Call> {
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

function fileReply(messages: Messages, url: URL): ApiReply {
  const file = messages.file(url);
  if (file === undefined) return { status: 404, body: "This content is no longer available." };
  return { status: 200, bytes: file.content, headers: { "content-type": file.mimeType } };
}

function write(response: ServerResponse, reply: ApiReply): void {
  if (reply.status === 204) return void response.writeHead(204).end();
  response.writeHead(reply.status, { "content-type": "application/json", ...reply.headers });
  response.end(reply.bytes ?? JSON.stringify(reply.body));
}
