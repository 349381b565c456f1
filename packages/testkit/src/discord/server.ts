import type { ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Faults } from "../faults.ts";
import { type FakeServer, listen, type SeenRequest } from "../http.ts";
import type { Raw } from "../raw.ts";
import { Api, callOf } from "./api.ts";
import type { DiscordFault } from "./faults.ts";
import { Gateway } from "./gateway.ts";
import { type Doing, type Interaction, Interactions } from "./interactions.ts";
import { type DiscordMessage, Messages, type MessageToPlant } from "./messages.ts";
import { type ApiReply, refusals } from "./reply.ts";
import {
  channelType,
  type DiscordChannel,
  type DiscordRole,
  type DiscordUser,
  guildPayload,
  userPayload,
  World,
} from "./world.ts";

export interface DiscordOptions {
  readonly token: string;
  /** Default: `{ id: "1000", username: "signalbox" }`. */
  readonly bot?: { readonly id: string; readonly username: string };
  readonly applicationId?: string;
  /** People by id. Default: everyone exists, with a generated name. */
  readonly users?: Readonly<Record<string, Omit<DiscordUser, "id">>>;
  /** True if the Message Content Intent is on. Default: true. */
  readonly mayReadContent?: boolean;
  /**
   * Heartbeat interval in milliseconds. Discord uses 41 seconds. The default is the longest time that a timer supports,
   * because discord.js treats a connection as dead if a heartbeat is requested just when one is due, `acknowledged`
   * requests many, and the first one is due at a random moment of the interval.
   */
  readonly heartbeatMs?: number;
  /** Number of events of a session that can be resent. Default: 10,000. */
  readonly keeps?: number;
  /** Rejects the sixth message within five seconds in one channel. Default: false. */
  readonly rateLimit?: boolean;
  readonly port?: number;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** A fake Discord on loopback ports: the API, the gateway and the files of messages. */
export interface FakeDiscord extends FakeServer {
  readonly bot: DiscordUser;
  readonly applicationId: string;
  readonly gateway: Gateway;
  /** Messages that the bot sent, in order, including deleted ones. */
  readonly sent: readonly DiscordMessage[];
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** Commands that the bot registered. */
  readonly commands: readonly unknown[];
  readonly interactions: readonly Interaction[];
  /** Adds a server and returns the id of its first text channel. */
  addGuild(guild: {
    readonly id: string;
    readonly name?: string;
    readonly channelId: string;
    readonly roles?: readonly DiscordRole[];
    /** Roles of members, by the member's id. */
    readonly members?: Readonly<Record<string, readonly string[]>>;
  }): void;
  addChannel(channel: DiscordChannel): void;
  /** Deletes a channel or thread. */
  deleteChannel(channelId: string): void;
  /** Uses a command, a button, a menu or a form as a person. */
  interact(channelId: string, userId: string, doing: Doing): Interaction;
  /** Resends the event of an interaction and returns its sequence number. */
  tellAgain(interaction: Interaction): number | undefined;
  /** Sets the number of votes for each answer of a poll, in the order of the answers. */
  vote(messageId: string, counts: readonly number[]): void;
  /** Returns the direct conversation with a person. */
  directWith(userId: string): DiscordChannel;
  /** Writes a message as a person and sends its event. Returns the message and the event's sequence number. */
  say(message: MessageToPlant): { readonly message: DiscordMessage; readonly sequence: number | undefined };
  /** Adds a message without an event. */
  plant(message: MessageToPlant): DiscordMessage;
  /** Returns the payload of a message's event. */
  eventOf(message: DiscordMessage): Raw;
  /**
   * Resolves with true once the bot received the event with this number, and with false if the current or next
   * connection ends first.
   */
  acknowledged(sequence: number): Promise<boolean>;
  fail(fault: DiscordFault): void;
  /** Removes all faults. */
  heal(): void;
  /** Revokes the token. */
  revoke(): void;
  /** The token is accepted again. */
  restore(): void;
  /** Makes everything with a lifetime older. */
  age(ms: number): void;
}

/** A timer with a longer delay fires at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Starts the fake server. */
export async function startDiscord(options: DiscordOptions): Promise<FakeDiscord> {
  let passed = 0;
  const clock = options.now ?? Date.now;
  const now = () => clock() + passed;
  const world = new World({ id: "1000", username: "signalbox", ...options.bot, bot: true }, now);
  for (const [id, user] of Object.entries(options.users ?? {})) world.users.set(id, { id, ...user });
  const applicationId = options.applicationId ?? world.bot.id;
  const faults = new Faults<DiscordFault>("/messages");
  const requests: SeenRequest[] = [];
  const { mayReadContent = true } = options;
  let token: string | undefined = options.token;

  const gateway = await Gateway.start({
    token: () => token,
    botId: world.bot.id,
    mayReadContent,
    heartbeatMs: options.heartbeatMs ?? longestTimerMs,
    keeps: options.keeps ?? 10_000,
    ready: () => readyOf(world, applicationId, now()),
  });
  const messages = new Messages(
    world,
    () => server.url,
    (type, data) => void gateway.dispatch(type, data),
  );
  const interactions = new Interactions(world, messages, applicationId);
  const api = new Api({
    world,
    messages,
    interactions,
    gateway,
    applicationId,
    token: () => token,
    mayReadContent,
    rateLimit: options.rateLimit ?? false,
    now,
  });

  const server: FakeServer = await listen(async (seen, response) => {
    requests.push(seen);
    const url = new URL(seen.path, "http://fake");
    if (url.pathname.startsWith("/attachments/")) return write(response, fileReply(messages, url));
    const path = url.pathname.replace(/^\/api\/v10\//, "").split("/");
    const fault = faults.take(seen.method, url.pathname);
    if (fault?.kind === "status") return write(response, { status: fault.status ?? 500, body: {} });
    if (fault?.kind === "hold") await fault.until;
    if (fault?.kind === "rate") return write(response, refusals.rateLimited(fault.seconds));
    const reply = api.answer(await callOf(seen, url), path, String(seen.headers["authorization"]));
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
    get sent() {
      return [...messages.all.values()].filter(({ author }) => author.id === world.bot.id);
    },
    get commands() {
      return api.commands;
    },
    get interactions() {
      return [...interactions.all.values()];
    },
    ...whatHappens(world, messages, interactions, gateway),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    revoke() {
      token = undefined;
    },
    restore() {
      token = options.token;
    },
    age(ms) {
      passed += ms;
    },
    async stop() {
      await Promise.all([gateway.stop(), server.stop()]);
    },
  };
}

type Happenings =
  | "addGuild"
  | "addChannel"
  | "deleteChannel"
  | "directWith"
  | "interact"
  | "tellAgain"
  | "vote"
  | "say"
  | "plant"
  | "eventOf"
  | "acknowledged";

/** Creates the state of Discord and sends events about it to the bot. */
function whatHappens(
  world: World,
  messages: Messages,
  interactions: Interactions,
  gateway: Gateway,
): Pick<FakeDiscord, Happenings> {
  const tell = ({ payload }: Interaction) => gateway.dispatch("INTERACTION_CREATE", payload);
  return {
    addGuild({ id, name = "Guild", channelId, roles = [], members = {} }) {
      world.guilds.set(id, { id, name, roles, members: new Map(Object.entries(members)) });
      world.channels.set(channelId, { id: channelId, type: channelType.text, guildId: id, name: "general" });
    },
    addChannel: (channel) => void world.channels.set(channel.id, channel),
    deleteChannel: (channelId) => void world.channels.delete(channelId),
    directWith: (userId) => world.direct(userId),
    interact(channelId, userId, doing) {
      const interaction = interactions.begin(channelId, userId, doing);
      interaction.sequence = tell(interaction);
      return interaction;
    },
    tellAgain: (interaction) => tell(interaction),
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
    vote: (messageId, counts) => void messages.votes.set(messageId, counts),
  };
}

/** Returns the first events of a session. */
function readyOf(world: World, applicationId: string, now: number) {
  return {
    data: {
      user: userPayload(world.bot),
      guilds: [...world.guilds.keys()].map((id) => ({ id, unavailable: true })),
      application: { id: applicationId, flags: 0 },
      shard: [0, 1],
    },
    guilds: [...world.guilds.values()].map((guild) => guildPayload(guild, world.channels.values(), now)),
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
