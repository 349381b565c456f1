import { setTimeout as delay } from "node:timers/promises";
import { isRaw, type Raw } from "../raw.ts";
import type { ChatMessage, FakeMessages } from "./database.ts";
import { chatPayload, messagePayload } from "./imsg-payloads.ts";

/** A simulated failure of the next calls of `method`. */
export interface ImsgFault {
  /**
   * - `error`: responds with `code` and `message` without an effect.
   * - `cut`: carries out the call and ends the process, as a broken ssh connection does.
   * - `hang`: carries out the call and never responds.
   * - `no_guid`: responds without the id of the message.
   */
  readonly kind: "error" | "cut" | "hang" | "no_guid";
  readonly code?: number;
  readonly message?: string;
  readonly data?: Raw;
  /** Default: `send`. */
  readonly method?: string;
  /** Number of calls. Default: 1. */
  readonly times?: number;
}

export interface ImsgSettings {
  /** True if the bridge runs, which replies and tapbacks need. */
  readonly hasBridge: boolean;
  /** True if the program may read the database. */
  readonly hasDiskAccess: () => boolean;
  /** True if the program may control Messages. */
  readonly hasAutomation: () => boolean;
  /** Time until a sent message appears in the database, in milliseconds. */
  readonly rowDelayMs: () => number;
  /** Maximum number of messages that wait for a subscriber. */
  readonly bufferLimit: number;
  readonly takeFault: (method: string) => ImsgFault | undefined;
  /** Returns a file that was written to the Mac. */
  readonly readFile: (path: string) => Uint8Array | undefined;
}

/** An error response. */
class RpcError extends Error {
  readonly code: number;
  readonly data: Raw | undefined;

  constructor(code: number, message: string, data?: Raw) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

const TARGETS = ["to", "chat_id", "chat_identifier", "chat_guid"];
/** Unknown parameters are refused since 0.14. Source: `docs/rpc.md` of imsg. */
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  status: [],
  "chats.list": ["limit", "unread_only"],
  "messages.history": ["chat_id", "limit", "participants", "start", "end", "attachments"],
  "watch.subscribe": [
    "chat_id",
    "since_rowid",
    "attachments",
    "include_reactions",
    "debounce_ms",
    "buffer_limit",
  ],
  "watch.unsubscribe": ["subscription"],
  send: [...TARGETS, "text", "file", "service", "region", "reply_to", "allow_sms_fallback"],
  tapback: [...TARGETS, "message_guid", "kind", "emoji", "remove", "part_index"],
};
const KINDS = ["love", "like", "dislike", "laugh", "emphasis", "question"];

/** One process `imsg rpc`. */
export class ImsgSession {
  readonly #messages: FakeMessages;
  readonly #settings: ImsgSettings;
  readonly #write: (line: string) => void;
  readonly #end: () => void;
  readonly #subscriptions = new Map<number, () => void>();
  #lastSubscription = 0;

  constructor(
    messages: FakeMessages,
    settings: ImsgSettings,
    output: { write(line: string): void; end(): void },
  ) {
    this.#messages = messages;
    this.#settings = settings;
    this.#write = (line) => output.write(`${line}\n`);
    this.#end = () => output.end();
  }

  get subscriptions(): number {
    return this.#subscriptions.size;
  }

  close(): void {
    for (const end of this.#subscriptions.values()) end();
    this.#subscriptions.clear();
  }

  async handle(line: string): Promise<void> {
    const request: unknown = JSON.parse(line);
    if (!isRaw(request) || request["jsonrpc"] !== "2.0") return;
    const { id, method, params } = request;
    const fault = this.#settings.takeFault(String(method));
    let reply: Raw;
    try {
      if (fault?.kind === "error")
        throw new RpcError(fault.code ?? -32_603, fault.message ?? "internal error", fault.data);
      reply = { result: await this.#run(String(method), isRaw(params) ? params : {}, fault) };
    } catch (error) {
      if (!(error instanceof RpcError)) throw error;
      const { code, message, data } = error;
      reply = { error: { code, message, data } };
    }
    if (fault?.kind === "cut") this.#end();
    else if (fault?.kind !== "hang") this.#write(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
  }

  /** Sends a message in imsg's own format to the subscribers. */
  push(message: Raw): void {
    for (const subscription of this.#subscriptions.keys())
      this.#write(JSON.stringify({ jsonrpc: "2.0", method: "message", params: { subscription, message } }));
  }

  /** Ends all subscriptions, as a full buffer does. */
  overflow(): void {
    for (const [subscription, end] of this.#subscriptions) {
      end();
      const params = { subscription, resume_after_rowid: 0, reason: "buffer_limit_exceeded", terminal: true };
      this.#write(JSON.stringify({ jsonrpc: "2.0", method: "watch.overflow", params }));
    }
    this.#subscriptions.clear();
  }

  async #run(method: string, params: Raw, fault: ImsgFault | undefined): Promise<unknown> {
    const accepted = PARAMETERS[method];
    if (accepted === undefined) throw new RpcError(-32_601, `Method not found: ${method}`);
    const unknown = Object.keys(params).find((name) => !accepted.includes(name));
    if (unknown !== undefined) throw new RpcError(-32_602, `Invalid params: unknown parameter ${unknown}`);
    const { hasBridge, hasDiskAccess } = this.#settings;
    if (method === "status") return { version: "0.15.10", protocol_version: 1, bridge: { ready: hasBridge } };
    if (method === "watch.unsubscribe") return this.#unsubscribe(Number(params["subscription"]));
    if (!hasDiskAccess() && method !== "send") throw new RpcError(-32_002, "Database unavailable");
    switch (method) {
      case "chats.list":
        return {
          chats: this.#messages
            .chats()
            .slice(0, Number(params["limit"] ?? 20))
            .map(chatPayload),
        };
      case "messages.history":
        return this.#history(params);
      case "watch.subscribe":
        return this.#subscribe(params);
      case "send":
        return this.#send(params, fault);
      default:
        return this.#tapback(params);
    }
  }

  #history({ chat_id: chatId, limit, start, end, attachments }: Raw): Raw {
    if (typeof chatId !== "number") throw new RpcError(-32_602, "Invalid params: chat_id is required");
    const guid = this.#messages.chats().find(({ id }) => id === chatId)?.guid;
    const from = start === undefined ? 0 : Date.parse(String(start));
    const to = end === undefined ? Number.POSITIVE_INFINITY : Date.parse(String(end));
    const found = this.#messages.rows
      .filter(
        ({ chatGuid, tapback, at }) => chatGuid === guid && tapback === undefined && at >= from && at <= to,
      )
      .toSorted((a, b) => b.at - a.at || b.rowId - a.rowId)
      .slice(0, Number(limit ?? 50));
    return {
      messages: found.map((message) => messagePayload(this.#messages, message, attachments === true)),
    };
  }

  #subscribe({ since_rowid: since, attachments, include_reactions: reactions }: Raw): Raw {
    const subscription = ++this.#lastSubscription;
    let last = since === undefined || since === 0 ? this.#messages.lastRowId : Number(since);
    const emit = (message: ChatMessage): void => {
      if (message.tapback !== undefined && reactions !== true) return;
      last = Math.max(last, message.rowId);
      const params = { subscription, message: messagePayload(this.#messages, message, attachments === true) };
      this.#write(JSON.stringify({ jsonrpc: "2.0", method: "message", params }));
    };
    // The response is written before the first message.
    setImmediate(() => {
      if (!this.#subscriptions.has(subscription)) return;
      for (const message of this.#messages.rows.filter(({ rowId }) => rowId > last)) emit(message);
    });
    const end = this.#messages.listen(emit);
    this.#subscriptions.set(subscription, end);
    return { subscription, buffer_limit: this.#settings.bufferLimit };
  }

  #unsubscribe(subscription: number): Raw {
    this.#subscriptions.get(subscription)?.();
    this.#subscriptions.delete(subscription);
    return { ok: true };
  }

  async #send(params: Raw, fault: ImsgFault | undefined): Promise<Raw> {
    const chatGuid = this.#findTarget(params);
    const { text, file, reply_to: replyTo } = params;
    if (text === undefined && file === undefined)
      throw new RpcError(-32_602, "Invalid params: text or file is required");
    if (replyTo !== undefined && !this.#settings.hasBridge)
      throw new RpcError(-32_003, "The bridge is not started");
    if (!this.#settings.hasAutomation())
      throw new RpcError(-32_603, "Not authorized to send Apple events to Messages. (-1743)");
    if (!this.#messages.canSend(chatGuid))
      throw new RpcError(-32_602, `Invalid params: recipient not found: ${chatGuid}`);
    const content = {
      text: text === undefined ? undefined : String(text).trim(),
      replyTo: replyTo === undefined ? undefined : String(replyTo),
      attachments: file === undefined ? undefined : [this.#openFile(String(file))],
    };
    const rowDelayMs = this.#settings.rowDelayMs();
    if (rowDelayMs > 0) {
      void delay(rowDelayMs).then(() => this.#messages.send(chatGuid, content));
      return { ok: true };
    }
    const { rowId, guid } = this.#messages.send(chatGuid, content);
    return fault?.kind === "no_guid" ? { ok: true } : { ok: true, id: rowId, guid };
  }

  #openFile(path: string) {
    const content = this.#settings.readFile(path);
    if (content === undefined) throw new RpcError(-32_602, `Invalid params: no such file: ${path}`);
    const name = path.slice(path.lastIndexOf("/") + 1);
    return { guid: crypto.randomUUID(), name, mimeType: "application/octet-stream", content };
  }

  #tapback(params: Raw): Raw {
    const { message_guid: guid, kind, emoji, remove } = params;
    if (!this.#settings.hasBridge) throw new RpcError(-32_003, "The bridge is not started");
    if (kind !== undefined && !KINDS.includes(String(kind)))
      throw new RpcError(-32_602, `Invalid params: kind ${kind}`);
    const chatGuid = this.#findTarget(params);
    if (!this.#messages.rows.some((row) => row.guid === guid))
      throw new RpcError(-32_602, "Invalid params: message not found");
    this.#messages.send(chatGuid, {
      text: "",
      tapback: { guid: String(guid), kind: String(kind ?? emoji), isAdded: remove !== true },
    });
    return { ok: true };
  }

  #findTarget(params: Raw): string {
    const given = TARGETS.filter((name) => params[name] !== undefined);
    if (given.length !== 1) throw new RpcError(-32_602, "Invalid params: exactly one target is required");
    if (params["to"] !== undefined) return `iMessage;-;${params["to"]}`;
    const chat = this.#messages.chats().find(({ id, guid }) => {
      const identifier = guid.split(";")[2];
      return (
        id === params["chat_id"] || guid === params["chat_guid"] || identifier === params["chat_identifier"]
      );
    });
    if (chat === undefined) throw new RpcError(-32_602, "Invalid params: unknown chat");
    return chat.guid;
  }
}
