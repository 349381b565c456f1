import type { ServerResponse } from "node:http";
import { type FakeServer, listen, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import { Api, type ApiOptions, type ChannelKind } from "./api.ts";
import type { SlackDelivery } from "./events.ts";
import { answerOf, Faults, type SlackFault } from "./faults.ts";
import { Files, type SlackFile } from "./files.ts";
import { Messages, type PlantedMessage, type SlackMessage } from "./messages.ts";
import { type PushOptions, push } from "./push.ts";
import { type ApiReply, textOf } from "./reply.ts";
import { type SocketPush, type Sockets, startSockets } from "./sockets.ts";
import { Tiers } from "./tiers.ts";
import { type SlackView, Views } from "./views.ts";

export interface SlackOptions extends ApiOptions {
  /** Secret with which `postEvent` signs. */
  readonly signingSecret?: string;
  readonly bot?: { readonly userId: string; readonly botId: string; readonly name: string };
  /** Kinds of conversations that differ from their first letter (`D` for direct, others for channels). */
  readonly channels?: Readonly<Record<string, ChannelKind>>;
  /** Conversations without the bot. */
  readonly strange?: readonly string[];
  /** Enforce the rates of Slack's tiers. Default: false. */
  readonly tiers?: boolean;
  /** True for an app that is distributed outside the marketplace. It may read 15 messages of history once a minute. */
  readonly limitedHistory?: boolean;
  /** Lifetime of a stream in milliseconds, independent of appends. Default: five minutes. */
  readonly streamMs?: number;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** A fake Slack on loopback ports: Web API, socket mode and signed requests. */
export interface FakeSlack extends FakeServer {
  /** Base URL of the API. */
  readonly apiUrl: string;
  readonly bot: { readonly userId: string; readonly botId: string; readonly name: string };
  /** Messages that the bot sent, in order, including deleted ones. */
  readonly sent: readonly SlackMessage[];
  readonly files: readonly SlackFile[];
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** Called methods, in order. */
  readonly called: readonly string[];
  /** Returns the bot's reactions to a message. */
  reactions(ts: string): readonly string[];
  /** Returns the bot's status text in a thread. */
  status(threadTs: string): string | undefined;
  /** Adds a message without an event. Returns its timestamp. */
  plant(message: PlantedMessage): string;
  /** Adds a file from a person. Returns the object that messages contain. */
  addFile(file: Omit<SlackFile, "share">): Raw;
  fail(fault: SlackFault): void;
  /** Removes all faults. */
  heal(): void;
  /** Revokes both tokens. */
  revoke(): void;
  /** The tokens are accepted again. */
  restore(): void;
  /** Opened forms, in order. */
  readonly views: readonly SlackView[];
  /** Stores the message of a delivery that the test delivers without `postEvent` or `pushEvent`. */
  take(delivery: SlackDelivery): void;
  /** Posts a signed delivery as Slack does. Stores its message. */
  postEvent(url: string, delivery: SlackDelivery, options?: Partial<PushOptions>): Promise<Response>;
  /** Sends a delivery over a socket. Resolves with true if it was acknowledged. Stores its message. */
  pushEvent(delivery: SlackDelivery, options?: SocketPush): Promise<boolean>;
  readonly sockets: Pick<Sockets, "count" | "send" | "refresh" | "drop" | "freeze">;
}

export async function startSlack(options: SlackOptions): Promise<FakeSlack> {
  const { now = Date.now, limitedHistory = false, streamMs = 300_000 } = options;
  const bot = options.bot ?? { userId: "U_BOT", botId: "B_BOT", name: "signalbox" };
  const faults = new Faults();
  const tiers = options.tiers === true ? new Tiers(now, limitedHistory) : undefined;
  const requests: SeenRequest[] = [];
  const called: string[] = [];
  let url = "";

  const kindOf = (channel: string) => kindOfChannel(options, channel);
  const messages = new Messages({
    now,
    bot,
    streamMs,
    limited: limitedHistory,
    isDirect: (channel) => {
      const kind = kindOf(channel);
      return kind === undefined ? undefined : kind === "im";
    },
  });
  const files = new Files({
    url: () => url,
    share(file, channel, threadTs) {
      if (kindOf(channel) === undefined) return "channel_not_found";
      const thread = threadTs === undefined ? {} : { threadTs };
      return {
        ts: messages.plant({ channel, user: bot.userId, botId: bot.botId, files: [file], ...thread }),
      };
    },
  });
  const sockets = await startSockets();
  const views = new Views(now);
  const api = new Api(options, { bot, kindOf, messages, files, sockets, views, tiers });

  const server = await listen(async (seen, response) => {
    requests.push(seen);
    const method = /^\/api\/([\w.]+)/.exec(seen.path)?.[1];
    if (method !== undefined) called.push(method);
    const fault = faults.take(method ?? seen.path);
    const failed = answerOf(fault);
    if (failed !== undefined) return write(response, failed);
    const reply = await api.answer(seen, method);
    if (fault?.kind === "hold") await fault.until;
    if (fault?.kind === "hang") return;
    if (fault?.kind === "cut") return void response.destroy();
    write(response, reply);
  });
  url = server.url;

  return {
    ...server,
    apiUrl: `${server.url}/api/`,
    bot,
    requests,
    called,
    get sent() {
      return messages.all.filter(({ botId }) => botId === bot.botId);
    },
    get files() {
      return files.all;
    },
    reactions: (ts) => [...(api.reactions.get(ts) ?? [])],
    status: (threadTs) => api.statuses.get(threadTs),
    plant: (message) => messages.plant(message),
    addFile: (file) => files.add(file),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    revoke: () => {
      api.isRevoked = true;
    },
    restore: () => {
      api.isRevoked = false;
    },
    views: views.all,
    ...deliveries(messages, views, sockets, options.signingSecret),
    sockets,
    async stop() {
      await sockets.stop();
      await server.stop();
    },
  };
}

function kindOfChannel({ strange, channels }: SlackOptions, channel: string): ChannelKind | undefined {
  if (strange?.includes(channel) === true || !/^[CDG]/.test(channel)) return undefined;
  return channels?.[channel] ?? (channel.startsWith("D") ? "im" : "channel");
}

function deliveries(
  messages: Messages,
  views: Views,
  sockets: Sockets,
  signingSecret = "",
): Pick<FakeSlack, "take" | "postEvent" | "pushEvent"> {
  /** Stores the message of a delivery and makes its trigger valid. */
  function take(delivery: SlackDelivery): void {
    remember(messages, delivery);
    const trigger = textOf(delivery.body, "trigger_id");
    if (trigger !== undefined) views.handOut(trigger);
  }

  return {
    take,
    postEvent(to, delivery, given = {}) {
      take(delivery);
      return fetch(to, push(delivery, { signingSecret, ...given }));
    },
    pushEvent(delivery, given) {
      take(delivery);
      return sockets.push(delivery, given);
    },
  };
}

function write(response: ServerResponse, reply: ApiReply): void {
  response.writeHead(reply.status, { "content-type": "application/json; charset=utf-8", ...reply.headers });
  response.end(reply.bytes ?? (typeof reply.body === "string" ? reply.body : JSON.stringify(reply.body)));
}

/** Stores the message of a delivery, so that history contains it and it can get reactions. */
function remember(messages: Messages, { body }: SlackDelivery): void {
  const event = isRaw(body["event"]) ? body["event"] : {};
  const [channel, ts] = [textOf(event, "channel"), textOf(event, "ts")];
  const isMessage = event["type"] === "message" && event["hidden"] !== true;
  if (!isMessage || channel === undefined || ts === undefined || messages.find(channel, ts) !== undefined)
    return;
  const threadTs = textOf(event, "thread_ts");
  const botId = textOf(event, "bot_id");
  const clientMsgId = textOf(event, "client_msg_id");
  messages.plant({
    channel,
    ts,
    text: textOf(event, "text") ?? "",
    user: textOf(event, "user") ?? "",
    blocks: objectsAt(event, "blocks"),
    attachments: objectsAt(event, "attachments"),
    files: objectsAt(event, "files"),
    threadTs,
    botId,
    clientMsgId,
  });
}

function objectsAt(event: Raw, key: string): readonly Raw[] | undefined {
  const value = event[key];
  return Array.isArray(value) ? value.filter(isRaw) : undefined;
}
