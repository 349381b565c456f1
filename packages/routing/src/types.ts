import type { IdentityLinks } from "./identity-links.ts";
import type { Peer } from "./peer.ts";
import type { ResetPolicies } from "./reset.ts";

/** What routing needs to know of a message. Optional fields are absent where the platform has no such thing. */
export interface RouteInput {
  /** Id of the channel, for instance `discord`. */
  readonly channel: string;
  /** The account of ours that received the message. */
  readonly account: string;
  readonly peer: Peer;
  /** Other ids of `peer`. A binding may name any of them. */
  readonly otherPeerIds?: readonly string[] | undefined;
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
  /** One account, or a pattern in which `*` matches any text. Absent and `*` mean every account. */
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
   * People known by several ids. All direct messages of one person share one session, on every channel and in every
   * `dmScope` but `main`, where everybody shares one.
   */
  readonly identityLinks?: IdentityLinks | undefined;
  /** Default: never. */
  readonly reset?: ResetPolicies | undefined;
}
