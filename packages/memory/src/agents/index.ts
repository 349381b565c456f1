export { type ConsolidatingAgent, consolidateNotes } from "./consolidation.ts";
export {
  type Embedded,
  type EmbedderOptions,
  type EmbeddingProvider,
  embedderOf,
  missingProvider,
  type PayForVectors,
} from "./embeddings.ts";
export { createFlush, type FlushedRun, type FlushOptions } from "./flush.ts";
export { createListeners, type Listeners, OWNERS, type Role } from "./listeners.ts";
export {
  createMemories,
  type Memories,
  type MemoriesOptions,
  notesFolder,
  type RememberingAgent,
} from "./memories.ts";
export {
  createRunMemory,
  type NoteSection,
  type Occasion,
  type Remembered,
  type RunMemory,
  type RunMemoryOptions,
} from "./run-memory.ts";
export {
  type RememberedMessage,
  type RememberedSession,
  type SessionLog,
  type SessionTaint,
  type SessionTurnsOptions,
  sessionTurns,
} from "./session-turns.ts";
export { type CallingRun, createToolMemory, type MemoryText, type ToolMemory } from "./tool-memory.ts";
