/** Whose ears something was meant for. It surfaces nowhere else: see `access.ts`. */
export type Scope =
  /** Everyone whom the agent answers. */
  | { readonly kind: "everyone" }
  /** Said in private with this person. */
  | { readonly kind: "person"; readonly person: string }
  /** Said in this chat, to all who are in it. */
  | { readonly kind: "chat"; readonly chat: string };

/** Who is asking, and who will hear the answer. */
export interface Reader {
  /**
   * The person in a private conversation, possibly with several ids. Leave it out in a group, where others read the
   * answer too.
   */
  readonly person?: string | readonly string[];
  /** Chats whose contents may come up here: in a group its own; `"all"` for somebody who runs the agent, in private. */
  readonly chats?: "all" | readonly string[];
}

export interface Author {
  /** Stable, and the same as in {@link Scope} and {@link Reader} where it names the same person. */
  readonly id: string;
  /** As people write it. Default: the id. */
  readonly name?: string;
}

/** One thing that a person said, as it is given to memory. */
export interface NewTurn {
  readonly text: string;
  /** Default: made up. A turn with the id of an earlier one replaces it. */
  readonly id?: string;
  readonly author?: string | Author;
  /** When it was said: milliseconds, a `Date`, or what `Date` can read. Default: now. */
  readonly at?: number | string | Date;
  /** Turns of one chat are each other's neighbours. Default: one chat for all that name none. */
  readonly chat?: string;
  /** Default: everyone. Set it for anything said in private. */
  readonly scope?: Scope;
  /** Where untrusted content in it came from, for instance a web page. */
  readonly untrusted?: string;
}

/** A turn with everything filled in, as conversations keep it. */
export interface Turn {
  readonly id: string;
  readonly text: string;
  readonly at: number;
  readonly chat: string;
  readonly scope: Scope;
  readonly author?: Author;
  readonly untrusted?: string;
}

/** What is found: a part of a note, or a turn. */
export interface Chunk {
  /** For a note its path and first line, for a turn the turn's id. */
  readonly id: string;
  readonly source: "note" | "turn";
  /** Word for word. */
  readonly text: string;
  /** When it was said or noted; `MEMORY.md` has no time. */
  readonly at?: number;
  readonly scope: Scope;
  readonly author?: Author;
  /** The chat it was said in. */
  readonly chat?: string;
  /** The message it was said with. */
  readonly message?: string;
  readonly untrusted?: string;
  readonly note?: NotePlace;
}

/** Where in the notes a chunk stands. */
export interface NotePlace {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  /** First and last line, counted from 1. */
  readonly lines: readonly [number, number];
}

/** A chunk among those beside it that the same reader may see. */
export interface ChunkInContext extends Chunk {
  readonly before: readonly Chunk[];
  readonly after: readonly Chunk[];
}

export interface Hit extends ChunkInContext {
  /** Of the best hit 1. Comparable within one result only. */
  readonly score: number;
  /** How much of what the query asks for stands in it, from 0 to 1; rare words count more. */
  readonly coverage: number;
  /** Likeness of meaning, from -1 to 1; absent where no vectors were searched. */
  readonly similarity?: number;
}

export type SearchMode =
  | { readonly kind: "words" /** Why not vectors. */; readonly reason: string }
  | {
      readonly kind: "words and vectors";
      readonly model: string;
      readonly engine: VectorEngine;
      /** Chunks that have no vector yet, and were searched by their words alone. */
      readonly pending: number;
    };

export type VectorEngine = "sqlite-vec" | "float32";

export interface SearchResult {
  readonly hits: readonly Hit[];
  readonly mode: SearchMode;
  readonly searched: {
    /** Parts of notes and turns that this reader may see. */
    readonly notes: number;
    readonly turns: number;
    /** The words that were looked for, as they were looked for: without those that say nothing, and cut to stems. */
    readonly terms: readonly string[];
  };
  /** The above in a sentence, to be shown with the hits or in their place. */
  readonly summary: string;
}

export interface SearchOptions {
  /** Default: a reader who may see only what is for everyone. `"all"`: the owner of the files. */
  readonly reader?: Reader | "all";
  /** Default 8. */
  readonly limit?: number;
  /** Chunks on each side that come with a hit. Default 1. */
  readonly neighbours?: number;
}
