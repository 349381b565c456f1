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
import { sumUsage } from "./usage.ts";

export interface CompactConversationPorts {
  readonly sessions: Pick<ConversationStore, "compact">;
  readonly histories: Pick<Histories, "load" | "forget">;
  readonly lease: LeaseToken;
}

type FromCaller = "model" | "stream" | "policy" | "beforeCompaction" | "signal" | "now";

export interface ConversationToCompact extends Pick<CompactionRequest, FromCaller> {
  readonly sessionKey: string;
  readonly session: SessionState | undefined;
  /** Called with the size of the conversation in tokens before the compaction begins. */
  readonly onStart?: (tokens: number) => void;
}

export interface CompactedConversation extends Pick<Compaction, "replaced" | "source"> {
  /** Size of the conversation before the compaction, in messages and tokens. */
  readonly messages: number;
  readonly tokens: number;
  /** Size after the compaction, in tokens. */
  readonly tokensLeft: number;
  readonly used: RunUsage;
}

/** Share of the window to keep verbatim. For a short conversation, the same share of the conversation. */
const KEPT_SHARE = 0.25;

/**
 * Replaces the older messages of a conversation with a summary. No run may hold the conversation.
 *
 * @returns `undefined` if there is nothing to gain or `signal` was aborted first
 */
export async function compactConversation(
  { sessions, histories, lease }: CompactConversationPorts,
  { sessionKey, session, onStart, ...asked }: ConversationToCompact,
): Promise<CompactedConversation | undefined> {
  const { messages, seqs } = await histories.load(sessionKey, session);
  const tokens = estimateTokens(messages);
  onStart?.(tokens);
  const keepTokens = Math.floor(Math.min(asked.model.contextWindow, tokens) * KEPT_SHARE);
  const turns: AssistantMessage[] = [];
  const onTurn = (turn: AssistantMessage): void => void turns.push(turn);
  const done = await compact({ ...asked, messages, keepTokens, onTurn });
  const upTo = done === undefined ? undefined : seqs[done.replaced - 1];
  if (done === undefined || upTo === undefined) return undefined;
  await sessions.compact(sessionKey, { summary: done.summary, upTo, lease });
  histories.forget(sessionKey);
  const { replaced, source, summary } = done;
  const tokensLeft = estimateTokens([summary, ...messages.slice(replaced)]);
  return { replaced, source, messages: messages.length, tokens, tokensLeft, used: sumUsage(turns) };
}
