import * as z from "zod/mini";

/** Query of `GET /api/memory/:agent`. */
export const MemoryQuery = z.object({
  /** The words to search for. If it is empty, the notes are listed, newest first. */
  query: z._default(z.string().check(z.maxLength(1_000)), ""),
  /** Number of notes to skip in the list. */
  offset: z._default(z.coerce.number().check(z.int(), z.minimum(0), z.maximum(1_000_000)), 0),
  limit: z._default(z.coerce.number().check(z.int(), z.minimum(1), z.maximum(100)), 20),
});
export type MemoryQuery = z.infer<typeof MemoryQuery>;

/** An entry of an agent's memory: a section of a note, or a message. */
export const MemoryEntry = z.object({
  id: z.string(),
  source: z.enum(["note", "turn"]),
  text: z.string(),
  at: z.optional(z.number()),
  /** The people who may see it: everyone, one person, or the members of one chat. */
  scope: z.enum(["everyone", "person", "chat"]),
  /** The person or the chat of `scope`. */
  scopeId: z.optional(z.string()),
  /** Name or id of the person who wrote it. */
  author: z.optional(z.string()),
  /** Key of the session that it comes from. */
  sessionKey: z.optional(z.string()),
  /** Id of the message that it comes from. */
  messageId: z.optional(z.string()),
  /** The source of content from other people in it, such as a web page. */
  untrusted: z.optional(z.string()),
  /** For a note: its path inside the workspace. */
  path: z.optional(z.string()),
  /** For a note: its first and last line, counted from 1. */
  lines: z.optional(z.array(z.number())),
});
export type MemoryEntry = z.infer<typeof MemoryEntry>;

/**
 * Response of `GET /api/memory/:agent`: entries about all people and groups, best match first, or notes, newest first.
 */
export const MemoryResult = z.object({
  /** The result in one sentence. */
  summary: z.string(),
  entries: z.array(MemoryEntry),
  /** Number of searchable note sections and messages. */
  notes: z.number(),
  turns: z.number(),
});
export type MemoryResult = z.infer<typeof MemoryResult>;

/** Body of `POST /api/memory/:agent/add`: a note that the agent reads in private chats with owners. */
export const MemoryAddition = z.strictObject({
  text: z.string().check(z.regex(/\S/, "is empty"), z.maxLength(10_000)),
  /** `lasting` is added to `MEMORY.md`, `daily` to the note of today. */
  kind: z._default(z.enum(["lasting", "daily"]), "lasting"),
});
export type MemoryAddition = z.infer<typeof MemoryAddition>;

/** Response of `POST /api/memory/:agent/add`. */
export const MemoryAdded = z.object({
  id: z.string(),
  /** False if the same person has already added the same text. */
  isNew: z.boolean(),
});
export type MemoryAdded = z.infer<typeof MemoryAdded>;

/** Body of `POST /api/memory/:agent/edit`. */
export const MemoryEdit = z.strictObject({
  /** The entry, which must be a note. */
  id: z.string().check(z.minLength(1), z.maxLength(500)),
  /** The text that the change is based on. */
  before: z.string().check(z.maxLength(100_000)),
  /** The new text. An entry that an agent has written is stored in one line. */
  text: z.string().check(z.regex(/\S/, "is empty"), z.maxLength(10_000)),
});
export type MemoryEdit = z.infer<typeof MemoryEdit>;

/** Body of `POST /api/memory/:agent/forget`. */
export const MemoryRemoval = z.strictObject({
  ids: z.array(z.string().check(z.maxLength(500))).check(z.minLength(1), z.maxLength(100)),
});
export type MemoryRemoval = z.infer<typeof MemoryRemoval>;

/** Response of `POST /api/memory/:agent/forget`: the ids that were removed, including derived entries. */
export const MemoryRemoved = z.object({ ids: z.array(z.string()) });
export type MemoryRemoved = z.infer<typeof MemoryRemoved>;
