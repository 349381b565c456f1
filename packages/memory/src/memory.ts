import type { ConsolidateOptions, Consolidation } from "./notes/consolidate.ts";
import type { NoteKind, WholeNote } from "./notes/notebook.ts";
import type { NoteVersion } from "./notes/versions.ts";
import type { Recall, RecallOptions } from "./recall.ts";
import type { TurnSource } from "./turns/turn-log.ts";
import type {
  Author,
  ChunkInContext,
  NewTurn,
  Reader,
  Scope,
  SearchOptions,
  SearchResult,
  VectorEngine,
} from "./types.ts";
import type { Embedder } from "./vectors/embedder.ts";

export interface MemoryOptions {
  /** Where notes and conversations are kept. Without one everything ends with the process. */
  readonly folder?: string;
  /** The file of the index. Default: `.index.db` in the folder. */
  readonly index?: string;
  /** Conversations that are kept elsewhere. Default: memory keeps what it is given by `add`, in the folder. */
  readonly turns?: TurnSource;
  /** Whose the notes at the top of the folder are. Default: everyone's. */
  readonly topScope?: Scope;
  /** Default: none, and searches go by words alone. */
  readonly embeddings?: Embedder;
  /** After so many days being new counts half. Default 30. */
  readonly halfLifeDays?: number;
  /** For how long files are taken to be as they were last seen, in milliseconds. Default 1,000. */
  readonly maxAgeMs?: number;
  readonly now?: () => number;
  /** Logs failures of background work, and repairs. */
  readonly onProblem?: (problem: string, error?: unknown) => void;
}

/** An entry for the notes. */
export interface NewNote {
  readonly text: string;
  /** `lasting` goes into `MEMORY.md`, `daily` into the notes of the day. Default `daily`. */
  readonly kind?: NoteKind;
  /** Default: that of the notes at the top of the folder. */
  readonly scope?: Scope;
  readonly author?: string | Author;
  readonly chat?: string;
  readonly message?: string;
  /** Where untrusted content in it came from. */
  readonly untrusted?: string;
}

export interface MemoryStatus {
  readonly notes: number;
  readonly turns: number;
  readonly vectors:
    | {
        readonly model: string;
        readonly engine: VectorEngine;
        readonly pending: number;
        readonly problem?: string;
      }
    | undefined;
}

export interface Memory {
  /** Stores what was said, word for word. An existing turn with the same id is replaced. Returns the ids. */
  add(turns: NewTurn | readonly NewTurn[]): Promise<string[]>;
  search(query: string, options?: SearchOptions): Promise<SearchResult>;
  /** The few that bear on a message, for the prompt; undefined where nothing does. */
  recall(message: string, options?: RecallOptions): Promise<Recall | undefined>;
  /** One chunk by its id, unless this reader may not see it. */
  get(
    id: string,
    options?: { readonly reader?: Reader; readonly neighbours?: number },
  ): Promise<ChunkInContext | undefined>;
  /** `MEMORY.md` and the notes of yesterday and today, of one scope. */
  notes(scope?: Scope): Promise<WholeNote[]>;
  /** Writes an entry into the notes and gives its id. */
  write(note: NewNote): Promise<string>;
  /**
   * Forgets chunks for good, with what was drawn from them, their vectors, and earlier versions of their notes. Gives
   * the ids of what was forgotten; what the reader may not see is left alone.
   */
  forget(ids: readonly string[], options?: { readonly reader?: Reader }): Promise<string[]>;
  /** Draws lasting entries from daily notes. */
  consolidate(options: ConsolidateOptions): Promise<Consolidation>;
  /** Earlier states of the lasting notes of a scope, newest first. */
  log(scope?: Scope): Promise<NoteVersion[]>;
  restore(version: NoteVersion): Promise<void>;
  /** Reads what changed since. Searches do so by themselves. */
  refresh(): Promise<void>;
  /** Throws the index away and makes it from the files. */
  rebuild(): Promise<void>;
  /** Waits until everything that can be embedded is. */
  embedded(): Promise<void>;
  status(): Promise<MemoryStatus>;
  close(): Promise<void>;
}
