export {
  type BriefMessage,
  clientHistory,
  isTakenBackNote,
  summaryNote,
  takenBackNote,
} from "./conversation-notes.ts";
export { editsKey, isEditsKey } from "./edited-later.ts";
export { cleanSenderName, formatBody, readBody } from "./envelope.ts";
export {
  type Brought,
  broughtContext,
  type ContextDocument,
  type ContextMessage,
  type EventFacts,
  eventContext,
  isRecalled,
  memoryContext,
  type ToldEvent,
} from "./event-context.ts";
export { endFirstRun, type FirstRun, readFirstRun } from "./first-run.ts";
export { type GroupEntry, groupKey, groupMedia, groupMessage, groupWords } from "./group-history.ts";
export { createMessageContexts, type MessageContext, type MessageContexts } from "./message-contexts.ts";
export { CACHE_BOUNDARY } from "./neutralise.ts";
export {
  driftBetween,
  type PrefixDrift,
  type PromptPrefix,
  prefixOf,
  type SectionHashes,
} from "./prefix.ts";
export {
  createPrefixWatch,
  type PrefixLook,
  type PrefixNotes,
  type PrefixWatch,
  type PrefixWatchPorts,
} from "./prefix-watch.ts";
export {
  composeReply,
  type Ending,
  mediaMark,
  type ReadTurn,
  type Reply,
  readTurn,
  saidIn,
  turnTexts,
  type WantedMedia,
} from "./replies/compose.ts";
export { draftText, type ReplyInProgress } from "./replies/draft-text.ts";
export { type ParsedReply, parseReply } from "./replies/parse.ts";
export { REPLY_FILTER } from "./replies/reply-filter.ts";
export { composeRunReply, type RepliedRun } from "./replies/run-reply.ts";
export { sentTexts } from "./replies/sent-texts.ts";
export { createSilenceFilter, SILENT_TOKEN, type SilenceFilter } from "./replies/silence.ts";
export { createVisibleText, type VisibleText } from "./replies/visible-text.ts";
export { createSentThere, isSentKey, type SentThere, sentKey } from "./sent-there.ts";
export { SUB_AGENT_TASK } from "./sub-agent.ts";
export { buildSystemPrompt, renderSystemPrompt } from "./system-prompt.ts";
export { layOutWorkspace, templateLanguage } from "./templates/lay-out.ts";
export { capabilityNames, turnInstructions } from "./turn-facts.ts";
export type * from "./types.ts";
export {
  createWorkspaceFileReader,
  type LoadedWorkspaceFiles,
  type LoadWorkspaceFilesOptions,
  loadWorkspaceFiles,
  sharedFiles,
  WORKSPACE_FILES,
  type WorkspaceFileProblem,
  type WorkspaceFileReaderOptions,
} from "./workspace-files.ts";
export { saysSomething } from "./workspace-text.ts";
