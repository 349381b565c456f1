export {
  type CompactConversationPorts,
  type CompactedConversation,
  type ConversationToCompact,
  compactConversation,
} from "./compact-conversation.ts";
export { createCompactionCache, type SummaryNotes } from "./compaction-cache.ts";
export { type DurableRun, type EndedRun, runDurably } from "./durable-run.ts";
export { createHistories, type Histories, type History, type SessionState } from "./histories.ts";
export { createJournal, type Journal, type JournalOptions, type RunTail } from "./journal.ts";
export { decideOpenCall } from "./open-calls.ts";
export type * from "./store.ts";
export {
  type ClientUsage,
  clientUsage,
  type JournalUsage,
  journalUsage,
  usedIn,
  wholeUsage,
} from "./usage.ts";
export {
  type Asked,
  type ChatMessagesOptions,
  type ConversationMessage,
  chatMessages,
  type RunNotes,
} from "./view/chat-messages.ts";
export { noteId, sentId, turnId } from "./view/ids.ts";
export { createLiveView, type LiveView, type LiveViewOptions, type LiveViewPorts } from "./view/live-view.ts";
export { PLAIN, type Reading } from "./view/reading.ts";
export {
  createWaitingRuns,
  type Place,
  type Waiting,
  type WaitingRuns,
  type WaitingRunsOptions,
} from "./waiting.ts";
