/** The people who may see a turn or a note. See `access.ts` for the rule. */
export type Scope =
  /** Everyone to whom the agent responds. */
  | { readonly kind: "everyone" }
  /** One person, in private. */
  | { readonly kind: "person"; readonly person: string }
  /** The members of one chat. */
  | { readonly kind: "chat"; readonly chat: string };

/** The person or group that asks, and therefore sees the result. */
export interface Reader {
  /**
   * The person in a private conversation. Pass an array if the person has several ids. Omit it in a group, because
   * other members also read the answer.
   */
  readonly person?: string | readonly string[];
  /** Chats whose contents may be shown: in a group, its own. `"all"` is for an operator in private. */
  readonly chats?: "all" | readonly string[];
}

export interface Author {
  /** Stable id. Use the same id in {@link Scope} and {@link Reader} for the same person. It is not searched. */
  readonly id: string;
  /** Display name, by which searches find turns. Default: none. */
  readonly name?: string;
}

/** A message to remember. */
export interface NewTurn {
  readonly text: string;
  /** Default: a random id. A turn with the id of an earlier one replaces it. */
  readonly id?: string;
  /** A string is both id and name. */
  readonly author?: string | Author;
  /** The time of writing: milliseconds, a `Date`, or a string that `Date` parses. Default: now. */
  readonly at?: number | string | Date;
  /** The conversation. Turns in the same chat are each other's neighbors. Default: a single chat for all. */
  readonly chat?: string;
  /** Default: everyone. Set it for all private content. */
  readonly scope?: Scope;
  /** The source of untrusted content in the text, for example a web page. */
  readonly untrusted?: string;
}

/** A stored turn, with all defaults filled in. */
export interface Turn {
  readonly id: string;
  readonly text: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly chat: string;
  readonly scope: Scope;
  readonly author?: Author;
  readonly untrusted?: string;
}

/** The file of an entry: `MEMORY.md`, or the note of a day. */
export type NoteKind = "lasting" | "daily";

/** An entry for the notes. */
export interface NewNote {
  readonly text: string;
  /** `lasting` is added to `MEMORY.md`, `daily` to the note of today. Default `daily`. */
  readonly kind?: NoteKind;
  /** Default: the scope of the notes at the top of the folder. */
  readonly scope?: Scope;
  /** A string is both id and name. */
  readonly author?: string | Author;
  readonly chat?: string;
  readonly message?: string;
  /** The source of untrusted content in the text. */
  readonly untrusted?: string;
}

/** A unit of search: a section of a note, or a turn. */
export interface Chunk {
  /** For a note, its path and first line (`MEMORY.md:3`). For a turn, the turn's id. */
  readonly id: string;
  readonly source: "note" | "turn";
  /** The exact text. */
  readonly text: string;
  /** The time of writing in milliseconds since the epoch. Sections of `MEMORY.md` may have no time. */
  readonly at?: number;
  readonly scope: Scope;
  readonly author?: Author;
  /** The conversation that it comes from. */
  readonly chat?: string;
  /** The message that it comes from. */
  readonly message?: string;
  /** The source of untrusted content in the text. */
  readonly untrusted?: string;
  readonly note?: NotePlace;
}

/** The position of a chunk in the notes. */
export interface NotePlace {
  /** Relative to the folder, with `/`. */
  readonly path: string;
  /** The headings above it, outermost first. */
  readonly headings: readonly string[];
  /** First and last line, counted from 1. */
  readonly lines: readonly [number, number];
}

export interface ListOptions {
  /** Default: a reader who sees only content that is visible to everyone. `"all"`: the owner of the files. */
  readonly reader?: Reader | "all";
  /** Number of sections to skip. Default 0. */
  readonly offset?: number;
  /** Default 50. */
  readonly limit?: number;
}

/** Some of the sections of notes that a reader may see. */
export interface NoteList {
  /** Newest first; sections without a time come last. */
  readonly notes: readonly Chunk[];
  /** Number of all sections that the reader may see. */
  readonly total: number;
}

/** A chunk with the neighbours that the reader may see. */
export interface ChunkInContext extends Chunk {
  readonly before: readonly Chunk[];
  readonly after: readonly Chunk[];
}

export interface Hit extends ChunkInContext {
  /** Relative to the best hit, which has 1. Do not compare scores of different results. */
  readonly score: number;
  /**
   * Estimated number of chunks that would match the query equally well by chance. Below 1, the match is hardly
   * accidental. `Infinity` if no word matches.
   */
  readonly byChance: number;
  /** Cosine similarity to the query, from -1 to 1, if vectors were searched. */
  readonly similarity?: number;
}

export type SearchMode =
  | { readonly kind: "words" /** Why no vectors were searched. */; readonly reason: string }
  | {
      readonly kind: "words and vectors";
      readonly model: string;
      readonly engine: VectorEngine;
      /** Number of chunks that have no vector yet. They were searched only by words. */
      readonly pending: number;
    };

export type VectorEngine = "sqlite-vec" | "float32";

export interface SearchResult {
  readonly hits: readonly Hit[];
  readonly mode: SearchMode;
  readonly searched: {
    /** Sections of notes that this reader may see. */
    readonly notes: number;
    /** Turns that this reader may see. */
    readonly turns: number;
    /** The search terms: stems, without stop words. */
    readonly terms: readonly string[];
  };
  /** The result in one sentence. Show it with the hits, or instead of them. */
  readonly summary: string;
}

export interface SearchOptions {
  /** Default: a reader who sees only content that is visible to everyone. `"all"`: the owner of the files. */
  readonly reader?: Reader | "all";
  /** Default 8, at most 100. */
  readonly limit?: number;
  /** Neighbours on each side that are returned with a hit. Default 1. */
  readonly neighbours?: number;
}
