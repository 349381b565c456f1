export { type ConsolidatingAgent, consolidateNotes } from "./consolidation.ts";
export {
  createEmbedder,
  type EmbedderOptions,
  type EmbeddingProvider,
  type EmbeddingResponse,
  findMissingProvider,
  type PayForVectors,
} from "./embeddings.ts";
export { createFlush, type FlushedRun, type FlushOptions } from "./flush.ts";
export {
  createMemories,
  getNotesFolder,
  type Memories,
  type MemoriesOptions,
  type MemoryAgent,
} from "./memories.ts";
export {
  createRunMemory,
  type NoteSection,
  type RecalledContext,
  type RecallRequest,
  type RunMemory,
  type RunMemoryOptions,
} from "./run-memory.ts";
export { createSessionAccess, OWNERS, type SessionAccess } from "./session-access.ts";
export {
  createSessionTurns,
  parseTurnId,
  type SessionLog,
  type SessionTaint,
  type SessionTurnsOptions,
  type StoredMessage,
  type StoredSession,
} from "./session-turns.ts";
export { type CallingRun, createToolMemory, type MemoryText, type ToolMemory } from "./tool-memory.ts";
