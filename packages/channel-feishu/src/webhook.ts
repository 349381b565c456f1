import { type ChannelContext, type EmitResult, equalInConstantTime, type ReadBody } from "@signalbox/channel";
import type { FeishuConfig } from "./config.ts";
import { decrypt, signatureHolds } from "./crypto.ts";
import { type Envelope, readEnvelope } from "./envelope.ts";
import { limits } from "./limits.ts";
import { parseObject, type Raw } from "./raw.ts";

/** What became of an event: what the gateway said, or why it never got there. */
export type Handled = EmitResult | "ignored" | "malformed";

type EventEnvelope = Extract<Envelope, { kind: "event" }>;

/**
 * Answers pushes. Whoever is not Feishu gets 401 before anything is looked at, what Feishu would not send gets 400, an
 * event gets 200 once `handle` has it accepted, and 503 where it is to come again.
 */
export function createWebhook(
  context: Pick<ChannelContext<FeishuConfig>, "config" | "clock" | "logger">,
  handle: (event: EventEnvelope) => Promise<Handled>,
): (request: Request, read?: ReadBody) => Promise<Response> {
  const { config, clock, logger } = context;

  async function answer(request: Request, read?: ReadBody): Promise<Response> {
    if (request.method !== "POST") return reply(405, { error: "method not allowed" }, { allow: "POST" });
    const body = await readBody(request, read);
    if (body === undefined) return reply(413, { error: "body over 1 MB" });
    const signed = checkSignature(request.headers, body, config, clock.now());
    if (signed === "wrong") return refuse("the signature does not hold");
    const outer = parseObject(Buffer.from(body).toString("utf8"));
    if (outer === undefined) return reply(400, { error: "body is not a JSON object" });
    const plain = open(outer, config, signed);
    if (plain === undefined) return refuse("not encrypted and signed with the account's encryptKey");
    const envelope = readEnvelope(plain);
    if (envelope === undefined) {
      return signed === "absent" ? refuse("no event and not signed") : reply(400, { error: "not an event" });
    }
    const { verificationToken } = config;
    if (verificationToken !== undefined && !equalInConstantTime(envelope.token ?? "", verificationToken)) {
      return refuse("the verification token is missing or wrong");
    }
    if (envelope.kind === "challenge") return reply(200, { challenge: envelope.challenge });
    return settle(envelope);
  }

  async function settle(envelope: EventEnvelope): Promise<Response> {
    let handled: Handled;
    try {
      handled = await handle(envelope);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      logger.error("an event could not be taken; the platform delivers it again", { reason });
      return reply(500, { error: "not taken" });
    }
    if (handled === "rejected") return reply(503, { error: "not now" }, { "retry-after": "15" });
    if (handled !== "malformed") return reply(200, {});
    logger.warn("an event that cannot be read was refused", { type: envelope.type.slice(0, 80) });
    return reply(400, { error: "the event cannot be read" });
  }

  /** The reason is for the log; the answer is the same for all, so that it tells a guesser nothing. */
  function refuse(reason: string): Response {
    logger.warn("a request was refused", { reason });
    return reply(401, { error: "unauthorized" });
  }

  return answer;
}

type Signed = "holds" | "absent" | "wrong";

function checkSignature(headers: Headers, body: Uint8Array, config: FeishuConfig, now: number): Signed {
  const { encryptKey } = config;
  if (encryptKey === undefined) return "absent";
  const timestamp = headers.get("x-lark-request-timestamp");
  const nonce = headers.get("x-lark-request-nonce");
  const signature = headers.get("x-lark-signature");
  if (signature === null) return "absent";
  if (timestamp === null || nonce === null) return "wrong";
  const age = Math.abs(now - Number(timestamp) * 1000);
  if (!(age <= limits.signatureAgeMs)) return "wrong";
  return signatureHolds({ timestamp, nonce, signature }, encryptKey, body) ? "holds" : "wrong";
}

/**
 * The push in clear. With an encrypt key everything has to be encrypted, and signed too, except the challenge: Feishu
 * does not sign that one, and answering it gives nothing away.
 */
function open(outer: Raw, config: FeishuConfig, signed: Signed): Raw | undefined {
  const { encryptKey } = config;
  if (encryptKey === undefined) return outer;
  const { encrypt } = outer;
  if (typeof encrypt !== "string") return undefined;
  const text = decrypt(encrypt, encryptKey);
  const plain = text === undefined ? undefined : parseObject(text);
  if (plain === undefined) return undefined;
  return signed === "holds" || plain["type"] === "url_verification" ? plain : undefined;
}

/** The body as it came; undefined once it is longer than allowed. */
async function readBody(request: Request, read: ReadBody | undefined): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get("content-length")) > limits.bodyBytes) return undefined;
  if (read !== undefined) {
    const body = await read();
    return body.byteLength > limits.bodyBytes ? undefined : body;
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limits.bodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function reply(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, { status, headers });
}
