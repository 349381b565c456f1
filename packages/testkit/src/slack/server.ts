import type { ServerResponse } from "node:http";
import { listen, type SeenRequest, type StandIn } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import type { SlackDelivery } from "./events.ts";
import { answerOf, Faults, type SlackFault } from "./faults.ts";
import { Files, formOf, type SlackFile } from "./files.ts";
import { Messages, type PlantedMessage, type SlackMessage } from "./messages.ts";
import { type PushOptions, push } from "./push.ts";
import { type ApiReply, ok, rateLimited, readArguments, refuse, textOf } from "./reply.ts";
import { type SocketPush, type Sockets, startSockets } from "./sockets.ts";
import { Tiers } from "./tiers.ts";
import { type SlackView, Views } from "./views.ts";

type ChannelKind = "im" | "mpim" | "channel" | "group";

const ALL_SCOPES =
  "app_mentions:read assistant:write channels:history channels:read chat:write commands files:read files:write groups:history groups:read im:history im:read im:write mpim:history mpim:read reactions:read reactions:write users:read".split(
    " ",
  );

export interface SlackOptions {
  readonly botToken: string;
  /** With it the app may open sockets. */
  readonly appToken?: string;
  /** What `postEvent` signs with. */
  readonly signingSecret?: string;
  readonly bot?: { readonly userId: string; readonly botId: string; readonly name: string };
  /** The workspace, and the organisation it belongs to. Default `T_TEAM`, and none. */
  readonly team?: { readonly id: string; readonly enterpriseId?: string };
  /** People, by id. */
  readonly users?: Readonly<Record<string, { readonly name: string }>>;
  /** Conversations that are not what their first letter says (`D` direct, others channels). */
  readonly channels?: Readonly<Record<string, ChannelKind>>;
  /** Conversations that the bot is not in. */
  readonly strange?: readonly string[];
  /** What the token may do. Default: everything. */
  readonly scopes?: readonly string[];
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

/** The scope that each method asks for. */
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

export async function startSlack(options: SlackOptions): Promise<SlackStandIn> {
  const { now = Date.now, limitedHistory = false, streamMs = 300_000, scopes } = options;
  const bot = options.bot ?? { userId: "U_BOT", botId: "B_BOT", name: "signalbox" };
  const team = options.team ?? { id: "T_TEAM" };
  const faults = new Faults();
  const tiers = options.tiers === true ? new Tiers(now, limitedHistory) : undefined;
  const requests: SeenRequest[] = [];
  const called: string[] = [];
  const reactions = new Map<string, Set<string>>();
  const statuses = new Map<string, string>();
  let isRevoked = false;
  let url = "";

  const kindOf = (channel: string): ChannelKind | undefined => {
    if (options.strange?.includes(channel) === true || !/^[CDG]/.test(channel)) return undefined;
    return options.channels?.[channel] ?? (channel.startsWith("D") ? "im" : "channel");
  };
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

  /** What is handed to the app has happened: its message is there, and its trigger is good. */
  function take(delivery: SlackDelivery): void {
    remember(messages, delivery);
    const trigger = textOf(delivery.body, "trigger_id");
    if (trigger !== undefined) views.handOut(trigger);
  }

  function react(args: Raw, isAdded: boolean): ApiReply {
    const [channel = "", ts = ""] = [textOf(args, "channel"), textOf(args, "timestamp")];
    const name = textOf(args, "name");
    if (messages.find(channel, ts) === undefined) return refuse("message_not_found");
    if (name === undefined || !/^[a-z0-9_+'-]+(::skin-tone-\d)?$/.test(name)) return refuse("invalid_name");
    const names = reactions.get(ts) ?? new Set();
    reactions.set(ts, names);
    if (isAdded === names.has(name)) return refuse(isAdded ? "already_reacted" : "no_reaction");
    if (isAdded) names.add(name);
    else names.delete(name);
    return ok();
  }

  function setStatus(args: Raw): ApiReply {
    const thread = textOf(args, "thread_ts");
    if (thread === undefined || kindOf(textOf(args, "channel_id") ?? "") === undefined)
      return refuse("invalid_thread_ts");
    statuses.set(thread, textOf(args, "status") ?? "");
    return ok();
  }

  const methods: Readonly<Record<string, (args: Raw) => ApiReply>> = {
    "auth.test": () => ({
      headers: { "x-oauth-scopes": (scopes ?? ALL_SCOPES).join(",") },
      ...ok({
        url: "https://team.slack.com/",
        team: "team",
        user: bot.name,
        team_id: team.id,
        user_id: bot.userId,
        bot_id: bot.botId,
        ...(team.enterpriseId === undefined ? {} : { enterprise_id: team.enterpriseId }),
        is_enterprise_install: false,
      }),
    }),
    "apps.connections.open": () => ok({ url: sockets.address() }),
    "chat.postMessage": (args) => messages.post(args),
    "chat.update": (args) => messages.update(args),
    "chat.delete": (args) => messages.remove(args),
    "chat.startStream": (args) => messages.startStream(args),
    "chat.appendStream": (args) => messages.appendStream(args),
    "chat.stopStream": (args) => messages.stopStream(args),
    "conversations.history": (args) => messages.history(args),
    "conversations.replies": (args) => messages.replies(args),
    "conversations.info": (args) => {
      const id = textOf(args, "channel") ?? "";
      const kind = kindOf(id);
      if (kind === undefined) return refuse("channel_not_found");
      return ok({
        channel: { id, is_im: kind === "im", is_mpim: kind === "mpim", is_private: kind !== "channel" },
      });
    },
    "conversations.open": (args) => {
      const user = textOf(args, "users");
      return user === undefined || !user.startsWith("U")
        ? refuse("user_not_found")
        : ok({ channel: { id: user === "U_SENDER" ? "D_DIRECT" : `D${user}` } });
    },
    "users.info": (args) => {
      const id = textOf(args, "user") ?? "";
      const user = options.users?.[id];
      return user === undefined
        ? refuse("user_not_found")
        : ok({
            user: { id, name: id.toLowerCase(), profile: { display_name: user.name, real_name: user.name } },
          });
    },
    "views.open": (args) => views.open(args),
    "reactions.add": (args) => react(args, true),
    "reactions.remove": (args) => react(args, false),
    "assistant.threads.setStatus": setStatus,
    "files.getUploadURLExternal": (args) => files.uploadAddress(args),
    "files.completeUploadExternal": (args) => files.complete(args),
    "files.info": (args) => files.info(args),
  };

  function refusedToken(method: string, token: string | undefined): ApiReply | undefined {
    const wanted = method === "apps.connections.open" ? options.appToken : options.botToken;
    if (token === undefined) return refuse("not_authed");
    if (isRevoked || token !== wanted) return refuse("invalid_auth");
    const needed = scopes === undefined ? undefined : scopeOf[method];
    if (needed === undefined || needed.some((scope) => scopes?.includes(scope))) return undefined;
    return refuse("missing_scope", { needed: needed.join(","), provided: scopes?.join(",") });
  }

  function call(method: string, args: Raw, token: string | undefined): ApiReply {
    const run = methods[method];
    if (run === undefined) return refuse("unknown_method");
    const refused = refusedToken(method, token);
    if (refused !== undefined) return refused;
    const wait = tiers?.take(method, textOf(args, "channel")) ?? 0;
    return wait > 0 ? rateLimited(wait) : run(args);
  }

  async function answer(seen: SeenRequest, method: string | undefined): Promise<ApiReply> {
    const { pathname } = new URL(seen.path, "http://standin");
    const type = String(seen.headers["content-type"] ?? "");
    const token = /^Bearer (.+)$/.exec(String(seen.headers["authorization"] ?? ""))?.[1];
    if (method !== undefined) return call(method, readArguments(seen.text, type), token);
    const upload = /^\/upload\/v1\/(\w+)$/.exec(pathname)?.[1];
    if (upload !== undefined) return files.upload(upload, await formOf(seen.bytes, type));
    return files.download(pathname, token === options.botToken && !isRevoked);
  }

  const server = await listen(async (seen, response) => {
    requests.push(seen);
    const method = /^\/api\/([\w.]+)/.exec(seen.path)?.[1];
    if (method !== undefined) called.push(method);
    const fault = faults.take(method ?? seen.path);
    const failed = answerOf(fault);
    if (failed !== undefined) return write(response, failed);
    const reply = await answer(seen, method);
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
    reactions: (ts) => [...(reactions.get(ts) ?? [])],
    status: (threadTs) => statuses.get(threadTs),
    plant: (message) => messages.plant(message),
    addFile: (file) => files.add(file),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    revoke: () => {
      isRevoked = true;
    },
    views: views.all,
    take: (delivery) => take(delivery),
    postEvent(to, delivery, given = {}) {
      take(delivery);
      return fetch(to, push(delivery, { signingSecret: options.signingSecret ?? "", ...given }));
    },
    pushEvent(delivery, given) {
      take(delivery);
      return sockets.push(delivery, given);
    },
    sockets,
    async stop() {
      await sockets.stop();
      await server.stop();
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
    ...(threadTs === undefined ? {} : { threadTs }),
    ...(botId === undefined ? {} : { botId }),
    ...(clientMsgId === undefined ? {} : { clientMsgId }),
  });
}
