export { createMemory } from "./create-memory.ts";
export type { Memory, MemoryOptions, MemoryStatus, NoteEdit } from "./memory.ts";
export type { ConsolidateOptions, Consolidation, DailyEntry, LastingEntry } from "./notes/consolidate.ts";
export type { WholeNote, WrittenEntry } from "./notes/notebook.ts";
export type { NoteVersion } from "./notes/versions.ts";
export type { Recall, RecallOptions } from "./recall.ts";
export type { Marks, TurnPage, TurnSource } from "./turns/turn-log.ts";
export type {
  Author,
  Chunk,
  ChunkInContext,
  Hit,
  ListOptions,
  NewNote,
  NewTurn,
  NoteKind,
  NoteList,
  NotePlace,
  Reader,
  Scope,
  SearchMode,
  SearchOptions,
  SearchResult,
  Turn,
  VectorEngine,
} from "./types.ts";
export type { Embedder } from "./vectors/embedder.ts";
export { openStaticModel } from "./vectors/static-model.ts";
