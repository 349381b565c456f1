import type { IdentityLinks } from "./identity-links.ts";
import type { Peer } from "./peer.ts";
import type { ResetPolicies } from "./reset.ts";

/** The fields of a message that routing depends on. Optional fields are absent if the platform has no such concept. */
export interface RouteInput {
  /** Id of the channel, for instance `discord`. */
  readonly channel: string;
  /** Our account that received the message. */
  readonly account: string;
  readonly peer: Peer;
  /** Other ids of `peer`. A binding may name any of them. */
  readonly otherPeerIds?: readonly string[] | undefined;
  /**
   * The parent conversation of a thread that is itself a conversation, as on Discord. It is a direct chat only if
   * `peer` is one.
   */
  readonly parentPeer?: Peer | undefined;
  /** Id of the Discord server. Absent in direct chats. */
  readonly guildId?: string | undefined;
  /** Ids of the sender's roles in that server, in any order. Absent in direct chats. */
  readonly roles?: readonly string[] | undefined;
  /** Id of the Slack workspace or Feishu tenant. */
  readonly teamId?: string | undefined;
  /** Id of a thread inside `peer`. Equals the id of `peer` if the thread is itself the conversation. */
  readonly threadId?: string | undefined;
}

/** The conditions of a binding. All that are present must hold. */
export interface BindingMatch {
  /** Compared exactly. */
  readonly channel: string;
  /** One account, or a pattern in which `*` matches any text. Absent and `*` mean every account. */
  readonly account?: string | undefined;
  /** One conversation, or all of a kind with the id `*`. */
  readonly peer?: Peer | undefined;
  readonly guildId?: string | undefined;
  /** The sender must have one of these. An empty list can never match. */
  readonly roles?: readonly string[] | undefined;
  readonly teamId?: string | undefined;
}

/** A rule that gives matching messages to an agent. */
export interface Binding {
  readonly agent: string;
  readonly match: BindingMatch;
}

/**
 * Division of direct messages into sessions: one session for everyone (`main`), or one for each person, each
 * person and channel, or each person, channel and account. Every group and channel has its own session.
 */
export type DmScope = "main" | "per-peer" | "per-channel-peer" | "per-account-channel-peer";

export interface RoutingConfig {
  /** In order of precedence within each tier. */
  readonly bindings: readonly Binding[];
  /** Ids of all agents. Bindings to other agents are skipped; `checkBindings` reports them. */
  readonly agents: readonly string[];
  /** The agent for messages that no binding matches; one of `agents`. */
  readonly defaultAgent: string;
  /** Default: `per-channel-peer`. */
  readonly dmScope?: DmScope | undefined;
  /**
   * People with several ids. All direct messages of one person share a session across channels, except with the
   * `dmScope` `main`, where everyone shares one.
   */
  readonly identityLinks?: IdentityLinks | undefined;
  /** Default: never. */
  readonly reset?: ResetPolicies | undefined;
}
