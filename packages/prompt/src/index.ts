export {
  type BriefMessage,
  createClientHistory,
  createDeletedNote,
  createSummaryNote,
  isDeletedNote,
} from "./conversation-notes.ts";
export { createCrossPosts, getCrossPostKey, isCrossPostKey } from "./cross-posts.ts";
export { getEditsKey, isEditsKey } from "./edit-keys.ts";
export { formatBody, readBody } from "./envelope.ts";
export {
  type ContextDocument,
  createEventContext,
  createMemoryContext,
  createUntrustedContext,
  hasMemoryLine,
} from "./event-context.ts";
export { endFirstRun, readFirstRun } from "./first-run.ts";
export { createGroupBody, getGroupKey, getGroupMedia, toGroupMessage } from "./group-history.ts";
export { escapeImitations } from "./headings.ts";
export { createMessageContexts, type MessageContext, type MessageContexts } from "./message-contexts.ts";
export { createPrefixWatch, type PrefixReport, type PrefixWatch } from "./prefix-watch.ts";
export { composeReply, getMediaMark, getTurnTexts, type Reply } from "./replies/compose.ts";
export { getDraftText } from "./replies/draft-text.ts";
export { findSentTexts } from "./replies/find-sent-texts.ts";
export { parseReply } from "./replies/parse.ts";
export { REPLY_FILTER } from "./replies/reply-filter.ts";
export { composeRunReply } from "./replies/run-reply.ts";
export { SILENT_TOKEN } from "./replies/silence.ts";
export { getCapabilityNames, getClientInstructions } from "./runtime-facts.ts";
export { SUB_AGENT_TASK } from "./sub-agent.ts";
export { buildSystemPrompt, renderSystemPrompt } from "./system-prompt.ts";
export { formatTimestamp } from "./timestamp.ts";
export type * from "./types.ts";
export { createUndeliveredBody, getUndeliveredKey, isUndeliveredKey } from "./undelivered.ts";
export { createWorkspaceFileReader, getSharedFiles, loadWorkspaceFiles } from "./workspace-files.ts";
export { createWorkspace, detectLanguage } from "./workspace-templates/create-workspace.ts";
export { hasContent } from "./workspace-text.ts";
