import type { ServerResponse } from "node:http";
import { Faults, type FaultTarget } from "../faults.ts";
import { type FakeServer, json, listen, parseJson, type SeenRequest } from "../http.ts";
import { isRaw, type Raw } from "../raw.ts";
import { SignalCommands } from "./commands.ts";
import type { SignalPerson } from "./envelopes.ts";
import { SignalEventStream } from "./event-stream.ts";
import { CommandError, type FailedRecipient, type SentSignalMessage, SignalMessages } from "./messages.ts";

/** A simulated outage. The next calls of the command `path` fail. Default: `send`. */
export interface SignalFault extends FaultTarget {
  /**
   * - `status`: responds with HTTP 503 without an effect, as a proxy does.
   * - `rate`: Signal's servers limit the rate, with `retryAfterSeconds` if given.
   * - `error`: responds with `code` and `message` without an effect.
   * - `cut`: carries out the command and breaks the connection, as a daemon that is stopped does.
   * - `hang`: carries out the command and never responds.
   */
  readonly kind: "status" | "rate" | "error" | "cut" | "hang";
  readonly retryAfterSeconds?: number;
  readonly code?: number;
  readonly message?: string;
}

export interface SignalOptions {
  readonly account: string;
  /** The service id of the account. */
  readonly uuid?: string;
  readonly name?: string;
  /** People to whom the account can send, and whose names it knows. */
  readonly people?: readonly SignalPerson[];
  /** Ids of the groups of which the account is a member. */
  readonly groups?: readonly string[];
  /** True if the daemon serves several accounts, so that each command needs the parameter `account`. Default: false. */
  readonly multiAccount?: boolean;
  /** Default: `on-start`, in which messages are lost while nobody listens. */
  readonly receiveMode?: "on-start" | "on-connection";
  /** True if events have ids, as in newer versions. Default: false. */
  readonly numberedEvents?: boolean;
  /** True if the headers of the event stream arrive only with the first event. Default: false. */
  readonly lateHeaders?: boolean;
  /** Default: `0.14.6`. */
  readonly version?: string;
  /** Milliseconds since the epoch. Default: the machine's clock. */
  readonly now?: () => number;
  readonly port?: number;
}

/** A fake signal-cli daemon on a loopback port, with the HTTP interface of `signal-cli daemon --http`. */
export interface FakeSignal extends FakeServer {
  /** Messages that the account has sent, in order, including removed ones. */
  readonly sent: readonly SentSignalMessage[];
  readonly requests: readonly SeenRequest[];
  /** Recipients of the typing indicator, in order; `stop <recipient>` when it ends. */
  readonly typing: readonly string[];
  readonly events: Pick<
    SignalEventStream,
    "lost" | "opened" | "listeners" | "keepAlive" | "writeRaw" | "end"
  >;
  /** Delivers an envelope. Returns whether a client was listening. */
  push(envelope: Raw, more?: Raw): Promise<boolean>;
  addAttachment(id: string, content: Uint8Array): void;
  addSticker(packId: string, stickerId: number, content: Uint8Array): void;
  /** The account's reactions to a message, whose id is `<timestamp>:<author>`. */
  reactions(messageId: string): readonly string[];
  /** Makes messages to a recipient fail. */
  refuse(recipient: string, how: FailedRecipient): void;
  fail(fault: SignalFault): void;
  heal(): void;
  /** Simulates an account that was unlinked: Signal rejects its credentials. */
  unlink(): void;
}

/** Maximum length of a string in a request. Source: `StreamReadConstraints` of Jackson. */
const MAX_STRING = 20_000_000;

/** Starts the fake daemon. */
export async function startSignal(options: SignalOptions): Promise<FakeSignal> {
  const { account, uuid = "99999999-aaaa-4aaa-8aaa-000000000009", people = [], groups = [] } = options;
  const failed = new Map<string, FailedRecipient>();
  const recipients = new Set([
    account,
    ...people.flatMap((person) => [person.uuid, person.number ?? person.uuid]),
  ]);
  const messages = new SignalMessages({
    account,
    recipients,
    groups: new Set(groups),
    failed,
    now: options.now ?? Date.now,
  });
  const events = new SignalEventStream({
    onConnection: options.receiveMode === "on-connection",
    numbered: options.numberedEvents ?? false,
    lateHeaders: options.lateHeaders ?? false,
  });
  const faults = new Faults<SignalFault>("send");
  const requests: SeenRequest[] = [];
  const typing: string[] = [];
  const commands = new SignalCommands({ ...options, uuid, people, messages, typing });

  function answer(seen: SeenRequest, response: ServerResponse): void {
    const request = parseJson(seen.text);
    if (!isRaw(request) || seen.text.length > MAX_STRING) {
      const error = { code: -32700, message: "the request cannot be parsed", data: null };
      json(response, 200, { jsonrpc: "2.0", error, id: null });
      return;
    }
    const { id, method } = request;
    const fault = faults.take("POST", String(method));
    if (fault?.kind === "status") {
      json(response, 503, { error: "unavailable" });
      return;
    }
    const reply = createReply(String(method), isRaw(request["params"]) ? request["params"] : {}, fault);
    if (fault?.kind === "cut") response.destroy();
    else if (fault?.kind !== "hang") json(response, 200, { jsonrpc: "2.0", ...reply, id });
  }

  function createReply(method: string, params: Raw, fault: SignalFault | undefined): Raw {
    try {
      if (fault?.kind === "rate") throw createRateLimit(fault);
      if (fault?.kind === "error") throw new CommandError(fault.code ?? -3, fault.message ?? "I/O error");
      return { result: commands.run(method, params) };
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      return { error: { code: error.code, message: error.message, data: error.data } };
    }
  }

  const server = await listen((seen, response) => {
    requests.push(seen);
    const { pathname, searchParams } = new URL(seen.path, "http://fake");
    if (pathname === "/api/v1/check") return void response.writeHead(200).end();
    if (pathname === "/api/v1/events") {
      const asked = searchParams.get("account");
      if (options.multiAccount === true && asked !== null && asked !== account)
        return void response.writeHead(400).end();
      const last = seen.headers["last-event-id"];
      return events.listen(response, typeof last === "string" ? last : undefined);
    }
    if (pathname !== "/api/v1/rpc") return void response.writeHead(404).end();
    if (seen.method !== "POST") return void response.writeHead(405).end();
    if (seen.headers["content-type"]?.includes("application/json") !== true)
      return void response.writeHead(415).end();
    answer(seen, response);
  }, options.port ?? 0);

  return {
    ...server,
    requests,
    typing,
    events,
    get sent() {
      return messages.all;
    },
    push: (envelope, more = {}) => events.push({ envelope, account, ...more }),
    addAttachment: (id, content) => void commands.files.set(id, content),
    addSticker: (packId, stickerId, content) => void commands.files.set(`${packId}/${stickerId}`, content),
    reactions: (messageId) => messages.reactions.get(messageId) ?? [],
    refuse: (recipient, how) => void failed.set(recipient, how),
    fail: (fault) => faults.add(fault),
    heal: () => faults.clear(),
    unlink: () => commands.unlink(),
    stop: async () => {
      events.end();
      await server.stop();
    },
  };
}

function createRateLimit({ retryAfterSeconds }: SignalFault): CommandError {
  const token = retryAfterSeconds === undefined ? {} : { token: "challenge", retryAfterSeconds };
  const results = [{ recipientAddress: { uuid: null, number: null }, type: "RATE_LIMIT_FAILURE", ...token }];
  return new CommandError(-5, "Failed to send message due to rate limiting", {
    response: { timestamp: 1, results },
  });
}
