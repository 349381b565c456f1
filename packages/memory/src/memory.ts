import type { ConsolidateOptions, Consolidation } from "./notes/consolidate.ts";
import type { WholeNote, WrittenEntry } from "./notes/notebook.ts";
import type { NoteVersion } from "./notes/versions.ts";
import type { Recall, RecallOptions } from "./recall.ts";
import type { TurnSource } from "./turns/turn-log.ts";
import type {
  Chunk,
  ChunkInContext,
  ListOptions,
  NewNote,
  NewTurn,
  NoteList,
  Reader,
  Scope,
  SearchOptions,
  SearchResult,
  VectorEngine,
} from "./types.ts";
import type { Embedder } from "./vectors/embedder.ts";

export interface MemoryOptions {
  /** The folder of notes and conversations. Default: a temporary folder that `close` removes. */
  readonly folder?: string;
  /** The file of the search index. Default: `.index.db` in the folder. */
  readonly index?: string;
  /** Conversations that are stored elsewhere. Default: `.turns.jsonl` in the folder, which `add` appends to. */
  readonly turns?: TurnSource;
  /** The scope of the notes at the top of the folder. Default: everyone. */
  readonly topScope?: Scope;
  /** Default: none. Searches then use only words. */
  readonly embeddings?: Embedder;
  /** Age in days after which recency counts half. Default 30. */
  readonly halfLifeDays?: number;
  /** Milliseconds for which files are not checked for changes again. Default: 1,000. */
  readonly maxAgeMs?: number;
  readonly now?: () => number;
  /** Called when a background task fails, when the index is repaired, and when a damaged turn is skipped. */
  readonly onProblem?: (problem: string, error?: unknown) => void;
}

export interface MemoryStatus {
  /** Indexed sections of notes. */
  readonly notes: number;
  /** Indexed turns. */
  readonly turns: number;
  readonly vectors:
    | {
        readonly model: string;
        readonly engine: VectorEngine;
        /** Number of chunks that have no vector yet. */
        readonly pending: number;
        /** The reason why the last attempt to compute vectors failed. */
        readonly problem?: string;
      }
    | undefined;
}

interface ForgetOptions {
  /** Default: a reader who sees only content that is visible to everyone. `"all"`: the owner of the files. */
  readonly reader?: Reader | "all";
  /** Called and awaited with the chunks before they are removed, so that a host can remove its own copies. */
  readonly before?: (chunks: readonly Chunk[]) => Promise<void>;
}

/** A change of one section of a note. */
export interface NoteEdit {
  readonly id: string;
  /** The text that the change is based on. */
  readonly before: string;
  readonly text: string;
}

export interface Memory {
  /**
   * Stores turns. A turn with the id of an earlier one replaces it.
   *
   * @returns the ids
   * @throws TypeError if a turn is not valid; nothing is stored then
   */
  add(turns: NewTurn | readonly NewTurn[]): Promise<string[]>;
  search(query: string, options?: SearchOptions): Promise<SearchResult>;
  /** Returns the few chunks that are relevant to a message, as lines for a prompt, or `undefined` without any. */
  recall(message: string, options?: RecallOptions): Promise<Recall | undefined>;
  /** Returns one chunk, unless the reader may not see it. */
  get(
    id: string,
    options?: { readonly reader?: Reader; readonly neighbours?: number },
  ): Promise<ChunkInContext | undefined>;
  /** Lists the sections of all notes, including those of people and chats. */
  list(options?: ListOptions): Promise<NoteList>;
  /** Returns `MEMORY.md` and the notes of yesterday and today for one scope. Omits empty notes. */
  notes(scope?: Scope): Promise<WholeNote[]>;
  /**
   * Adds an entry to the notes, unless the same author has already noted the same words.
   *
   * @returns the id of the entry, and whether it is new
   */
  write(note: NewNote): Promise<WrittenEntry>;
  /**
   * Replaces the text of a section of a note. Its origin, such as its author, stays. An entry with an origin is stored
   * in one line. Entries that were derived from it stay as they are.
   *
   * @returns `changed` without a change if no section with this id has the text `before`, and `not_a_note` for a turn
   */
  edit(change: NoteEdit): Promise<"edited" | "changed" | "not_a_note">;
  /**
   * Removes chunks, other chunks with the same text, entries that were derived from them, their vectors, and their text
   * in earlier versions of notes. Chunks that the reader may not see stay.
   *
   * @returns the ids of the removed chunks
   */
  forget(ids: readonly string[], options?: ForgetOptions): Promise<string[]>;
  /** Derives lasting entries from daily notes. */
  consolidate(options: ConsolidateOptions): Promise<Consolidation>;
  /** Returns earlier versions of the `MEMORY.md` of a scope, newest first. */
  log(scope?: Scope): Promise<NoteVersion[]>;
  restore(version: NoteVersion): Promise<void>;
  /** Indexes changes. Searches do this automatically. */
  refresh(): Promise<void>;
  /** Deletes the index and builds it from the files. */
  rebuild(): Promise<void>;
  /** Waits until all chunks have vectors. */
  embedded(): Promise<void>;
  status(): Promise<MemoryStatus>;
  close(): Promise<void>;
}
