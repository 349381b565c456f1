import { createHmac } from "node:crypto";
import type { Failure, SentMedia, SentPoll } from "../src/testkit/index.ts";

/** A message on the in-memory platform. */
export interface EchoMessage {
  readonly id: string;
  /** The id of its conversation. */
  readonly place: string;
  readonly by: string;
  readonly at: number;
  text: string;
  readonly buttons: readonly EchoButton[];
}

export interface EchoButton {
  readonly label: string;
  /** Included in a click. */
  readonly data: string;
  /** A click opens a form. */
  readonly opensForm: boolean;
}

/** A platform in memory that supports everything in the contract. */
export interface EchoServer {
  readonly messages: Map<string, EchoMessage>;
  readonly files: Map<string, SentMedia>;
  readonly polls: SentPoll[];
  /** The votes of each option, by message id. */
  readonly votes: Map<string, readonly number[]>;
  /** Creates the response to a request for the attachment. */
  attachment: () => Response;
  readonly drafted: string[];
  /** By message id. */
  readonly reactions: Map<string, Set<string>>;
  commands: readonly string[];
  /** How much older everything is than its timestamp. */
  passedMs: number;
  failure: Failure | undefined;
  away: boolean;
  revoked: boolean;
}

/** Servers by name, which is part of an account's settings. */
export const servers: Map<string, EchoServer> = new Map();

/** The people on every server, by id. */
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

/** Computes the platform's signature. */
export function sign(body: Uint8Array, at: number, password: string): string {
  return createHmac("sha256", password).update(`${at}:`).update(body).digest("hex");
}
