import {
  type AssistantMessage,
  type Compaction,
  type CompactionRequest,
  compact,
  estimateTokens,
  type RunUsage,
} from "@signalbox/agent-core";
import type { LeaseToken } from "@signalbox/store/types";
import type { Histories, SessionState } from "./histories.ts";
import type { ConversationStore } from "./store.ts";
import { usedIn } from "./usage.ts";

export interface CompactConversationPorts {
  readonly sessions: Pick<ConversationStore, "compact">;
  readonly histories: Pick<Histories, "load" | "forget">;
  readonly lease: LeaseToken;
}

type FromCaller = "model" | "stream" | "policy" | "beforeCompaction" | "signal" | "now";

export interface ConversationToCompact extends Pick<CompactionRequest, FromCaller> {
  readonly sessionKey: string;
  readonly session: SessionState | undefined;
  /** Told of how many tokens the conversation is before anything is done. */
  readonly onStart?: (tokens: number) => void;
}

export interface CompactedConversation extends Pick<Compaction, "replaced" | "source"> {
  /** How many messages there were, and of how many tokens. */
  readonly messages: number;
  readonly tokens: number;
  /** Of how many it is now. */
  readonly tokensLeft: number;
  readonly used: RunUsage;
}

/** A quarter of the window stays as it is, as when a turn runs out of room, and never all of a short conversation. */
const KEPT_SHARE = 0.25;

/**
 * Replaces the older part of a conversation that no run holds by a summary. Undefined if there is nothing to gain, or
 * `signal` came first.
 */
export async function compactConversation(
  { sessions, histories, lease }: CompactConversationPorts,
  { sessionKey, session, onStart, ...asked }: ConversationToCompact,
): Promise<CompactedConversation | undefined> {
  const { messages, places } = await histories.load(sessionKey, session);
  const tokens = estimateTokens(messages);
  onStart?.(tokens);
  const keepTokens = Math.floor(Math.min(asked.model.contextWindow, tokens) * KEPT_SHARE);
  const turns: AssistantMessage[] = [];
  const onTurn = (turn: AssistantMessage): void => void turns.push(turn);
  const done = await compact({ ...asked, messages, keepTokens, onTurn });
  const upTo = done === undefined ? undefined : places[done.replaced - 1];
  if (done === undefined || upTo === undefined) return undefined;
  await sessions.compact(sessionKey, { summary: done.summary, upTo, lease });
  histories.forget(sessionKey);
  const { replaced, source, summary } = done;
  const tokensLeft = estimateTokens([summary, ...messages.slice(replaced)]);
  return { replaced, source, messages: messages.length, tokens, tokensLeft, used: usedIn(turns) };
}
