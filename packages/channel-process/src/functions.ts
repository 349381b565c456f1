import type {
  ChannelCommand,
  DraftOptions,
  EmitResult,
  HistoryMessage,
  InboundEvent,
  Json,
  Outbound,
  PartReceipt,
  Receipt,
  ReconcileResult,
  SendIntent,
} from "@signalbox/channel";
import type { LogEntry, Status, WebhookResponse } from "./schemas.ts";

/** Functions with which each side reads streams of the other one. */
export interface StreamFunctions {
  /** Returns the next bytes, or `undefined` at the end. */
  readStream(stream: number): Uint8Array | undefined;
  cancelStream(stream: number): void;
}

/** Parameters of `send`. */
export interface SendParameters {
  /** Identifies this call in `partSent` and `openMedia`. */
  readonly sending: number;
  readonly message: Outbound;
  readonly idempotencyKey: string;
  readonly startAt?: number | undefined;
  /** True if the gateway can open the media of this message. */
  readonly hasMedia: boolean;
}

/** Channel methods whose arguments are forwarded unchanged, with the signal as the last one. */
export type ForwardedMethod =
  | "edit"
  | "remove"
  | "closePoll"
  | "react"
  | "typing"
  | "openDirect"
  | "resolve"
  | "identify"
  | "checks"
  | "fetchMedia";

/** Functions of an account's process, called by the gateway. Addresses are strings created by the channel's codec. */
export interface AccountFunctions extends StreamFunctions {
  /** Must be the first call. Returns the names of the channel's methods. */
  create(options: {
    /** The URL of the file that exports the definition. */
    readonly module: string;
    /** The id of the channel. */
    readonly channel: string;
    readonly account: string;
    readonly config: unknown;
    readonly commands: readonly ChannelCommand[];
    readonly raw: boolean;
    readonly isShared: boolean;
    /** True if `mayRequest` of the gateway must be called before each request. */
    readonly asksToRequest: boolean;
  }): { readonly methods: readonly string[] };
  start(options: undefined): void;
  stop(options: { readonly drainMs: number }): void;
  webhook(request: {
    readonly method: string;
    readonly url: string;
    readonly headers: [string, string][];
    readonly body: Uint8Array;
  }): WebhookResponse;
  send(options: SendParameters & { readonly to: string }): Receipt;
  forward(call: {
    readonly method: ForwardedMethod;
    readonly to?: string | undefined;
    readonly parameters: readonly unknown[];
  }): unknown;
  history(options: {
    readonly to: string;
    readonly limit: number;
    readonly before?: number | undefined;
  }): readonly HistoryMessage[];
  reconcile(intent: SendIntent<string>): ReconcileResult;
  /** Returns the draft's number. */
  openDraft(options: Omit<DraftOptions, "signal"> & { readonly to: string }): number;
  /** Returns the id of the draft's message, if there is one. */
  updateDraft(options: { readonly draft: number; readonly snapshot: string }): string | undefined;
  finalizeDraft(options: SendParameters & { readonly draft: number }): Receipt;
  prolongDraft(draft: number): void;
  abortDraft(draft: number): void;
  /** Fires the draft's signal. */
  haltDraft(draft: number): void;
}

/** Functions of the gateway, called by an account's process. */
export interface HostFunctions extends StreamFunctions {
  emit(event: InboundEvent): EmitResult;
  log(entry: LogEntry): void;
  /** Returns true if the process may send requests to the platform now. */
  mayRequest(options: undefined): boolean;
  /**
   * Called when the status changes, before the call that changed it returns. Also called every few seconds as a
   * heartbeat.
   */
  reportStatus(status: Status): void;
  cacheGet(key: string): Json | undefined;
  cacheSet(entry: { readonly key: string; readonly value: Json; readonly ttlMs: number }): void;
  stateGet(key: string): Json | undefined;
  stateSet(entry: { readonly key: string; readonly value: Json }): void;
  stateDelete(key: string): void;
  /** Reports that a part was sent. The next one is sent after this call returns. */
  partSent(options: { readonly sending: number; readonly part: PartReceipt }): void;
  /** Opens the message's media part with this index. Returns the number of its stream. */
  openMedia(options: { readonly sending: number; readonly index: number }): number;
}
