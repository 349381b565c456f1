import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Capabilities } from "./capabilities.ts";
import type { EmitResult, InboundEvent, MediaRef, Sender } from "./events.ts";
import type { Json } from "./json.ts";
import type {
  Draft,
  DraftOptions,
  Outbound,
  PollResult,
  Receipt,
  Reconciled,
  SendIntent,
  SendOptions,
} from "./messages.ts";

export interface ChannelMeta {
  /** For people, for instance `Feishu / Lark`. */
  readonly label: string;
  readonly description?: string;
  readonly docsUrl?: string;
  /** npm packages to install with the channel: its platform's SDK. Default none. */
  readonly requires?: readonly string[];
  /** Fields of the configuration, in the order in which to ask for them. */
  readonly fields: Readonly<Record<string, ConfigField>>;
}

/** How to ask a person for a field of the configuration. */
export interface ConfigField {
  readonly label: string;
  /** Never shown, logged or exported. */
  readonly secret?: boolean;
  readonly hint?: string;
}

/** Writes an address as text and reads it back: `decode(encode(a))` equals `a`. */
export interface AddressCodec<Address> {
  /** Starts with the channel's id and a colon. */
  encode(address: Address): string;
  /** @throws ChannelError `invalid` for text that this codec did not write */
  decode(text: string): Address;
}

export interface ChannelLogger {
  debug(message: string, fields?: Readonly<Record<string, Json>>): void;
  info(message: string, fields?: Readonly<Record<string, Json>>): void;
  warn(message: string, fields?: Readonly<Record<string, Json>>): void;
  error(message: string, fields?: Readonly<Record<string, Json>>): void;
}

/** Caches names and the like. Its entries may vanish at any time. */
export interface ChannelCache {
  get(key: string): Promise<Json | undefined>;
  set(key: string, value: Json, ttlMs: number): Promise<void>;
}

/**
 * Stores for good what a channel needs after a restart: offsets, watermarks, sessions of the platform. All accounts of
 * a channel share it: a key begins with the bot's own id, so that a new bot under an old name starts afresh.
 */
export interface ChannelState {
  get(key: string): Promise<Json | undefined>;
  /** Resolves once it is durable. */
  set(key: string, value: Json): Promise<void>;
  delete(key: string): Promise<void>;
}

/** A slash command of the host, for platforms that list them. */
export interface ChannelCommand {
  /** Without the slash: lower-case letters and digits. */
  readonly name: string;
  /** One line. */
  readonly description: string;
  /** The same in other languages, by ISO 639-1 (`zh`), for platforms that show each user their own language. */
  readonly localized?: Readonly<Record<string, string>>;
  /** What may follow the name, for instance `[message]`. */
  readonly usage?: string;
}

export interface Clock {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after `ms`, or rejects with the signal's reason. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;
}

/** What the host gives a channel; one account each. */
export interface ChannelContext<Config = unknown> {
  /** Checked by the definition's schema. */
  readonly config: Config;
  /** The account's name in the configuration. */
  readonly account: string;
  readonly logger: ChannelLogger;
  /** Resolves after the durable insert; acknowledge the platform only then. */
  emit(event: InboundEvent): Promise<EmitResult>;
  /** For every request that the channel makes, also through an SDK if that allows it. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly cache: ChannelCache;
  readonly state: ChannelState;
  /** The commands to register if the platform lists slash commands. Default none. */
  readonly commands?: readonly ChannelCommand[];
  /** Fires when the account is taken down; ends all work in progress. */
  readonly signal: AbortSignal;
  /** Put the platform's payload into events as `raw`. Default false. */
  readonly raw?: boolean;
}

/** Who this account is on the platform. */
export interface Identity {
  readonly id: string;
  readonly name?: string;
}

/** `degraded`: works in part or with a delay; `down`: does not work, until `retryAt` if it retries by itself. */
export type Health =
  | { readonly state: "starting" }
  | { readonly state: "ready" }
  | { readonly state: "degraded"; readonly reason: string; readonly retryAt?: number }
  | { readonly state: "down"; readonly reason: string; readonly retryAt?: number }
  | { readonly state: "stopped" };

/** A message of the past, newest last. */
export interface HistoryMessage {
  readonly messageId: string;
  readonly sender: Sender;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/**
 * Reads the whole body of a platform's request, whose length the host has already limited. Use it once, instead of the
 * request's own body.
 */
export type ReadBody = () => Promise<Uint8Array>;

/** One account of a platform, running. Every method may throw `ChannelError`, and no other error on purpose. */
export interface Channel<Address = unknown> {
  /** Resolves when listening; once. */
  start(signal: AbortSignal): Promise<void>;
  /** Lets work in progress end, for at most `drainMs`. May be called twice, and before or during `start`. */
  stop(options: { readonly drainMs: number }): Promise<void>;
  health(): Health;
  /** Undefined until the platform was asked. */
  self(): Identity | undefined;
  /**
   * Handles the platform's HTTP request, body untouched. Answers 200 only after `emit` returned accepted or duplicate.
   * If the host passes `read`, a channel may take the body with it, which costs less than the request's stream. A body
   * that it reads from the request itself it must limit while reading.
   */
  webhook?(request: Request, read?: ReadBody): Promise<Response>;
  send(to: Address, message: Outbound, options: SendOptions): Promise<Receipt>;
  edit?(to: Address, messageId: string, message: Outbound, signal: AbortSignal): Promise<void>;
  remove?(to: Address, messageId: string, signal: AbortSignal): Promise<void>;
  /** Ends a poll that was sent and returns the votes. */
  closePoll?(to: Address, messageId: string, signal: AbortSignal): Promise<PollResult>;
  /** `on: false` takes it back. */
  react?(
    to: Address,
    messageId: string,
    reaction: { readonly emoji: string; readonly on: boolean },
    signal: AbortSignal,
  ): Promise<void>;
  /** Shows or hides the typing indicator. A failure does not affect the answer. */
  typing?(
    to: Address,
    state: { readonly on: boolean; readonly messageId?: string },
    signal: AbortSignal,
  ): Promise<void>;
  /** The address of a direct conversation with that person. */
  openDirect?(userId: string, signal: AbortSignal): Promise<Address>;
  /** Newest last, at most `limit`. */
  history?(
    to: Address,
    options: { readonly limit: number; readonly before?: number; readonly signal: AbortSignal },
  ): Promise<readonly HistoryMessage[]>;
  /** A person's name, cached; undefined if it cannot be found out. Never throws. */
  resolve?(userId: string, signal: AbortSignal): Promise<{ readonly name: string } | undefined>;
  openDraft?(to: Address, options: DraftOptions): Promise<Draft>;
  fetchMedia?(ref: MediaRef, signal: AbortSignal): Promise<FetchedMedia>;
  /**
   * Asks the platform whether the account has what it needs there: permissions, a webhook that is reached. Called only
   * for a person looking for a problem, never automatically.
   */
  checks?(signal: AbortSignal): Promise<readonly AccountCheck[]>;
  /** Whether a doubtful part was sent. */
  reconcile?(intent: SendIntent<Address>, signal: AbortSignal): Promise<Reconciled>;
}

/** One thing that an account needs on its platform's side. */
export interface AccountCheck {
  /** For instance `scopes`. */
  readonly about: string;
  readonly ok: boolean;
  /** What the platform says of it. */
  readonly detail: string;
  /** What to do there. */
  readonly remedy?: string;
}

/** An attachment on its way. */
export interface FetchedMedia {
  readonly body: ReadableStream<Uint8Array>;
  /** As the platform's answer says. */
  readonly mimeType: string;
  /** In bytes, where the platform says. */
  readonly size?: number;
  readonly name?: string;
}

type MethodOf = {
  edit: "edit";
  remove: "remove";
  media: "fetchMedia";
  reactions: "react";
  typing: "typing";
  polls: "closePoll";
  openDirect: "openDirect";
  history: "history";
  resolve: "resolve";
};

/** The names of the optional methods that the claims of `C` require. */
type Obliged<C extends Capabilities> =
  | { [K in keyof MethodOf]: C[K] extends object | true ? MethodOf[K] : never }[keyof MethodOf]
  | (C["stream"] extends "native" | "draft" ? "openDraft" : never)
  | ("webhook" extends C["transports"][number] ? "webhook" : never)
  | (C["delivery"] extends { readonly readback: true } ? "reconcile" : never);

/** A channel that has every method its capabilities `C` claim. */
export type ChannelWith<Address, C extends Capabilities> = Channel<Address> &
  Required<Pick<Channel<Address>, Obliged<C>>>;

/** What a channel package exports: data, and one function that creates an account. */
export interface ChannelDefinition<
  Config = unknown,
  Address = unknown,
  C extends Capabilities = Capabilities,
> {
  readonly specVersion: 1;
  /** Lower-case letters, digits and hyphens; the key under `channels` in the configuration. */
  readonly id: string;
  readonly meta: ChannelMeta;
  readonly config: StandardSchemaV1<unknown, Config>;
  readonly capabilities: C;
  readonly codec: AddressCodec<Address>;
  /** Import the SDK in here or later, never at the top of the module. */
  create(context: ChannelContext<Config>): Promise<Channel<Address>>;
  /**
   * Whether an account with these settings connects to its platform by itself, instead of receiving webhooks. A host
   * may be ready before that is done. Default: it receives webhooks, or needs no connection.
   */
  connects?(config: Config): boolean;
  /** Loads ahead of time what an account's first message would have to wait for: a vendor's SDK, for instance. */
  load?(): Promise<void>;
}

/**
 * Checks by types that the channel has the methods its capabilities claim, and returns the definition in the form a
 * host takes.
 */
export function defineChannel<Config, Address, const C extends Capabilities>(
  definition: Omit<ChannelDefinition<Config, Address, C>, "create"> & {
    create(context: ChannelContext<Config>): Promise<ChannelWith<Address, C>>;
  },
): ChannelDefinition<Config, Address, C> {
  return definition;
}
