import { Faults, type FaultTarget } from "../faults.ts";
import { type FakeServer, listen, type SeenRequest } from "../http.ts";
import { Api } from "./api.ts";
import type { RepeatedCard } from "./cards.ts";
import { directId, groupId, person } from "./events.ts";
import { type ApiReply, refusals, refuse, write } from "./reply.ts";
import type { DingTalkMessage } from "./sent.ts";
import { type Stream, StreamMode, type StreamOptions } from "./stream.ts";

/** A simulated outage. The next requests whose path contains `path` fail. Default: those that create messages. */
export interface DingTalkFault extends FaultTarget {
  /**
   * - `status`: responds with `status` (default 502) like a proxy, without an effect.
   * - `refuse`: responds with `status` (default 400), `code` and `message` without an effect.
   * - `rate`: responds with DingTalk's rate limit, or with 429 and `retryAfter` seconds if given.
   * - `cut`: carries out the request and breaks the connection.
   * - `hang`: carries out the request and never responds.
   */
  readonly kind: "status" | "refuse" | "rate" | "cut" | "hang";
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
  readonly retryAfter?: number;
}

export interface DingTalkOptions extends StreamOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  /** Default: the client id. */
  readonly robotCode?: string;
  /** Ids of the people whom the bot may write to. Default: the sender of the sample messages. */
  readonly users?: readonly string[];
  /** Groups that the bot has joined. Default: the group of the sample messages. */
  readonly groups?: readonly string[];
  /** Scopes that the app lacks. Default: none. */
  readonly missingScopes?: readonly string[];
  /** Refuse more than 20 calls of an API in a second. Default: false. */
  readonly rateLimit?: boolean;
  /** Response to a second card under the same `outTrackId`. Default: `refuse`. */
  readonly repeatedCard?: RepeatedCard;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
}

/** A fake DingTalk on loopback ports: the API, and stream mode. */
export interface FakeDingTalk extends FakeServer {
  /** Messages and cards that the bot sent, in order, including recalled ones. */
  readonly sent: readonly DingTalkMessage[];
  readonly requests: readonly SeenRequest[];
  readonly stream: Stream;
  /** Returns the bot's reactions to a message. */
  reactions(msgId: string): readonly string[];
  /** Adds a file from a person. */
  addFile(downloadCode: string, content: Uint8Array): void;
  /** Makes a download code lead to another URL. */
  leadTo(downloadCode: string, url: string): void;
  fail(fault: DingTalkFault): void;
  heal(): void;
  /** Makes all access tokens invalid, as after two hours. */
  expireTokens(): void;
  /** Revokes the client secret and all access tokens. */
  revoke(): void;
  restore(): void;
}

/** Requests that create a message. */
const CREATES = /\/(?:batchSend|groupMessages\/send|createAndDeliver)$/;
const MARK = "#creates";

/** Starts the fake server. */
export async function startDingTalk(options: DingTalkOptions): Promise<FakeDingTalk> {
  const stream = await StreamMode.start(options);
  const api = new Api(
    {
      clientId: options.clientId,
      clientSecret: options.clientSecret,
      robotCode: options.robotCode ?? options.clientId,
      users: new Set(options.users ?? [person.staffId]),
      groups: new Set(options.groups ?? [groupId, directId]),
      missingScopes: options.missingScopes ?? [],
      rateLimit: options.rateLimit ?? false,
      repeatedCard: options.repeatedCard ?? "refuse",
      now: options.now ?? Date.now,
    },
    stream,
  );
  const faults = new Faults<DingTalkFault>(MARK);
  const requests: SeenRequest[] = [];
  const files = new Map<string, Uint8Array>();

  const server = await listen(async (seen, response) => {
    requests.push(seen);
    const { pathname } = new URL(seen.path, "http://fake");
    const file = files.get(pathname);
    if (file !== undefined && seen.method === "GET")
      return void response.writeHead(200, { "content-type": "application/octet-stream" }).end(file);
    const fault = faults.take(seen.method, CREATES.test(pathname) ? pathname + MARK : pathname);
    const failed = replyOf(fault);
    if (failed !== undefined) return write(response, failed);
    const reply = await api.answer(seen);
    if (fault?.kind === "cut") return void response.destroy();
    if (fault?.kind !== "hang") write(response, reply);
  });

  return {
    ...server,
    requests,
    stream,
    sent: api.sent,
    reactions: (msgId) => [...(api.reactions.get(msgId) ?? [])],
    addFile(downloadCode, content) {
      const path = `/files/${files.size + 1}`;
      files.set(path, content);
      api.downloads.set(downloadCode, server.url + path);
    },
    leadTo: (downloadCode, url) => void api.downloads.set(downloadCode, url),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    expireTokens: () => api.expireTokens(),
    revoke: () => {
      api.isRevoked = true;
    },
    restore: () => {
      api.isRevoked = false;
    },
    async stop() {
      await stream.stop();
      await server.stop();
    },
  };
}

/** Returns the response for a fault without an effect. */
function replyOf(fault: DingTalkFault | undefined): ApiReply | undefined {
  switch (fault?.kind) {
    case "status":
      return {
        status: fault.status ?? 502,
        body: "<html>Bad Gateway</html>",
        headers: { "content-type": "text/html" },
      };
    case "refuse":
      return refuse(fault.status ?? 400, fault.code ?? "param.error", fault.message);
    case "rate":
      return fault.retryAfter === undefined
        ? refusals.rate
        : { ...refuse(429, "TooManyRequests"), headers: { "retry-after": String(fault.retryAfter) } };
    default:
      return undefined;
  }
}
