import { Faults, type FaultTarget } from "../faults.ts";
import { type FakeServer, formOf, listen, parseJson, type SeenRequest } from "../http.ts";
import { isRaw } from "../raw.ts";
import { MediaStore, type WhatsAppMedia } from "./media.ts";
import { MessageStore, type WhatsAppMessage } from "./messages.ts";
import { businessNumber, defaultPhoneNumberId, statusPayload } from "./payloads.ts";
import { type GraphErrorCode, type GraphReply, refuse, statusError, write } from "./reply.ts";
import { type SignedRequest, signed, Webhooks } from "./webhooks.ts";

/** A simulated outage. The next requests whose path contains `path` fail. Default: `/messages`. */
export interface WhatsAppFault extends FaultTarget {
  /**
   * - `status`: responds with `status` (default 502) like a proxy, without an effect.
   * - `error`: responds with the Graph error `code` (default 131000) without an effect.
   * - `rate`: responds with 131056, and with `retryAfter` seconds if given.
   * - `fail_later`: accepts the message, then reports it as failed with `code` (default 131026).
   * - `cut`: carries out the request and breaks the connection.
   * - `hang`: carries out the request and never responds.
   */
  readonly kind: "status" | "error" | "rate" | "fail_later" | "cut" | "hang";
  readonly status?: number;
  readonly code?: GraphErrorCode;
  readonly retryAfter?: number;
}

export interface WhatsAppOptions {
  readonly accessToken: string;
  readonly appSecret: string;
  readonly verifyToken: string;
  readonly phoneNumberId?: string;
  /** Default: `Signalbox`. */
  readonly verifiedName?: string;
  /** Recipients that the number may write to, as with a test number. Default: everyone. */
  readonly allowed?: readonly string[];
  /** Time at which the access token expires, in milliseconds since the epoch. Default: never. */
  readonly tokenExpiresAt?: number;
  /** Permissions of the access token. Default: those for messages and for management. */
  readonly scopes?: readonly string[];
  /** Returned as quality of the number. Default: `GREEN`. */
  readonly quality?: "GREEN" | "YELLOW" | "RED" | "NA";
  readonly port?: number;
}

/** A fake WhatsApp Cloud API on a loopback port, with signed webhooks. */
export interface FakeWhatsApp extends FakeServer {
  readonly phoneNumberId: string;
  /** Messages that the business sent, in order. */
  readonly sent: readonly WhatsAppMessage[];
  readonly requests: readonly SeenRequest[];
  /** Ids of messages for which the typing indicator was shown. */
  readonly typing: readonly string[];
  reaction(messageId: string): string | undefined;
  media(id: string): WhatsAppMedia | undefined;
  /** Adds a file that a person sent. */
  addMedia(file: WhatsAppMedia): void;
  /**
   * Subscribes a webhook URL after a challenge, as Meta does when the URL is saved. Resolves with false if it failed.
   */
  subscribe(url: string): Promise<boolean>;
  /** Signs a webhook and remembers its messages. */
  sign(payload: unknown): SignedRequest;
  /**
   * Delivers a webhook to the subscribed URL until it is accepted. Statuses of sent messages are delivered on their
   * own.
   */
  push(payload: unknown): Promise<boolean>;
  /** Ends the 24-hour window of a conversation. The refusal is the response, or comes later as a status. */
  closeWindow(to: string, how?: "at_once" | "later"): void;
  fail(fault: WhatsAppFault): void;
  heal(): void;
  /** Revokes the access token. */
  revoke(): void;
}

const SCOPES = ["whatsapp_business_messaging", "whatsapp_business_management"];

/** Starts the fake server. */
export async function startWhatsApp(options: WhatsAppOptions): Promise<FakeWhatsApp> {
  const { accessToken, appSecret, verifyToken, phoneNumberId = defaultPhoneNumberId } = options;
  const requests: SeenRequest[] = [];
  const faults = new Faults<WhatsAppFault>("/messages");
  const media = new MediaStore(() => server.url);
  const messages = new MessageStore({ media, allowed: options.allowed, own: businessNumber });
  const webhooks = new Webhooks({ appSecret, verifyToken });
  let isRevoked = false;

  /** Reports a message as sent or failed, with the key that the sender gave it. */
  function report(message: WhatsAppMessage, failure: GraphErrorCode | undefined): void {
    const { id, to, isGroup, callbackData } = message;
    const errors =
      failure === undefined ? undefined : [statusError(failure, "The message was not delivered.")];
    const status = failure === undefined ? "sent" : "failed";
    const about = { id, status, to, callbackData, errors, phoneNumberId } as const;
    void webhooks.deliver(statusPayload(isGroup ? { ...about, groupId: to } : about));
  }

  function post(seen: SeenRequest, fault: WhatsAppFault | undefined): GraphReply {
    const body = parseJson(seen.text);
    if (!isRaw(body)) return refuse(100, "The body is not JSON.");
    const { reply, accepted } = messages.post(body);
    if (accepted === undefined) return reply;
    const isClosed = messages.closed.get(accepted.to) === "later";
    const failure = fault?.kind === "fail_later" ? (fault.code ?? 131026) : isClosed ? 131047 : undefined;
    report(accepted, failure);
    return reply;
  }

  async function answer(seen: SeenRequest, fault: WhatsAppFault | undefined): Promise<GraphReply> {
    const { pathname, searchParams } = new URL(seen.path, "http://fake");
    if (seen.headers["authorization"] !== `Bearer ${accessToken}` || isRevoked)
      // Meta's message contains the token.
      return refuse(190, `Malformed access token ${String(seen.headers["authorization"]).slice(7)}`);
    if (pathname === "/whatsapp_business/attachments/") return media.download(searchParams.get("mid") ?? "");
    const [, id = "", edge] = /^\/v\d+\.\d+\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    if (seen.method === "POST" && id === phoneNumberId && edge === "messages") return post(seen, fault);
    if (seen.method === "POST" && id === phoneNumberId && edge === "media")
      return media.upload(await formOf(seen));
    if (seen.method !== "GET" || edge !== undefined) return refuse(100, "Unsupported request.");
    if (id === phoneNumberId) return describeNumber(searchParams.get("fields"));
    if (id === "debug_token") return describeToken();
    return media.lookUp(id) ?? refuse(33, `Object with ID '${id}' does not exist.`);
  }

  function describeNumber(fields: string | null): GraphReply {
    const all: Readonly<Record<string, unknown>> = {
      display_phone_number: "+1 555-078-3881",
      verified_name: options.verifiedName ?? "Signalbox",
      quality_rating: options.quality ?? "GREEN",
      name_status: "APPROVED",
      code_verification_status: "VERIFIED",
      webhook_configuration: webhooks.url === undefined ? {} : { application: webhooks.url },
    };
    const names = fields?.split(",") ?? ["display_phone_number", "verified_name", "quality_rating"];
    const unknown = names.find((name) => !(name in all));
    if (unknown !== undefined) return refuse(100, `Tried accessing nonexisting field (${unknown})`);
    const shown = Object.fromEntries(names.map((name) => [name, all[name]]));
    return { status: 200, body: { ...shown, id: phoneNumberId } };
  }

  function describeToken(): GraphReply {
    const expiresAt = Math.floor((options.tokenExpiresAt ?? 0) / 1000);
    const scopes = options.scopes ?? SCOPES;
    return { status: 200, body: { data: { is_valid: true, expires_at: expiresAt, scopes } } };
  }

  const server = await listen(async (seen, response) => {
    requests.push(seen);
    const fault = faults.take(seen.method, seen.path);
    const failed = replyTo(fault);
    if (failed !== undefined) return write(response, failed);
    const reply = await answer(seen, fault);
    if (fault?.kind === "cut") return void response.destroy();
    if (fault?.kind !== "hang") write(response, reply);
  }, options.port ?? 0);

  return {
    ...server,
    phoneNumberId,
    requests,
    sent: messages.sent,
    typing: messages.typing,
    reaction: (messageId) => messages.reactions.get(messageId),
    media: (id) => media.get(id),
    addMedia: (file) => media.add(file),
    subscribe: (url) => webhooks.subscribe(url),
    sign(payload) {
      messages.take(payload);
      return signed(payload, appSecret);
    },
    push(payload) {
      messages.take(payload);
      return webhooks.deliver(payload);
    },
    closeWindow: (to, how = "at_once") => void messages.closed.set(to, how),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    revoke: () => {
      isRevoked = true;
    },
    async stop() {
      webhooks.stop();
      await server.stop();
    },
  };
}

/** Returns the response for a fault without an effect. */
function replyTo(fault: WhatsAppFault | undefined): GraphReply | undefined {
  switch (fault?.kind) {
    case "status":
      return {
        status: fault.status ?? 502,
        body: "<html>Bad Gateway</html>",
        headers: { "content-type": "text/html" },
      };
    case "error":
      return refuse(fault.code ?? 131000, "A scripted error.");
    case "rate": {
      const wait = fault.retryAfter;
      return refuse(
        131056,
        "Too many messages to this person.",
        wait === undefined ? {} : { "retry-after": String(wait) },
      );
    }
    default:
      return undefined;
  }
}
