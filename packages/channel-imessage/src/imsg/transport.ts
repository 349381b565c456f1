import {
  type AccountCheck,
  type ChannelContext,
  ChannelError,
  isChannelError,
  isPayload,
  type JsonRpc,
  objectsAt,
  type Payload,
  reasonOf,
  superviseJsonRpc,
  textAt,
} from "@signalbox/channel";
import { type IMessageAddress, keyOf, parseChatGuid } from "../address.ts";
import type { KnownChats } from "../chats.ts";
import type { IMessageConfig } from "../config.ts";
import { limits } from "../limits.ts";
import { toTapback } from "../outbound/tapbacks.ts";
import type { Reader } from "../reader.ts";
import type { MessageToSend, Transport } from "../transport.ts";
import { readImsgError } from "./errors.ts";
import { readImsgRow } from "./row.ts";
import { MacFiles } from "./shell.ts";
import { Watch } from "./watch.ts";

export interface TransportServices {
  readonly context: ChannelContext<IMessageConfig>;
  readonly reader: Reader;
  readonly chats: KnownChats;
  /** Fires when the account is stopped. */
  readonly stopped: AbortSignal;
}

/** Connects to `imsg rpc`, which runs on this Mac or on another one over ssh. Source: `docs/rpc.md` of imsg. */
export function createImsg(
  { command }: Extract<IMessageConfig, { command: unknown }>,
  { context, reader, chats, stopped }: TransportServices,
): Transport {
  const { clock, logger } = context;
  const files = new MacFiles(command);
  const watch = new Watch({ reader, clock, logger, stopped, findLatest });
  const rpc = superviseJsonRpc({
    name: "iMessage",
    clock,
    logger,
    command,
    notified: (method, params) => watch.notified(method, params),
    opened: (opened, signal) => watch.open(opened, signal),
    readError: readImsgError,
  });

  function read(of: JsonRpc, method: string, params: object, signal: AbortSignal): Promise<Payload> {
    const call = { what: "reading messages", write: false, signal, timeoutMs: limits.requestTimeoutMs };
    return of
      .call(method, params, call)
      .then((result) => (isPayload(result) ? result : {}))
      .catch(throwRead);
  }

  /** Returns the position of the latest row, as far as the latest messages of the latest chats show it. */
  async function findLatest(of: JsonRpc, signal: AbortSignal): Promise<number> {
    const { chats: list } = await read(of, "chats.list", { limit: limits.latestChats }, signal);
    const ids = objectsAt({ list }, "list").map(({ id }) => id);
    const pages = await Promise.all(
      ids.map((chatId) => read(of, "messages.history", { chat_id: chatId, limit: 5 }, signal)),
    );
    const rows = pages.flatMap((page) => objectsAt(page, "messages")).map(({ id }) => Number(id));
    return Math.max(0, ...rows.filter(Number.isSafeInteger));
  }

  async function findChat(to: IMessageAddress, signal: AbortSignal): Promise<Payload | undefined> {
    const { chats: list } = await read(rpc, "chats.list", { limit: limits.listedChats }, signal);
    return objectsAt({ list }, "list").find((chat) => {
      const address = parseChatGuid(textAt(chat, "guid") ?? "");
      return (address === undefined ? textAt(chat, "identifier") : keyOf(address)) === keyOf(to);
    });
  }

  /** Returns the fields that name a conversation. imsg finds the chat of a person itself. */
  async function createTarget(to: IMessageAddress, signal: AbortSignal): Promise<object> {
    if ("person" in to) return { to: to.person };
    const known = chats.guidOf(to);
    if (known !== undefined) return { chat_guid: known };
    const chat = await findChat(to, signal);
    const chatGuid = chat && textAt(chat, "guid");
    if (chat !== undefined && chatGuid !== undefined) chats.note({ chat: to, chatGuid });
    return chatGuid === undefined ? { chat_identifier: to.group } : { chat_guid: chatGuid };
  }

  async function send(content: object, { to, replyTo, signal }: MessageToSend, timeoutMs: number) {
    const target = await createTarget(to, signal);
    const reply = replyTo === undefined ? {} : { reply_to: replyTo };
    const call = { what: "sending a message", write: true, signal, timeoutMs };
    const result = await rpc.call("send", { ...target, ...content, ...reply }, call);
    return isPayload(result) ? textAt(result, "guid") : undefined;
  }

  return {
    start: (signal) => rpc.start(signal),
    stop: () => rpc.stop(),
    health: () => rpc.health(),
    sendText: (text, message) => send({ text }, message, limits.sendTimeoutMs),
    async sendFile({ name }, bytes, message) {
      const path = await files.write(name, bytes, message.signal);
      try {
        return await send({ file: path }, message, limits.uploadTimeoutMs);
      } finally {
        await files.remove(path, stopped);
      }
    },
    async findSent(to, since, signal) {
      const chat = await findChat(to, signal);
      if (chat === undefined) return undefined;
      const { messages } = await read(
        rpc,
        "messages.history",
        {
          chat_id: chat["id"],
          limit: limits.searchedMessages,
          start: new Date(since).toISOString(),
          attachments: true,
        },
        signal,
      );
      return objectsAt({ messages }, "messages")
        .flatMap((message) => readImsgRow(message) ?? [])
        .filter(({ isFromMe, at }) => isFromMe && at >= since);
    },
    async react(to, guid, { emoji, on }, signal) {
      const kind = toTapback(emoji);
      const chat = await findChat(to, signal);
      if (chat === undefined)
        throw new ChannelError("not_found", "iMessage: the conversation does not exist");
      const reaction = kind === undefined ? { emoji } : { kind };
      const params = { chat_guid: textAt(chat, "guid"), message_guid: guid, ...reaction, remove: !on };
      const call = { what: "reacting to a message", write: false, signal };
      await rpc.call("tapback", params, call).catch(throwRead);
    },
    async open(ref, signal) {
      const path = isPayload(ref) ? textAt(ref, "path") : undefined;
      if (path === undefined)
        throw new ChannelError("invalid", "iMessage: not an attachment that is on the Mac");
      const file = await files.open(path, signal);
      const mimeType = isPayload(ref) ? textAt(ref, "mimeType") : undefined;
      if (mimeType !== undefined) file.headers.set("content-type", mimeType);
      return file;
    },
    async checks(signal) {
      return [await checkDatabase(() => findLatest(rpc, signal)), ...(await checkBridge(rpc, signal))];
    },
  };
}

/** The outcome of a call without visible effects does not matter. */
function throwRead(error: unknown): never {
  if (!isChannelError(error) || error.code !== "unknown_outcome") throw error;
  throw new ChannelError("transient", error.message, {
    scope: error.scope,
    platformCode: error.platformCode,
  });
}

async function checkDatabase(read: () => Promise<number>): Promise<AccountCheck> {
  try {
    await read();
    return { about: "database", ok: true, detail: "imsg reads the database of Messages" };
  } catch (error) {
    const remedy =
      "Grant Full Disk Access to the program that starts imsg; over ssh, to sshd-keygen-wrapper.";
    return { about: "database", ok: false, detail: reasonOf(error), remedy };
  }
}

/** Replies and reactions need the bridge. Versions before 0.14 do not report it. */
async function checkBridge(rpc: JsonRpc, signal: AbortSignal): Promise<readonly AccountCheck[]> {
  const call = { what: "requesting the status", write: false, signal };
  const status = await rpc.call("status", {}, call).catch(() => undefined);
  if (!isPayload(status)) {
    const remedy = "Update imsg to 0.14 or newer.";
    return [{ about: "imsg", ok: false, detail: "this version of imsg does not report its status", remedy }];
  }
  const version: AccountCheck = {
    about: "imsg",
    ok: true,
    detail: `imsg ${textAt(status, "version") ?? "unknown"}`,
  };
  const { bridge } = status;
  if (isPayload(bridge) && bridge["ready"] === true)
    return [version, { about: "bridge", ok: true, detail: "replies and reactions are available" }];
  return [version, { about: "bridge", ok: true, detail: "not started: quotes and reactions are not sent" }];
}
