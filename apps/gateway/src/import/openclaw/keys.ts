import { formatSessionKey } from "@signalbox/routing";
import { toAccountName, toAgentId } from "../names.ts";
import { createPageConversation, OWN_ACCOUNT, placeInScope, type SessionPlace } from "../places.ts";
import type { ReadOptions } from "../source.ts";
import { stripPrefix } from "./accounts.ts";

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
