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
  ReconcileResult,
  SendIntent,
  SendOptions,
} from "./messages.ts";

interface ChannelMeta {
  /** The name for people, for instance `Feishu / Lark`. */
  readonly label: string;
  readonly description?: string;
  readonly docsUrl?: string;
  /** npm packages to install with the channel, such as the platform's SDK. Default: none. */
  readonly requires?: readonly string[];
  /** Fields of the configuration, in the order in which to ask for them. */
  readonly fields: Readonly<Record<string, ConfigField>>;
  /**
   * Steps of connecting an account, in the order of the platform's own setup. Fields that belong to no step are
   * optional. Default: one step with all fields.
   */
  readonly setup?: readonly SetupStep[];
}

/** The prompt for a field of the configuration. */
export interface ConfigField {
  readonly label: string;
  /** True if the value must never be shown, logged or exported. */
  readonly secret?: boolean;
  readonly hint?: string;
  /** All possible values, the recommended one first. `true` and `false` stand for booleans. Default: any text. */
  readonly options?: readonly FieldOption[];
}

interface FieldOption {
  readonly value: string;
  readonly label: string;
  readonly hint?: string;
}

/** A step of connecting an account to its platform. */
export interface SetupStep {
  /** Instructions, in one or two sentences. `{webhook}` stands for the URL to which the platform sends events. */
  readonly text?: string;
  /** Page of the platform on which the step takes place. */
  readonly url?: string;
  /** Fields to enter after the step. */
  readonly fields?: readonly string[];
  /** The step applies only if these fields have these values; `""` stands for no value. Default: always. */
  readonly when?: Readonly<Record<string, string>>;
}

/** Converts between addresses and text: `decode(encode(a))` equals `a`. */
export interface AddressCodec<Address> {
  /** The text starts with the channel's id and a colon. */
  encode(address: Address): string;
  /** @throws ChannelError `invalid` for text that this codec did not create */
  decode(text: string): Address;
}

export interface ChannelLogger {
  debug(message: string, fields?: Readonly<Record<string, Json>>): void;
  info(message: string, fields?: Readonly<Record<string, Json>>): void;
  warn(message: string, fields?: Readonly<Record<string, Json>>): void;
  error(message: string, fields?: Readonly<Record<string, Json>>): void;
}

/** A cache, for instance of names. Entries may disappear at any time. */
export interface ChannelCache {
  get(key: string): Promise<Json | undefined>;
  set(key: string, value: Json, ttlMs: number): Promise<void>;
}

/**
 * Durable state, such as offsets, watermarks and platform sessions. All accounts of a channel share it. Keys must begin
 * with the bot's id, so that another bot under the same account name does not read them.
 */
export interface ChannelState {
  get(key: string): Promise<Json | undefined>;
  /** Resolves once the value is durable. */
  set(key: string, value: Json): Promise<void>;
  delete(key: string): Promise<void>;
}

/** A slash command of the host, for platforms with a command list. */
export interface ChannelCommand {
  /** Lower-case letters and digits, without the slash. */
  readonly name: string;
  /** A single line. */
  readonly description: string;
  /** Translations of the description by language (ISO 639-1, such as `zh`), for platforms that support them. */
  readonly localized?: Readonly<Record<string, string>>;
  /** Placeholder for the arguments, for instance `[message]`. */
  readonly usage?: string;
}

export interface Clock {
  /** Returns the current time in milliseconds since the epoch. */
  readonly now: () => number;
  /** Resolves after `ms` milliseconds. If the signal fires first, rejects with its reason. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Everything that the host provides to an account. */
export interface ChannelContext<Config = unknown> {
  /** The settings, validated by the definition's schema. */
  readonly config: Config;
  /** The account's name in the configuration. */
  readonly account: string;
  readonly logger: ChannelLogger;
  /** Passes an event to the host. Resolves once the event is stored. Do not acknowledge it to the platform earlier. */
  emit(event: InboundEvent): Promise<EmitResult>;
  /** Use it for all requests, including those of an SDK if possible. */
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  readonly cache: ChannelCache;
  readonly state: ChannelState;
  /** The commands to register on the platform. Default: none. */
  readonly commands?: readonly ChannelCommand[];
  /** Fires when the account is taken down. All operations must end immediately. */
  readonly signal: AbortSignal;
  /** True if events should contain the platform's payload as `raw`. Default: false. */
  readonly raw?: boolean;
  /** True if other hosts send through the account, too, so that this one does not know all messages. Default: false. */
  readonly isShared?: boolean;
  /**
   * Returns false while another host may have taken over the work of this one. `fetch` calls it before each request.
   * Channels call it before requests that they send in another way. Default: always true.
   */
  readonly mayRequest?: () => boolean;
}

/** The identity of the bot on the platform. */
export interface Identity {
  readonly id: string;
  readonly name?: string;
}

/**
 * The health of an account. `degraded`: it works partially or with a delay. `down`: it does not work. `retryAt` is the
 * time of the next automatic attempt, in milliseconds since the epoch.
 */
export type Health =
  | { readonly state: "starting" }
  | { readonly state: "ready" }
  | { readonly state: "degraded"; readonly reason: string; readonly retryAt?: number }
  | { readonly state: "down"; readonly reason: string; readonly retryAt?: number }
  | { readonly state: "stopped" };

/** A message in the history of a conversation. */
export interface HistoryMessage {
  readonly messageId: string;
  readonly sender: Sender;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/**
 * Reads the entire body of a request. The host limits its length. Call it at most once, and do not read the request
 * itself.
 */
export type ReadBody = () => Promise<Uint8Array>;

/** A running account. The only error that methods throw deliberately is `ChannelError`. */
export interface Channel<Address = unknown> {
  /** Connects to the platform. Resolves once the account receives events. Called once. */
  start(signal: AbortSignal): Promise<void>;
  /**
   * Stops the account. Waits at most `drainMs` for operations in progress. May be called repeatedly, even before or
   * during `start`.
   */
  stop(options: { readonly drainMs: number }): Promise<void>;
  health(): Health;
  /** The bot, or `undefined` until it is known. */
  self(): Identity | undefined;
  /**
   * Handles an HTTP request from the platform. Returns 200 only after `emit` returned `accepted` or `duplicate`.
   *
   * @param read reads the body faster than the stream of the request. A channel that reads the request itself must
   * limit the body's length.
   */
  webhook?(request: Request, read?: ReadBody): Promise<Response>;
  send(to: Address, message: Outbound, options: SendOptions): Promise<Receipt>;
  edit?(to: Address, messageId: string, message: Outbound, signal: AbortSignal): Promise<void>;
  remove?(to: Address, messageId: string, signal: AbortSignal): Promise<void>;
  /** Closes a poll and returns the votes. */
  closePoll?(to: Address, messageId: string, signal: AbortSignal): Promise<PollResult>;
  /** Adds a reaction from the bot, or removes it if `on` is false. */
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
  /** Returns the address of a direct conversation with a person. */
  openDirect?(userId: string, signal: AbortSignal): Promise<Address>;
  /**
   * Returns at most `limit` messages, oldest first. With `before`, only messages older than this time in milliseconds
   * since the epoch.
   */
  history?(
    to: Address,
    options: { readonly limit: number; readonly before?: number; readonly signal: AbortSignal },
  ): Promise<readonly HistoryMessage[]>;
  /** Returns a person's name if it is available. Results are cached. Never throws. */
  resolve?(userId: string, signal: AbortSignal): Promise<{ readonly name: string } | undefined>;
  /** Opens a message that grows while the model is writing. */
  openDraft?(to: Address, options: DraftOptions): Promise<Draft>;
  /** Downloads an attachment of a message. */
  fetchMedia?(ref: MediaRef, signal: AbortSignal): Promise<FetchedMedia>;
  /**
   * Requests the bot's identity with the credentials of the account. Setup calls it after `start` to test them. Needed
   * only if `start` sends no request that the platform would refuse.
   *
   * @throws ChannelError `auth` if the platform refuses the credentials
   */
  identify?(signal: AbortSignal): Promise<Identity>;
  /**
   * Checks whether the account is set up correctly on the platform, including its permissions and its webhook. Called
   * only when a person runs diagnostics.
   */
  checks?(signal: AbortSignal): Promise<readonly AccountCheck[]>;
  /** Looks up whether a part with an unknown outcome was sent. */
  reconcile?(intent: SendIntent<Address>, signal: AbortSignal): Promise<ReconcileResult>;
}

/** The result of a diagnostic check of an account. */
export interface AccountCheck {
  /** The subject of the check, for instance `scopes`. */
  readonly about: string;
  readonly ok: boolean;
  /** The finding, in one sentence. */
  readonly detail: string;
  /** Instructions for fixing the problem. */
  readonly remedy?: string;
}

/** An attachment during its download. */
export interface FetchedMedia {
  readonly body: ReadableStream<Uint8Array>;
  /** The type from the platform's response. */
  readonly mimeType: string;
  /** In bytes, if the platform reports it. */
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

/** The names of the optional methods that the capabilities `C` require. */
type RequiredMethods<C extends Capabilities> =
  | { [K in keyof MethodOf]: C[K] extends object | true ? MethodOf[K] : never }[keyof MethodOf]
  | (C["stream"] extends "native" | "draft" ? "openDraft" : never)
  | ("webhook" extends C["transports"][number] ? "webhook" : never)
  | (C["delivery"] extends { readonly readback: true | "recent" } ? "reconcile" : never);

/** A channel with all methods that its capabilities `C` require. */
export type ChannelWith<Address, C extends Capabilities> = Channel<Address> &
  Required<Pick<Channel<Address>, RequiredMethods<C>>>;

/** The export of a channel package: a description of the channel, and a function that creates an account. */
export interface ChannelDefinition<
  Config = unknown,
  Address = unknown,
  C extends Capabilities = Capabilities,
> {
  readonly specVersion: 1;
  /** Lower-case letters, digits and hyphens. Also the key under `channels` in the configuration. */
  readonly id: string;
  readonly meta: ChannelMeta;
  readonly config: StandardSchemaV1<unknown, Config>;
  readonly capabilities: C;
  readonly codec: AddressCodec<Address>;
  /** Creates an account. Import the SDK here or later, never at the top of the module. */
  create(context: ChannelContext<Config>): Promise<Channel<Address>>;
  /**
   * Returns true if an account with this configuration connects to its platform instead of receiving webhooks. The host
   * may be ready before the connection is open. Default: false.
   */
  connects?(config: Config): boolean;
  /**
   * Returns true if an account with this configuration can send only over its own connection. If several hosts share
   * the account, only the one that listens sends. Default: false.
   */
  sendsOverConnection?(config: Config): boolean;
}

/**
 * Returns the definition. Its type requires the methods that the capabilities need.
 *
 * @example
 * ```ts
 * export const mine = defineChannel({
 *   specVersion: 1,
 *   id: "mine",
 *   meta: { label: "Mine", fields: { token: { label: "Token", secret: true } } },
 *   config: z.object({ token: z.string() }),
 *   capabilities: {
 *     text: { max: 2_000, unit: "codepoints", markup: "plain" },
 *     stream: "none",
 *     threads: "none",
 *     delivery: {},
 *     rate: [],
 *     transports: ["webhook"],
 *   },
 *   codec,
 *   create: async (context) => createMine(context),
 * });
 * ```
 */
export function defineChannel<Config, Address, const C extends Capabilities>(
  definition: Omit<ChannelDefinition<Config, Address, C>, "create"> & {
    create(context: ChannelContext<Config>): Promise<ChannelWith<Address, C>>;
  },
): ChannelDefinition<Config, Address, C> {
  return definition;
}
