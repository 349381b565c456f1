import {
  type AccountCheck,
  ChannelError,
  type Connection,
  encodePathSegment,
  isPayload,
  objectAt,
  objectsAt,
  type Payload,
  superviseConnection,
  textAt,
  timeAt,
} from "@signalbox/channel";
import { type IMessageAddress, keyOf, parseChatGuid } from "../address.ts";
import type { IMessageConfig } from "../config.ts";
import type { TransportServices } from "../imsg/transport.ts";
import { limits } from "../limits.ts";
import { toTapback } from "../outbound/tapbacks.ts";
import type { Row } from "../row.ts";
import type { MessageToSend, Transport } from "../transport.ts";
import { createApi } from "./api.ts";
import { readBlueBubblesRow } from "./row.ts";

/** Connects to a BlueBubbles server. Its webhooks are unsigned and sent once, so the database is queried instead. */
export function createBlueBubbles(
  config: Extract<IMessageConfig, { baseUrl: unknown }>,
  { context, reader, chats, stopped }: TransportServices,
): Transport {
  const { clock, logger } = context;
  const api = createApi(config, context);

  async function query(body: object, signal: AbortSignal): Promise<readonly Payload[]> {
    const filter = { with: ["chat", "attachment"], ...body };
    const request = { what: "reading messages", path: "message/query", body: filter, write: false, signal };
    return objectsAt(await api.json(request), "data");
  }

  /** Returns the position of the row with the latest date. */
  async function findLatest(signal: AbortSignal): Promise<number> {
    const [latest] = await query({ limit: 1, sort: "DESC" }, signal);
    const { originalROWID } = latest ?? {};
    return typeof originalROWID === "number" ? originalROWID : 0;
  }

  /** Returns all rows after a position. The server sorts pages by date, and a row can have an earlier date. */
  async function readAfter(position: number, signal: AbortSignal): Promise<readonly Row[]> {
    const where = [{ statement: "message.ROWID > :position", args: { position } }];
    const rows: Row[] = [];
    for (let offset = 0; ; offset += limits.rowsPerPage) {
      const page = await query({ where, sort: "ASC", limit: limits.rowsPerPage, offset }, signal);
      rows.push(...page.flatMap((message) => readBlueBubblesRow(message) ?? []));
      if (page.length < limits.rowsPerPage) return rows.toSorted((a, b) => a.position - b.position);
    }
  }

  async function open(signal: AbortSignal): Promise<Connection> {
    let position = await reader.begin(await findLatest(signal));
    const life = new AbortController();
    const ended = AbortSignal.any([life.signal, stopped]);
    async function poll(): Promise<void> {
      while (!ended.aborted) {
        for (const row of await readAfter(position, ended)) {
          // The position is stored only up to the last accepted row.
          if (!(await reader.receive(row))) {
            position = await reader.begin(position);
            break;
          }
          position = row.position;
        }
        await clock.delay(limits.pollMs, ended).catch(() => {});
      }
    }
    return { lost: poll(), close: () => life.abort() };
  }

  const connection = superviseConnection({ name: "iMessage", clock, logger, open });

  /** Returns the GUIDs of all chats with an address. A person can have one for each service. */
  async function listChatGuids(to: IMessageAddress, signal: AbortSignal): Promise<readonly string[]> {
    const guids: string[] = [];
    for (let offset = 0; ; offset += limits.chatsPerPage) {
      const body = { limit: limits.chatsPerPage, offset };
      const request = { what: "finding a conversation", path: "chat/query", body, write: false, signal };
      const page = objectsAt(await api.json(request), "data");
      for (const chat of page) {
        const guid = textAt(chat, "guid") ?? "";
        const address = parseChatGuid(guid);
        if (address !== undefined && keyOf(address) === keyOf(to)) guids.push(guid);
      }
      if (page.length < limits.chatsPerPage) return guids;
    }
  }

  /** Returns the time of the latest message of a chat, or 0 if it has none. */
  async function findLatestTime(chatGuid: string, signal: AbortSignal): Promise<number> {
    const [latest] = await query({ chatGuid, limit: 1, sort: "DESC" }, signal);
    return (latest && timeAt(latest, "dateCreated")) ?? 0;
  }

  /**
   * Returns the GUID of the chat with an address; of several, the one with the latest message. Returns `undefined` for
   * an unknown group. The server accepts a person without a chat under the GUID that the chat will get.
   */
  async function findChatGuid(to: IMessageAddress, signal: AbortSignal): Promise<string | undefined> {
    const known = chats.guidOf(to);
    if (known !== undefined) return known;
    const guids = await listChatGuids(to, signal);
    const times =
      guids.length > 1 ? await Promise.all(guids.map((guid) => findLatestTime(guid, signal))) : [0];
    const found = guids[times.indexOf(Math.max(...times))];
    if (found === undefined) return "person" in to ? `iMessage;-;${to.person}` : undefined;
    // A message that was read during the lookup is newer.
    if (chats.guidOf(to) === undefined) chats.note({ chat: to, chatGuid: found });
    return chats.guidOf(to);
  }

  async function getChatGuid(to: IMessageAddress, signal: AbortSignal): Promise<string> {
    const found = await findChatGuid(to, signal);
    if (found === undefined) throw new ChannelError("not_found", "iMessage: the conversation does not exist");
    return found;
  }

  async function send(path: string, body: object, signal: AbortSignal, timeoutMs: number) {
    const request = { what: "sending a message", path, body, signal, timeoutMs };
    return textAt(objectAt(await api.json(request), "data"), "guid");
  }

  return {
    start: (signal) => connection.start(signal),
    stop: () => connection.stop(),
    health: () => connection.health(),
    async sendText(text, { to, key, replyTo, signal }: MessageToSend) {
      const reply = replyTo === undefined ? {} : { selectedMessageGuid: replyTo };
      const chatGuid = await getChatGuid(to, signal);
      const body = { chatGuid, tempGuid: key, message: text, ...reply };
      return send("message/text", body, signal, limits.sendTimeoutMs);
    },
    async sendFile({ name, mimeType }, bytes, { to, key, replyTo, signal }) {
      const form = new FormData();
      form.set("chatGuid", await getChatGuid(to, signal));
      form.set("tempGuid", key);
      form.set("name", name);
      if (replyTo !== undefined) form.set("selectedMessageGuid", replyTo);
      form.set("attachment", new Blob([bytes], { type: mimeType }), name);
      return send("message/attachment", form, signal, limits.uploadTimeoutMs);
    },
    async findSent(to, since, signal) {
      const chatGuid = await findChatGuid(to, signal);
      if (chatGuid === undefined) return undefined;
      const where = [{ statement: "message.is_from_me = :fromMe", args: { fromMe: 1 } }];
      const body = {
        chatGuid,
        after: since,
        where,
        sort: "DESC",
        limit: limits.searchedMessages,
      };
      return (await query(body, signal)).flatMap((message) => readBlueBubblesRow(message) ?? []);
    },
    async react(to, guid, { emoji, on }, signal) {
      const kind = toTapback(emoji);
      if (kind === undefined)
        throw new ChannelError("unsupported", "iMessage: BlueBubbles sends only six reactions");
      const name = kind === "emphasis" ? "emphasize" : kind;
      const reaction = {
        chatGuid: await getChatGuid(to, signal),
        selectedMessageGuid: guid,
        reaction: on ? name : `-${name}`,
      };
      await api.json({
        what: "reacting to a message",
        path: "message/react",
        body: reaction,
        write: false,
        signal,
      });
    },
    async open(ref, signal) {
      const guid = isPayload(ref) ? textAt(ref, "attachment") : undefined;
      if (guid === undefined || !/^[A-Za-z0-9_-]{1,128}$/.test(guid))
        throw new ChannelError("invalid", "iMessage: not an attachment of BlueBubbles");
      const path = `attachment/${encodePathSegment(guid)}/download`;
      const { body, headers } = await api.open({
        what: "fetching an attachment",
        path,
        write: false,
        signal,
      });
      if (body === null) throw new ChannelError("transient", "iMessage: the attachment is empty");
      return { body, headers };
    },
    async checks(signal): Promise<readonly AccountCheck[]> {
      const info = { what: "requesting the status", path: "server/info", signal };
      const { data } = await api.json(info);
      const fields = isPayload(data) ? data : {};
      const version = `BlueBubbles ${textAt(fields, "server_version") ?? "unknown"}`;
      const hasPrivateApi = fields["private_api"] === true && fields["helper_connected"] === true;
      const detail = hasPrivateApi
        ? "replies and reactions are available"
        : "off: quotes and reactions are not sent";
      return [
        { about: "server", ok: true, detail: version },
        { about: "private api", ok: true, detail },
      ];
    },
  };
}
