/** What kind of conversation a message was written in. */
export type PeerKind = "direct" | "group" | "channel";

/** The conversation a message belongs to: the person in a direct chat, else the group or channel. */
export interface Peer {
  readonly kind: PeerKind;
  /** The platform's immutable id, compared exactly: neither case nor Unicode form is folded. */
  readonly id: string;
}

/** What routing needs to know of a message. Optional fields are absent where the platform has no such thing. */
export interface RouteInput {
  /** Id of the channel, for instance `discord`. */
  readonly channel: string;
  /** The account of ours that received the message. */
  readonly account: string;
  readonly peer: Peer;
  /**
   * The conversation that a thread hangs from, where the thread is a conversation of its own (Discord). A direct chat
   * only where `peer` is one.
   */
  readonly parentPeer?: Peer | undefined;
  /** Discord's server. Absent in direct chats. */
  readonly guildId?: string | undefined;
  /** Ids of the sender's roles in that server; the order does not matter. Absent in direct chats. */
  readonly roles?: readonly string[] | undefined;
  /** Slack's workspace, Feishu's tenant. */
  readonly teamId?: string | undefined;
  /** A thread inside `peer`, or `peer` itself where a thread is a conversation of its own. */
  readonly threadId?: string | undefined;
}

/** The conditions of a binding. Every one that is given must hold. */
export interface BindingMatch {
  /** Compared exactly. */
  readonly channel: string;
  /** One account, or a pattern in which `*` stands for any text. Absent and `*` mean every account. */
  readonly account?: string | undefined;
  /** One conversation, or every one of a kind with the id `*`. */
  readonly peer?: Peer | undefined;
  readonly guildId?: string | undefined;
  /** The sender must have one of these. An empty list can never match. */
  readonly roles?: readonly string[] | undefined;
  readonly teamId?: string | undefined;
}

/** Sends what matches to an agent. */
export interface Binding {
  readonly agent: string;
  readonly match: BindingMatch;
}

/**
 * Whose direct messages share a session: everybody's (`main`), each person's (`per-peer`), each person's on each
 * channel, or each person's on each account of a channel. Groups and channels always have a session each.
 */
export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

/** When a conversation starts afresh. */
export type ResetPolicy =
  | { readonly mode: "none" }
  /** Every day at this hour, 0 to 23, in an IANA time zone; without one, in the machine's. */
  | { readonly mode: "daily"; readonly hour: number; readonly timeZone?: string | undefined }
  /** After this many minutes without a message. */
  | { readonly mode: "idle"; readonly minutes: number };

/** A policy for each kind of chat; `default` where a kind has none. */
export interface ResetPolicies {
  readonly default: ResetPolicy;
  readonly direct?: ResetPolicy | undefined;
  readonly group?: ResetPolicy | undefined;
  readonly channel?: ResetPolicy | undefined;
}

export interface RoutingConfig {
  /** In order of precedence within a tier. */
  readonly bindings: readonly Binding[];
  /** Ids of the agents there are. A binding to any other agent is passed over, see `checkBindings`. */
  readonly agents: readonly string[];
  /** The agent that answers where no binding matches; one of `agents`. */
  readonly defaultAgent: string;
  /** Default `per-channel-peer`. */
  readonly dmScope?: DmScope | undefined;
  /**
   * People known by several ids: a name, and ids written `channel:id`. All direct messages of one person share one
   * session, on every channel and whatever `dmScope` says.
   */
  readonly identityLinks?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Default: never. */
  readonly reset?: ResetPolicies | undefined;
}

/** The tier of binding that decided, or `default` where none did. */
export type MatchedBy = RouteTier | "default";

/** Tiers of bindings, in the order in which they are tried. */
export type RouteTier =
  | "binding.peer"
  | "binding.peer.parent"
  | "binding.peer.wildcard"
  | "binding.guild+roles"
  | "binding.guild"
  | "binding.team"
  | "binding.account"
  | "binding.channel";

/** Where a message goes. */
export interface Route {
  readonly agentId: string;
  readonly sessionKey: string;
  readonly matchedBy: MatchedBy;
  /** Place of the deciding binding in `RoutingConfig.bindings`, from 0. Absent where `matchedBy` is `default`. */
  readonly bindingIndex?: number;
}

/** One condition of a binding that did not hold. */
export interface Mismatch {
  readonly field: "channel" | "agent" | "account" | "peer" | "guildId" | "roles" | "teamId";
  /** What the binding asks for. */
  readonly wanted: string;
  /** What the message has; absent where it has nothing. */
  readonly got?: string;
}

/** A binding that was looked at in vain. */
export interface TriedBinding {
  readonly bindingIndex: number;
  readonly agent: string;
  readonly mismatches: readonly Mismatch[];
}

/** What happened in one tier. */
export interface TierReport {
  readonly tier: MatchedBy;
  readonly outcome: "matched" | "no-match" | "not-reached";
  /** One sentence for people. */
  readonly reason: string;
  /** Bindings of this channel that belong to the tier. */
  readonly bindings: number;
  /** The first of those that did not match, up to the limit asked for. */
  readonly tried: readonly TriedBinding[];
}

/** Why a message goes where it goes. */
export interface RouteExplanation {
  readonly input: RouteInput;
  readonly route: Route;
  /** Every tier in order; those after the deciding one are `not-reached`. */
  readonly tiers: readonly TierReport[];
  readonly session: {
    readonly dmScope: DmScope;
    /** The linked person whose session this is. */
    readonly linkedTo?: string;
    /** One sentence for people. */
    readonly reason: string;
  };
  readonly cache: {
    /** Where `resolve` would take the route from at this moment. */
    readonly source: "memory" | "store" | "none";
    /** Key of this route in the durable cache: a digest of all that it depends on. */
    readonly digest: string;
    /** Digest of the configuration. */
    readonly config: string;
    /** What the deciding binding was compiled to: bindings that apply to every account, and to this one. */
    readonly compiled: { readonly everyAccount: number; readonly thisAccount: number };
  };
}

/**
 * A durable cache of routes, so that a restart is warm. It is never needed: what it gives is checked, its failures
 * are reported and otherwise without effect.
 */
export interface RouteCacheStore {
  /** The most recently written routes of one configuration, newest first; at most `limit`. */
  load(
    config: string,
    limit: number,
  ): Promise<readonly { readonly digest: string; readonly route: unknown }[]>;
  /** Adds routes, or replaces those with the same digest. */
  put(config: string, rows: readonly CachedRoute[]): Promise<void>;
  /** Removes the routes of every other configuration; gives their number. */
  prune(keepConfig: string): Promise<number>;
}

/** A row of the durable cache. */
export interface CachedRoute {
  readonly digest: string;
  /** Plain JSON. */
  readonly route: { readonly [field: string]: string | number };
}

/** Time, for the delayed writes to the durable cache. */
export interface RouterClock {
  /** Calls `run` once, after `ms` milliseconds; the function given back prevents it. */
  after(ms: number, run: () => void): () => void;
}

export interface RouterOptions {
  readonly cache?: RouteCacheStore;
  /** Default: timers of the platform that do not keep the process alive. */
  readonly clock?: RouterClock;
  /** Routes kept in memory. Default 10,000; 0 keeps none. */
  readonly maxRoutes?: number;
  /** Pairs of channel and account whose compiled bindings are kept in memory. Default 2,000. */
  readonly maxCompiled?: number;
  /** Told when the durable cache fails. Default: nothing. */
  readonly onCacheError?: (error: unknown) => void;
}

/** Routes messages by one configuration, which is copied: to change it, make another router. */
export interface Router {
  /** Digest of the configuration. */
  readonly digest: string;
  /** Where a message goes. Never throws, waits for nothing. */
  resolve(input: RouteInput): Route;
  /** Why. `limit` bounds the bindings listed in a tier, default 10. */
  explain(input: RouteInput, options?: { readonly limit?: number }): RouteExplanation;
  /** Whether a conversation of this kind starts afresh with a message that arrives now. */
  resetDue(kind: PeerKind, at: ResetTimes): boolean;
  /** Loads the routes of this configuration from the durable cache and removes those of others; gives their number. */
  warm(): Promise<number>;
  /** Writes what waits to be written to the durable cache. */
  flush(): Promise<void>;
}

/** Times in milliseconds since 1970. */
export interface ResetTimes {
  /** When the last message of the session arrived; absent in a new session. */
  readonly lastMessageAt?: number | undefined;
  readonly now: number;
}
