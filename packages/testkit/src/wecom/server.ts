import { randomUUID } from "node:crypto";
import { type FakeServer, json, listen, parseJson } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import { type CallbackSecrets, encryptFile, type SignatureOptions, sealCallback } from "./encryption.ts";
import { Faults, type WecomFault } from "./faults.ts";
import { Messages, type WecomSent } from "./messages.ts";
import { type Ack, refusals } from "./reply.ts";
import { Sockets, type WecomFrame } from "./sockets.ts";
import { Uploads, type WecomUpload } from "./uploads.ts";

export interface WecomOptions {
  readonly botId: string;
  readonly secret: string;
  /** For callbacks. Default: no callbacks can be posted. */
  readonly callbacks?: CallbackSecrets;
  /** People and groups that have written to the bot before. Others are added by their first message. */
  readonly chats?: readonly string[];
  /** Refuses the thirty-first message in a conversation within a minute. Default: false. */
  readonly rateLimit?: boolean;
  /** Milliseconds until a displaced connection is closed. WeCom takes seconds or minutes. Default: 50. */
  readonly displacedMs?: number;
  readonly port?: number;
  /** Port of the long connection. */
  readonly wsPort?: number;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** An attachment from a person, as it appears in a message. */
export interface WecomAttachment {
  readonly url: string;
  readonly aeskey: string;
}

/** A fake WeCom for AI bots on loopback ports. `url` serves attachments and replies by URL. */
export interface FakeWecom extends FakeServer {
  /** The address of the long connection. */
  readonly wsUrl: string;
  /** The bot's messages, in order. */
  readonly sent: readonly WecomSent[];
  /** All frames that the bot sent, in order. */
  readonly frames: readonly WecomFrame[];
  /** Number of authenticated connections: 0 or 1. */
  connections(): number;
  /**
   * Delivers a message over the long connection. Returns false if no bot is connected; WeCom does not deliver the
   * message again.
   */
  pushMessage(message: Raw, reqId?: string): boolean;
  /** Delivers an event over the long connection. */
  pushEvent(event: Raw, reqId?: string): boolean;
  /** Makes a message known without delivering it, so that the bot can reply to its `req_id`. */
  expectReply(reqId: string, chatId: string): void;
  /** Sends any text over the long connection. */
  sendText(text: string): void;
  /** Posts a callback as WeCom does: encrypted, signed, and with a `response_url`. */
  postCallback(url: string, message: Raw, options?: SignatureOptions): Promise<Response>;
  /** Adds an encrypted attachment of a person. */
  addAttachment(content: Uint8Array, headers?: Readonly<Record<string, string>>): WecomAttachment;
  /** Returns an attachment that the bot has uploaded. */
  upload(mediaId: string): WecomUpload | undefined;
  fail(fault: WecomFault): void;
  /** Removes all faults. */
  heal(): void;
  /** Makes all messages and callbacks older. */
  age(ms: number): void;
  /** Rejects the bot's secret from now on, and every frame on its connection. */
  revoke(): void;
  /** Ends the connections and refuses new ones while `away` is true. */
  setAway(away: boolean): void;
  /** Ends the connections without a close frame. */
  dropConnections(): void;
  /** Keeps the connections open, but neither sends nor reads anything. */
  freezeConnections(): void;
}

const RESPONSE_PATH = "/cgi-bin/aibot/response";
/** Time for which a `response_url` accepts one reply, in milliseconds. */
const RESPONSE_MS = 3_600_000;

/** Starts the fake server. */
export async function startWecom(options: WecomOptions): Promise<FakeWecom> {
  const { botId, secret, callbacks, now = Date.now, rateLimit = false, displacedMs = 50 } = options;
  const faults = new Faults();
  const uploads = new Uploads();
  const messages = new Messages({ uploads, now, rateLimit, chats: options.chats ?? [] });
  const responseUrls = new Map<string, { readonly chatId: string; readonly at: number }>();
  let isRevoked = false;

  const sockets = await Sockets.start({
    faults,
    displacedMs,
    port: options.wsPort ?? 0,
    isRevoked: () => isRevoked,
    authenticate: (body) => !isRevoked && body["bot_id"] === botId && body["secret"] === secret,
    handle: ({ cmd, reqId, body }) => handle(cmd, reqId, body),
  });

  function handle(cmd: string, reqId: string, body: Raw): Ack {
    switch (cmd) {
      case "aibot_respond_msg":
        return messages.respond(reqId, body);
      case "aibot_send_msg":
        return messages.send(reqId, body);
      case "aibot_respond_welcome_msg":
        return messages.welcome(reqId, body);
      case "aibot_respond_update_msg":
        return messages.updateCard(reqId, body);
      case "aibot_upload_media_init":
        return uploads.init(body);
      case "aibot_upload_media_chunk":
        return uploads.chunk(body);
      case "aibot_upload_media_finish":
        return uploads.finish(body);
      default:
        return refusals.parameter("cmd");
    }
  }

  const server = await listen((seen, response) => {
    const url = new URL(seen.path, "http://fake");
    if (seen.method !== "POST" || url.pathname !== RESPONSE_PATH) return json(response, 404, {});
    const code = url.searchParams.get("response_code") ?? "";
    const target = responseUrls.get(code);
    const fault = faults.take("response_msg");
    if (fault?.kind === "rate") return json(response, 200, refusals.rate());
    if (fault?.kind === "busy") return json(response, 200, refusals.busy());
    if (target === undefined || now() - target.at > RESPONSE_MS)
      return json(response, 200, refusals.parameter("response_code"));
    const body = parseJson(seen.text);
    const ack = messages.reply(code, target.chatId, isRaw(body) ? body : {});
    if (ack.errcode === 0) responseUrls.delete(code);
    if (fault?.kind === "hang") return;
    if (fault?.kind === "cut") return void response.destroy();
    json(response, 200, ack);
  }, options.port ?? 0);

  return {
    ...server,
    wsUrl: sockets.url,
    sent: messages.sent,
    frames: sockets.frames,
    connections: () => sockets.count,
    pushMessage(message, reqId = `req-${randomUUID()}`) {
      messages.expect(reqId, chatOf(message), "message");
      return sockets.push("aibot_msg_callback", reqId, message);
    },
    pushEvent(event, reqId = `req-${randomUUID()}`) {
      const type = isRaw(event["event"]) ? String(event["event"]["eventtype"]) : "";
      messages.expect(reqId, chatOf(event), type);
      return sockets.push("aibot_event_callback", reqId, event);
    },
    expectReply: (reqId, chatId) => messages.expect(reqId, chatId, "message"),
    sendText: (text) => sockets.send(text),
    async postCallback(url, message, signature) {
      if (callbacks === undefined) throw new Error("The fake server has no secrets for callbacks.");
      const code = randomUUID();
      responseUrls.set(code, { chatId: chatOf(message), at: now() });
      const callback = { ...message, response_url: `${server.url}${RESPONSE_PATH}?response_code=${code}` };
      const { query, encrypt } = sealCallback(callbacks, JSON.stringify(callback), signature);
      return fetch(`${url}?${query}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ encrypt }),
      });
    },
    addAttachment(content, headers = {}) {
      const path = `/media/${randomUUID()}`;
      const { bytes, aesKey } = encryptFile(content);
      server.answerAt(path, () => new Response(new Uint8Array(bytes), { headers }));
      return { url: `${server.url}${path}`, aeskey: aesKey };
    },
    upload: (mediaId) => uploads.get(mediaId),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    age: (ms) => messages.age(ms),
    revoke() {
      isRevoked = true;
    },
    setAway: (away) => sockets.setAway(away),
    dropConnections: () => sockets.drop(),
    freezeConnections: () => sockets.freeze(),
    async stop() {
      await Promise.all([sockets.stop(), server.stop()]);
    },
  };
}

/** Returns the conversation of a callback. */
function chatOf(body: Raw): string {
  const from = isRaw(body["from"]) ? body["from"] : {};
  return String(body["chattype"] === "group" ? body["chatid"] : from["userid"]);
}
