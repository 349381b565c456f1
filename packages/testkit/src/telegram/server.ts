import type { ServerResponse } from "node:http";
import { Faults, type FaultTarget } from "../faults.ts";
import { type FakeServer, listen, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import { Messages, type TelegramMessage } from "./messages.ts";
import { Methods } from "./methods.ts";
import { readParameters } from "./parameters.ts";
import { refuse, tooMany, write } from "./reply.ts";
import { UpdateQueue } from "./update-queue.ts";
import { type TelegramUser, userObject } from "./updates.ts";

/** A simulated outage. The next calls of methods whose path contains `path` fail. Default: `sendMessage`. */
export interface TelegramFault extends FaultTarget {
  /**
   * - `status`: responds with `status` (default 502) like a proxy, with `body` (default HTML), without an effect.
   * - `refuse`: responds with `status` (default 400) and `description` without an effect.
   * - `rate`: responds with 429, and with `retryAfter` seconds if given.
   * - `cut`: carries out the call and breaks the connection.
   * - `hang`: carries out the call and never responds.
   */
  readonly kind: "status" | "refuse" | "rate" | "cut" | "hang";
  readonly status?: number;
  readonly description?: string;
  readonly body?: string;
  readonly retryAfter?: number;
}

export interface TelegramOptions {
  readonly token: string;
  /** Default: `{ id: 42, firstName: "Signalbox", username: "signalbox_bot" }`. */
  readonly bot?: { readonly id: number; readonly firstName: string; readonly username: string };
  /** True if the bot can be called in chats of which it is not a member. Default: false. */
  readonly guests?: boolean;
  /** People that `getChat` returns. */
  readonly users?: readonly TelegramUser[];
  /** Chats to which the bot may write. Default: every chat. */
  readonly chats?: readonly number[];
  /** Refuse messages over a chat's rate limit. Default: false. */
  readonly flood?: boolean;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
  readonly port?: number;
}

/** A fake Telegram Bot API on a loopback port, with the methods that a chat bot needs. */
export interface FakeTelegram extends FakeServer {
  readonly bot: { readonly id: number; readonly firstName: string; readonly username: string };
  /** Messages that the bot sent, in order, including deleted ones. */
  readonly sent: readonly TelegramMessage[];
  readonly requests: readonly SeenRequest[];
  /** Stores the message of an update that the test delivers without `push` or `post`. */
  take(update: Raw): void;
  /**
   * Queues an update for `getUpdates`, or posts it to the registered webhook until it is accepted. Resolves once the
   * bot confirmed it.
   */
  push(update: Raw): Promise<void>;
  /** Posts an update as Telegram does, with the secret if given. */
  post(url: string, update: unknown, secret?: string): Promise<Response>;
  /** Number of updates that are not confirmed yet. */
  pending(): number;
  /** Adds a file for `getFile`. The announced size defaults to its real one. */
  addFile(
    fileId: string,
    content: Uint8Array,
    options?: { readonly path?: string; readonly announced?: number },
  ): void;
  plant(chatId: number, messageId: number): void;
  /** Sets the number of votes for each answer of a poll, in the order of the answers. */
  vote(messageId: number, counts: readonly number[]): void;
  reactions(chatId: number, messageId: number): readonly string[];
  /** Results of `setMyCommands`: the list for everyone, the lists by language, and the number of calls. */
  readonly commands: {
    readonly list: readonly Raw[];
    readonly byLanguage: ReadonlyMap<string, readonly Raw[]>;
    readonly writes: number;
  };
  /** Answered clicks. */
  readonly answered: readonly string[];
  block(chatId: number): void;
  /** Makes a topic refuse messages. */
  refuseTopic(chatId: number, topicId: number, how: "closed" | "deleted"): void;
  /** Turns a group into a supergroup. Calls with its former id are refused. */
  migrate(chatId: number, supergroupId: number): void;
  fail(fault: TelegramFault): void;
  heal(): void;
  /** Revokes the token. */
  revoke(): void;
  /** The token is accepted again. */
  restore(): void;
  /** Simulates another program that polls: the open request for updates ends with a conflict. */
  conflict(): void;
}

/** Starts the fake server. */
export async function startTelegram(options: TelegramOptions): Promise<FakeTelegram> {
  const now = options.now ?? Date.now;
  const bot = options.bot ?? { id: 42, firstName: "Signalbox", username: "signalbox_bot" };
  const me = {
    ...userObject({ ...bot, isBot: true }),
    can_join_groups: true,
    supports_guest_queries: options.guests ?? false,
    can_read_all_group_messages: false,
  };
  const blocked = new Set<string>();
  const refusedTopics = new Map<string, "closed" | "deleted">();
  const migrated = new Map<string, number>();
  const faults = new Faults<TelegramFault>("sendMessage");
  const requests: SeenRequest[] = [];
  const chats = options.chats === undefined ? undefined : new Set(options.chats.map(String));
  const messages = new Messages({
    chats,
    blocked,
    refusedTopics,
    migrated,
    flood: options.flood ?? false,
    now,
    bot: me,
  });
  const updates = new UpdateQueue(now);
  const methods = new Methods({ me, messages, updates, users: options.users });
  let isRevoked = false;

  const server = await listen(async (seen, response) => {
    requests.push(seen);
    const path = decodeURIComponent(new URL(seen.path, "http://fake").pathname);
    const [, kind, token, rest = ""] = /^\/(?:(file)\/)?bot([^/]+)\/(.+)$/.exec(path) ?? [];
    if (token === undefined) return write(response, refuse(404, "Not Found"));
    if (token !== options.token || isRevoked) return write(response, refuse(401, "Unauthorized"));
    const fault = faults.take(seen.method, path);
    if (fault !== undefined && fault.kind !== "cut" && fault.kind !== "hang")
      return answerFault(response, fault);
    if (kind === "file") return giveFile(methods, rest, response);
    const reply = await methods.call(rest, readParameters(seen));
    if (fault?.kind === "cut") return void response.destroy();
    if (fault?.kind !== "hang") write(response, reply);
  }, options.port ?? 0);

  return {
    ...server,
    bot,
    requests,
    commands: methods.commands,
    answered: methods.answered,
    vote: (messageId, counts) => void messages.votes.set(messageId, counts),
    get sent() {
      return messages.all.filter(({ fromBot }) => fromBot);
    },
    take: (update) => remember(messages, update),
    push: (update) => {
      remember(messages, update);
      return updates.push(update);
    },
    post: (url, update, secret) => {
      if (isRaw(update)) remember(messages, update);
      return fetch(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          "x-telegram-bot-api-secret-token": secret,
        },
        body: JSON.stringify(update),
      });
    },
    pending: () => updates.pending(),
    addFile: (fileId, content, { path = `documents/${fileId}`, announced = content.byteLength } = {}) =>
      void methods.files.set(fileId, { path, content, size: announced }),
    plant: (chatId, messageId) => messages.plant(chatId, messageId),
    reactions: (chatId, messageId) => messages.reactions.get(`${chatId}:${messageId}`) ?? [],
    block: (chatId) => void blocked.add(String(chatId)),
    refuseTopic: (chatId, topicId, how) => void refusedTopics.set(`${chatId}/${topicId}`, how),
    migrate: (chatId, supergroupId) => void migrated.set(String(chatId), supergroupId),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    revoke: () => {
      isRevoked = true;
    },
    restore: () => {
      isRevoked = false;
    },
    conflict: () => updates.conflict(),
    stop: async () => {
      updates.stop();
      await server.stop();
    },
  };
}

function giveFile({ files }: Methods, path: string, response: ServerResponse): void {
  const file = [...files.values()].find((one) => one.path === path);
  response.writeHead(file === undefined ? 404 : 200, { "content-type": "application/octet-stream" });
  response.end(file?.content);
}

function answerFault(
  response: ServerResponse,
  { kind, status, description, body, retryAfter }: TelegramFault,
): void {
  if (kind === "rate") write(response, tooMany(retryAfter));
  else if (kind === "refuse")
    write(response, refuse(status ?? 400, description ?? "Bad Request: scripted refusal"));
  else
    response
      .writeHead(status ?? 502, { "content-type": body === undefined ? "text/html" : "application/json" })
      .end(body ?? "<html>Bad Gateway</html>");
}

/** Stores the message of an update, so that it can be replied to. */
function remember(messages: Messages, update: Raw): void {
  const { message } = update;
  const chat = isRaw(message) ? message["chat"] : undefined;
  if (!isRaw(message) || !isRaw(chat)) return;
  const { message_id: messageId } = message;
  const { id } = chat;
  if (typeof messageId === "number" && typeof id === "number" && messages.find(id, messageId) === undefined)
    messages.plant(id, messageId, readTopic(message));
}

function readTopic({ message_thread_id: id, is_topic_message: isInTopic }: Raw): number | undefined {
  return isInTopic === true && typeof id === "number" ? id : undefined;
}
