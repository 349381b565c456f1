// A small chat platform with which the package works out of the box. Replace it step by step with a fake server of your
// platform that rejects what the real one rejects.
import { createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";

/** A failure of the next request. */
export type Fault = { readonly status: number; readonly retryAfter?: number } | "lost_response" | "silent";

export interface Message {
  readonly id: string;
  readonly conversation: string;
  /** All versions of the text, the current one last. */
  readonly texts: string[];
  isDeleted: boolean;
}

export interface Platform {
  readonly url: string;
  /** The messages of the bot, in order. */
  readonly messages: readonly Message[];
  fail(fault: Fault): void;
  /** While the platform is away, every request fails with 503. */
  setAway(away: boolean): void;
  /** Revokes the token: further requests fail with 401. */
  revoke(): void;
  /** Returns the signed request that delivers an event to the channel. */
  signed(event: unknown, options?: { readonly secret?: string; readonly at?: number }): RequestInit;
  stop(): Promise<void>;
}

const longest = 2_000;

export async function startPlatform({
  token,
  signingSecret,
}: {
  token: string;
  signingSecret: string;
}): Promise<Platform> {
  const messages: Message[] = [];
  const keys = new Map<string, Message>();
  const faults: Fault[] = [];
  let isAway = false;
  let isRevoked = false;

  function post({ conversation, text, key }: Record<string, unknown>): Message | number {
    if (typeof conversation !== "string" || typeof text !== "string" || text === "") return 400;
    if ([...text].length > longest) return 413;
    const earlier = keys.get(String(key));
    if (earlier !== undefined) return earlier;
    const message = { id: `m${messages.length + 1}`, conversation, texts: [text], isDeleted: false };
    messages.push(message);
    keys.set(String(key), message);
    return message;
  }

  function change(id: string, text: unknown): Message | number {
    const message = messages.find((one) => one.id === id && !one.isDeleted);
    if (message === undefined) return 404;
    if (text === undefined) message.isDeleted = true;
    else message.texts.push(String(text));
    return message;
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const reply = (status: number, body: unknown = {}, headers: Record<string, string> = {}): void =>
      void response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify(body));
    if (isAway) return reply(503);
    if (isRevoked || request.headers.authorization !== `Bearer ${token}`) return reply(401);
    const fault = faults.shift();
    if (typeof fault === "object") {
      const headers: Record<string, string> = {};
      if (fault.retryAfter !== undefined) headers["retry-after"] = String(fault.retryAfter);
      return reply(fault.status, {}, headers);
    }
    const text = Buffer.concat(chunks).toString();
    const body: Record<string, unknown> = text === "" ? {} : JSON.parse(text);
    const id = /^\/messages\/(.+)$/.exec(request.url ?? "")?.[1];
    const result =
      request.method === "POST"
        ? post(body)
        : change(decodeURIComponent(id ?? ""), request.method === "PUT" ? (body["text"] ?? "") : undefined);
    if (fault === "lost_response") return void response.destroy();
    if (fault === "silent") return;
    return typeof result === "number" ? reply(result) : reply(200, { id: result.id });
  }

  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    messages,
    fail: (fault) => void faults.push(fault),
    setAway: (away) => {
      isAway = away;
    },
    revoke: () => {
      isRevoked = true;
    },
    signed(event, { secret = signingSecret, at = Date.now() } = {}) {
      const body = JSON.stringify(event);
      const timestamp = String(Math.floor(at / 1_000));
      const signature = createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("hex");
      const headers = { "x-chat-timestamp": timestamp, "x-chat-signature": signature };
      return { method: "POST", headers, body };
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
