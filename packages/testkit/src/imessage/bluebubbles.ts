import type { ServerResponse } from "node:http";
import { Faults, type FaultTarget } from "../faults.ts";
import { type FakeServer, formOf, json, listen, parseJson, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import {
  type ChatMessage,
  FakeMessages,
  type FakeMessagesOptions,
  type StoredAttachment,
} from "./database.ts";

/** A simulated outage. The next requests whose path contains `path` fail. Default: `message/text`. */
export interface BlueBubblesFault extends FaultTarget {
  /**
   * - `status`: responds with `status` (default 502) without an effect.
   * - `rate`: a proxy responds with 429, and with `retryAfter` seconds if given.
   * - `cut`: carries out the request and breaks the connection.
   * - `hang`: carries out the request and never responds.
   */
  readonly kind: "status" | "rate" | "cut" | "hang";
  readonly status?: number;
  readonly retryAfter?: number;
}

export interface BlueBubblesOptions extends FakeMessagesOptions {
  readonly password: string;
  readonly messages?: FakeMessages;
  /** True if the private API is connected, which replies and reactions need. Default: true. */
  readonly privateApi?: boolean;
}

/** A fake BlueBubbles server on a loopback port. */
export interface FakeBlueBubbles extends FakeServer {
  readonly messages: FakeMessages;
  readonly requests: readonly SeenRequest[];
  /** Adds a message in the server's own format, with the next row id. */
  addRaw(payload: Raw): number;
  fail(fault: BlueBubblesFault): void;
  heal(): void;
  /** Changes the password. */
  revoke(): void;
}

const REACTIONS = ["love", "like", "dislike", "laugh", "emphasize", "question"];

class ApiError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Starts the fake server. Source: `routers/` and `validators/` of the server. */
export async function startBlueBubbles(options: BlueBubblesOptions): Promise<FakeBlueBubbles> {
  const messages = options.messages ?? new FakeMessages(options);
  const hasPrivateApi = options.privateApi ?? true;
  const faults = new Faults<BlueBubblesFault>("message/text");
  const requests: SeenRequest[] = [];
  const tempGuids = new Set<string>();
  const extra: Raw[] = [];
  let isRevoked = false;

  function query(body: Raw): readonly Raw[] {
    const { where, chatGuid, after, before, sort, offset, limit } = body;
    if (sort !== undefined && sort !== "ASC" && sort !== "DESC") throw new ApiError(400, "sort is invalid");
    if (Number(limit ?? 100) > 1_000) throw new ApiError(400, "limit must be at most 1000");
    const conditions = (Array.isArray(where) ? where : []).map(toCondition);
    const found = messages.rows
      .filter((row) => chatGuid === undefined || row.chatGuid === chatGuid)
      .filter(
        ({ at }) =>
          (after === undefined || at >= Number(after)) && (before === undefined || at <= Number(before)),
      )
      .filter((row) => conditions.every((holds) => holds(row)))
      .toSorted((a, b) => (sort === "ASC" ? a.at - b.at : b.at - a.at));
    const start = Number(offset ?? 0);
    const more =
      conditions.length === 0 ? [] : extra.filter(({ originalROWID }) => isAfter(where, originalROWID));
    return [...found.map(toPayload), ...more].slice(start, start + Number(limit ?? 100));
  }

  function queryChats({ offset, limit }: Raw): readonly Raw[] {
    if (Number(limit ?? 1_000) > 1_000) throw new ApiError(400, "limit must be at most 1000");
    const start = Number(offset ?? 0);
    const chats = messages.chats().toSorted((a, b) => a.id - b.id);
    return chats.slice(start, start + Number(limit ?? 1_000)).map(({ id, guid }) => {
      const [, kind, chatIdentifier] = guid.split(";");
      return { originalROWID: id, guid, style: kind === "+" ? 43 : 45, chatIdentifier, isArchived: false };
    });
  }

  function checkSend(body: Raw): string {
    const { chatGuid, tempGuid, selectedMessageGuid } = body;
    if (typeof chatGuid !== "string") throw new ApiError(400, "The chatGuid field is required.");
    if (selectedMessageGuid === undefined && (typeof tempGuid !== "string" || tempGuid === ""))
      throw new ApiError(400, "A 'tempGuid' is required when sending via AppleScript");
    if (selectedMessageGuid !== undefined && !hasPrivateApi)
      throw new ApiError(500, "iMessage Private API is not enabled!");
    if (tempGuids.has(String(tempGuid)))
      throw new ApiError(400, `Message is already queued to be sent! (Temp GUID: ${tempGuid})`);
    if (!messages.canSend(chatGuid)) throw new ApiError(400, "Chat does not exist!");
    return chatGuid;
  }

  function sendText(body: Raw): Raw {
    const chatGuid = checkSend(body);
    const { message, selectedMessageGuid } = body;
    if (typeof message !== "string" || message === "")
      throw new ApiError(400, "A 'message' is required when sending via AppleScript");
    const replyTo = typeof selectedMessageGuid === "string" ? { replyTo: selectedMessageGuid } : {};
    return toPayload(messages.send(chatGuid, { text: message.trim(), ...replyTo }));
  }

  async function sendAttachment(seen: SeenRequest): Promise<Raw> {
    const form = await formOf(seen);
    const fields = Object.fromEntries([...(form ?? [])].filter(([, value]) => typeof value === "string"));
    const chatGuid = checkSend(fields);
    const file = form?.get("attachment");
    if (!(file instanceof Blob) || file.size === 0)
      throw new ApiError(400, "Attachment not provided or was empty!");
    if (typeof fields["name"] !== "string") throw new ApiError(400, "The name field is required.");
    const attachment: StoredAttachment = {
      guid: crypto.randomUUID(),
      name: fields["name"],
      mimeType: file.type,
      content: new Uint8Array(await file.arrayBuffer()),
    };
    return toPayload(messages.send(chatGuid, { attachments: [attachment] }));
  }

  function react({ chatGuid, selectedMessageGuid, reaction }: Raw): Raw {
    if (!hasPrivateApi) throw new ApiError(500, "iMessage Private API is not enabled!");
    const name = String(reaction).replace(/^-/, "");
    if (!REACTIONS.includes(name)) throw new ApiError(400, "The selected reaction is invalid.");
    if (!messages.rows.some(({ guid }) => guid === selectedMessageGuid))
      throw new ApiError(400, "Selected message does not exist!");
    const kind = name === "emphasize" ? "emphasis" : name;
    const tapback = { guid: String(selectedMessageGuid), kind, isAdded: !String(reaction).startsWith("-") };
    return toPayload(messages.send(String(chatGuid), { text: "", tapback }));
  }

  async function run(path: string, seen: SeenRequest, response: ServerResponse): Promise<unknown> {
    const parsed = parseJson(seen.text);
    const body = isRaw(parsed) ? parsed : {};
    switch (path) {
      case "server/info":
        return { server_version: "1.9.9", private_api: hasPrivateApi, helper_connected: hasPrivateApi };
      case "chat/query":
        return queryChats(body);
      case "message/query":
        return query(body);
      case "message/text":
        return sendText(body);
      case "message/attachment":
        return sendAttachment(seen);
      case "message/react":
        return react(body);
    }
    const [, guid] = /^attachment\/([^/]+)\/download$/.exec(path) ?? [];
    const file = messages.rows.flatMap(({ attachments }) => attachments).find((one) => one.guid === guid);
    if (file === undefined) throw new ApiError(404, "Attachment does not exist!");
    response.writeHead(200, { "content-type": file.mimeType, "content-length": file.content.byteLength });
    response.end(file.content);
    return undefined;
  }

  const server = await listen(async (seen, response) => {
    requests.push(seen);
    const { pathname, searchParams } = new URL(seen.path, "http://fake");
    const path = decodeURIComponent(pathname.replace(/^\/api\/v1\//, ""));
    if (isRevoked || searchParams.get("password") !== options.password)
      return answerError(response, 401, "Unauthorized");
    const fault = faults.take(seen.method, path);
    if (fault?.kind === "status") return answerError(response, fault.status ?? 502, "Bad Gateway");
    if (fault?.kind === "rate") {
      const header: Record<string, string> =
        fault.retryAfter === undefined ? {} : { "retry-after": String(fault.retryAfter) };
      return json(response, 429, { status: 429, message: "Too Many Requests" }, header);
    }
    try {
      const data = await run(path, seen, response);
      if (fault?.kind === "cut") response.destroy();
      else if (fault?.kind !== "hang" && data !== undefined)
        json(response, 200, { status: 200, message: "Success", data });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      answerError(response, error.status, error.message);
    }
  });

  return {
    ...server,
    messages,
    requests,
    addRaw(payload) {
      const originalROWID = 1_000_000 + extra.length;
      extra.push({ ...payload, originalROWID });
      return originalROWID;
    },
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    revoke: () => {
      isRevoked = true;
    },
  };
}

function answerError(response: ServerResponse, status: number, message: string): void {
  json(response, status, { status, message: "Request failed", error: { type: "Error", message } });
}

/** Reads the conditions that the channel uses. The real server passes any SQL on. */
function toCondition(where: unknown): (row: ChatMessage) => boolean {
  const { statement, args } = isRaw(where) ? where : {};
  const values = isRaw(args) ? args : {};
  if (statement === "message.ROWID > :position") return ({ rowId }) => rowId > Number(values["position"]);
  if (statement === "message.is_from_me = :fromMe")
    return ({ isFromMe }) => isFromMe === (values["fromMe"] === 1);
  throw new ApiError(400, `SQLITE_ERROR: ${String(statement)}`);
}

/** Source: `MessageSerializer` of the server. */
function toPayload(row: ChatMessage): Raw {
  const [, kind] = row.chatGuid.split(";");
  return {
    originalROWID: row.rowId,
    guid: row.guid,
    text: row.text,
    handle: row.sender === "" || row.isFromMe ? null : { address: row.sender, service: "iMessage" },
    attachments: row.attachments.map(({ guid, name, mimeType, content }) => ({
      guid,
      transferName: name,
      mimeType,
      totalBytes: content.byteLength,
      isSticker: false,
    })),
    subject: null,
    error: 0,
    dateCreated: row.at,
    isFromMe: row.isFromMe,
    itemType: 0,
    groupTitle: null,
    associatedMessageGuid: row.tapback === undefined ? null : `p:0/${row.tapback.guid}`,
    associatedMessageType:
      row.tapback === undefined ? null : `${row.tapback.isAdded ? "" : "-"}${row.tapback.kind}`,
    threadOriginatorGuid: row.replyTo ?? null,
    chats: [{ guid: row.chatGuid, style: kind === "+" ? 43 : 45, displayName: kind === "+" ? "Team" : "" }],
  };
}

/** Returns true if the conditions ask for rows before this one. */
function isAfter(where: unknown, rowId: unknown): boolean {
  const [first]: readonly unknown[] = Array.isArray(where) ? where : [];
  const position = isRaw(first) && isRaw(first["args"]) ? first["args"]["position"] : undefined;
  return typeof position === "number" && Number(rowId) > position;
}
