import { createHmac } from "node:crypto";
import type { Failure, SentMedia, SentPoll } from "../src/testkit/index.ts";

/** A message on the platform in memory. */
export interface EchoMessage {
  readonly id: string;
  /** The conversation it stands in. */
  readonly place: string;
  readonly by: string;
  readonly at: number;
  text: string;
  /** What it offers to choose from. */
  readonly buttons: readonly EchoButton[];
}

export interface EchoButton {
  readonly label: string;
  /** Comes back with a click. */
  readonly data: string;
  /** A click opens a form. */
  readonly opensForm: boolean;
}

/** A platform in memory, on which the channel of the tests does all that the contract knows. */
export interface EchoServer {
  readonly messages: Map<string, EchoMessage>;
  readonly files: Map<string, SentMedia>;
  readonly polls: SentPoll[];
  /** For each option of a poll, by its message. */
  readonly votes: Map<string, readonly number[]>;
  /** Answers whoever asks for the attachment of a person. */
  attachment: () => Response;
  readonly drafted: string[];
  /** By message. */
  readonly reactions: Map<string, Set<string>>;
  commands: readonly string[];
  /** By how much everything that was sent is older than it was. */
  passedMs: number;
  failure: Failure | undefined;
  away: boolean;
  revoked: boolean;
}

/** By name: what an account is configured with. */
export const servers: Map<string, EchoServer> = new Map();

/** Who is on every server. */
export const people: ReadonlyMap<string, string> = new Map([["person", "Ann"]]);

export function startEchoServer(name: string): EchoServer {
  const server: EchoServer = {
    messages: new Map(),
    files: new Map(),
    polls: [],
    votes: new Map(),
    attachment: () => new Response("content", { headers: { "content-type": "text/plain" } }),
    drafted: [],
    reactions: new Map(),
    commands: [],
    passedMs: 0,
    failure: undefined,
    away: false,
    revoked: false,
  };
  servers.set(name, server);
  return server;
}

/** How the platform signs what it sends. */
export function sign(body: Uint8Array, at: number, password: string): string {
  return createHmac("sha256", password).update(`${at}:`).update(body).digest("hex");
}
