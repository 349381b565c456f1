import type { ServerResponse } from "node:http";
import { listen, type SeenRequest, type StandIn } from "../http.ts";
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
  /** What `postEvent` signs with. */
  readonly signingSecret?: string;
  readonly bot?: { readonly userId: string; readonly botId: string; readonly name: string };
  /** Conversations that are not what their first letter says (`D` direct, others channels). */
  readonly channels?: Readonly<Record<string, ChannelKind>>;
  /** Conversations that the bot is not in. */
  readonly strange?: readonly string[];
  /** Keep to the rates of Slack's tiers. Default false. */
  readonly tiers?: boolean;
  /** The app is given to others outside the marketplace: it may read history once a minute, 15 messages. */
  readonly limitedHistory?: boolean;
  /** How long a stream lives in milliseconds. Default five minutes, however much is appended. */
  readonly streamMs?: number;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** Slack's Web API, socket mode and signed requests, on loopback ports. */
export interface SlackStandIn extends StandIn {
  /** What to give as the address of the API. */
  readonly apiUrl: string;
  readonly bot: { readonly userId: string; readonly botId: string; readonly name: string };
  /** What the bot sent, in order, also what it deleted since. */
  readonly sent: readonly SlackMessage[];
  readonly files: readonly SlackFile[];
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** The methods that were called, in order. */
  readonly called: readonly string[];
  /** Reactions of the bot on a message. */
  reactions(ts: string): readonly string[];
  /** What the bot says it is doing in a thread. */
  status(threadTs: string): string | undefined;
  /** Puts a message there without telling the app. Gives its timestamp. */
  plant(message: PlantedMessage): string;
  /** A file that somebody shared. Gives what messages say of it. */
  addFile(file: Omit<SlackFile, "share">): Raw;
  fail(fault: SlackFault): void;
  /** Nothing goes wrong any more. */
  heal(): void;
  /** From now on both tokens are refused. */
  revoke(): void;
  /** The tokens are accepted again. */
  restore(): void;
  /** The forms that were opened, in order. */
  readonly views: readonly SlackView[];
  /** Remembers what a delivery is about, for whoever hands it over without `postEvent` or `pushEvent`. */
  take(delivery: SlackDelivery): void;
  /** Posts a delivery as Slack would, signed. Remembers its message. */
  postEvent(url: string, delivery: SlackDelivery, options?: Partial<PushOptions>): Promise<Response>;
  /** Hands a delivery over a socket; resolves with whether it was acknowledged. Remembers its message. */
  pushEvent(delivery: SlackDelivery, options?: SocketPush): Promise<boolean>;
  readonly sockets: Pick<Sockets, "count" | "send" | "refresh" | "drop" | "freeze">;
}

export async function startSlack(options: SlackOptions): Promise<SlackStandIn> {
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
): Pick<SlackStandIn, "take" | "postEvent" | "pushEvent"> {
  /** What is handed to the app has happened: its message is there, and its trigger is good. */
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

/** A message that is pushed exists from then on: history has it, and it can be reacted to. */
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
    ...(threadTs === undefined ? {} : { threadTs }),
    ...(botId === undefined ? {} : { botId }),
    ...(clientMsgId === undefined ? {} : { clientMsgId }),
  });
}

function objectsAt(event: Raw, key: string): readonly Raw[] | undefined {
  const value = event[key];
  return Array.isArray(value) ? value.filter(isRaw) : undefined;
}
