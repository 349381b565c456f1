import { formatSessionKey } from "@signalbox/routing";
import type { ReadOptions } from "../source.ts";
import { stripPrefix } from "./accounts.ts";
import { toAccountName, toAgentId } from "./names.ts";

/** The place of a conversation here. */
export interface SessionPlace {
  readonly key: string;
  readonly agentId: string;
  readonly channel: string;
  readonly account: string;
  readonly peer: string;
  readonly kind: "direct" | "group" | "channel";
  readonly thread?: string | undefined;
}

/** Facts about a session that its key does not contain. */
export interface KeyFacts {
  readonly account: string | undefined;
  /** The person of a main conversation, if there is only one. */
  readonly owner: { readonly channel: string; readonly account: string; readonly peerId: string } | undefined;
  /** Scope of direct messages here. */
  readonly dmScope: string;
  /** Names of linked people, by `channel:id`. */
  readonly links: ReadonlyMap<string, string>;
  readonly channels: readonly string[];
}

/** Account of the gateway's own channels. */
const OWN_ACCOUNT = "main";

/**
 * Converts the key of a session.
 *
 * @returns the reason, if the session has no place here
 */
export function convertKey(key: string, facts: KeyFacts, options: ReadOptions): SessionPlace | string {
  const [prefix, theirs = "", ...rest] = key.split(":");
  if (prefix !== "agent" || theirs === "") return "Its key names no agent.";
  const agentId = toAgentId(theirs, options);
  const threadAt = rest.findIndex((step) => step === "topic" || step === "thread");
  const thread = threadAt > 0 ? rest.slice(threadAt + 1).join(":") : undefined;
  const steps = threadAt > 0 ? rest.slice(0, threadAt) : rest;
  if (steps.length === 1 && steps[0] === "main") return placeOfMain(agentId, facts);
  const kindAt = steps.findIndex((step) => ["direct", "dm", "group", "channel"].includes(step));
  const peer = stripPrefix(steps.slice(kindAt + 1).join(":"), steps[0] ?? "");
  if (kindAt === -1 || kindAt > 2 || peer === "")
    return "It belongs to a schedule, a webhook, a sub-agent or a client, which have no conversation to continue.";
  const channel = kindAt === 0 ? undefined : steps[0];
  const ownAccount = kindAt === 2 ? steps[1] : undefined;
  if (channel !== undefined && !facts.channels.includes(channel))
    return `Conversations of the channel ${channel} cannot be continued.`;
  const kind = steps[kindAt] === "dm" ? "direct" : (steps[kindAt] as "direct" | "group" | "channel");
  if (kind === "direct") {
    if (channel === undefined) return placeOfPeer(agentId, peer, facts, thread);
    return placeOfDirect(
      agentId,
      { channel, account: ownAccount ?? facts.account ?? "default", peerId: peer },
      facts,
      options,
      thread,
    );
  }
  if (channel === undefined) return "Its key names no channel.";
  const account = toAccountName(channel, ownAccount ?? facts.account ?? "default", options);
  const parts = {
    kind,
    agentId,
    channel,
    account,
    peerId: peer,
    ...(thread === undefined ? {} : { threadId: thread }),
  };
  return { key: formatSessionKey(parts), agentId, channel, account, peer, kind, thread };
}

/** Places a main conversation: with its only person, or on the web page for owners. */
function placeOfMain(agentId: string, facts: KeyFacts): SessionPlace {
  const { owner, dmScope } = facts;
  if (owner === undefined) return createPageConversation(agentId, "import-main");
  const { channel, account, peerId } = owner;
  if (dmScope === "main")
    return {
      key: formatSessionKey({ kind: "main", agentId }),
      agentId,
      channel,
      account,
      peer: peerId,
      kind: "direct",
    };
  return placeInScope(agentId, owner, facts, undefined);
}

/** Returns a conversation of the web page, which only owners see. */
function createPageConversation(agentId: string, id: string): SessionPlace {
  return {
    key: formatSessionKey({ kind: "direct", agentId, channel: "web", peerId: id }),
    agentId,
    channel: "web",
    account: OWN_ACCOUNT,
    peer: id,
    kind: "direct",
  };
}

function placeOfPeer(
  agentId: string,
  peer: string,
  facts: KeyFacts,
  thread: string | undefined,
): SessionPlace | string {
  const { owner } = facts;
  const key = formatSessionKey({
    kind: "direct",
    agentId,
    peerId: peer,
    ...(thread === undefined ? {} : { threadId: thread }),
  });
  return {
    key,
    agentId,
    channel: owner?.channel ?? "web",
    account: owner?.account ?? OWN_ACCOUNT,
    peer: owner?.peerId ?? peer,
    kind: "direct",
    thread,
  };
}

function placeOfDirect(
  agentId: string,
  person: { readonly channel: string; readonly account: string; readonly peerId: string },
  facts: KeyFacts,
  options: ReadOptions,
  thread: string | undefined,
): SessionPlace {
  const account = toAccountName(person.channel, person.account, options);
  return placeInScope(agentId, { ...person, account }, facts, thread);
}

/** Returns the direct conversation with a person in the scope that this gateway uses. */
function placeInScope(
  agentId: string,
  person: { readonly channel: string; readonly account: string; readonly peerId: string },
  { dmScope, links }: KeyFacts,
  thread: string | undefined,
): SessionPlace {
  const { channel, account, peerId } = person;
  const link = links.get(`${channel}:${peerId}`);
  const threadId = thread === undefined ? {} : { threadId: thread };
  const key =
    dmScope === "main"
      ? formatSessionKey({ kind: "main", agentId })
      : link !== undefined
        ? formatSessionKey({ kind: "direct", agentId, peerId: link, ...threadId })
        : dmScope === "per-peer"
          ? formatSessionKey({ kind: "direct", agentId, peerId, ...threadId })
          : dmScope === "per-account-channel-peer"
            ? formatSessionKey({ kind: "direct", agentId, channel, account, peerId, ...threadId })
            : formatSessionKey({ kind: "direct", agentId, channel, peerId, ...threadId });
  return { key, agentId, channel, account, peer: peerId, kind: "direct", thread };
}
