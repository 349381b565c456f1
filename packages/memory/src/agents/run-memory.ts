import type { Memory } from "../memory.ts";
import type { WholeNote } from "../notes/notebook.ts";
import { recallLine } from "../recall.ts";
import type { Chunk } from "../types.ts";
import { isOwners, type Listeners, type Role } from "./listeners.ts";
import type { Memories, RememberingAgent } from "./memories.ts";
import { isUntrusted } from "./trust.ts";

export interface RunMemoryOptions {
  /** Asked for each run; undefined: nothing is remembered. */
  readonly memories: () => Memories | undefined;
  readonly listeners: Listeners;
  /** Of what bears on a message. 0: only the owners' notes. Asked for each run. */
  readonly recallTokens: () => number;
  readonly onProblem?: (agentId: string, error: unknown) => void;
}

/** For whom something is remembered, and when. */
export interface Occasion {
  readonly agent: RememberingAgent;
  readonly sessionKey: string;
  /** The weakest of those who speak. */
  readonly role: Role;
  /** What they say. */
  readonly text: string;
  /** Where the messages stand that the model is given anyway. */
  readonly places: readonly number[];
  /** Whether the model is told this line of an earlier recall anyway. Default: of none. */
  readonly isTold?: (line: string) => boolean;
}

/** What memory brings into a run. */
export interface Remembered {
  /** The owners' own notes, for the part of the system prompt that may change. */
  readonly sections: readonly NoteSection[];
  /** Notes that others wrote, and what bears on the message, a line each. Data, for a fence. */
  readonly recalled: readonly string[];
  /**
   * It was looked up for an owner in private, whose own notes may be in it: nobody else in the conversation hears it.
   */
  readonly forOwner: boolean;
  /** Others wrote some of it. */
  readonly untrusted: boolean;
}

/** A note as a section of a system prompt. */
export interface NoteSection {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly part: "volatile";
}

const NOTHING: Remembered = { sections: [], recalled: [], forOwner: false, untrusted: false };
/** Whoever is to be answered does not wait longer, for instance while a long history is read for the first time. */
const LONGEST_MS = 2_000;
/** Of one note; the rest is found by `memory_search`. */
const NOTE_CHARS = 8_000;
/** Of the message, to search by. */
const QUERY_CHARS = 20_000;

/**
 * Looks up what a run should know. A memory that fails, or takes too long, delays no answer: what was found by then is
 * used.
 */
export function createRunMemory(options: RunMemoryOptions): RunMemory {
  return async (occasion) => {
    const memories = options.memories();
    const { agent, role } = occasion;
    // What an agent remembers is no guest's business.
    if (memories === undefined || role === "guest") return NOTHING;
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, LONGEST_MS, undefined);
    const inTime: InTime = (work) =>
      Promise.race([work, late]).catch((error: unknown) => {
        options.onProblem?.(agent.id, error);
        return undefined;
      });
    const memory = await inTime(memories.of(agent));
    const remembered = memory && (await remember(memory, occasion, options, inTime));
    clearTimeout(timer);
    return remembered ?? NOTHING;
  };
}

export type RunMemory = (occasion: Occasion) => Promise<Remembered>;

/** What comes of some work; undefined where it fails, or is not done in time. */
type InTime = <T>(work: Promise<T>) => Promise<T | undefined>;

async function remember(
  memory: Memory,
  occasion: Occasion,
  { listeners, recallTokens }: RunMemoryOptions,
  inTime: InTime,
): Promise<Remembered> {
  const { sessionKey, role, text, isTold = () => false } = occasion;
  const scope = listeners.noteScopeOf(sessionKey, role);
  const notes = (await inTime(memory.notes(scope))) ?? [];
  const own = isOwners(scope) ? notes.filter((note) => note.text !== "") : [];
  const foreign = notes.flatMap((note) => foreignIn(note, isOwners(scope)));
  const newForeign = foreign.filter((line) => !isTold(line));
  const maxTokens = recallTokens();
  const recall =
    maxTokens === 0
      ? undefined
      : await inTime(
          memory.recall(text.slice(0, QUERY_CHARS), {
            reader: listeners.readerOf(sessionKey, role),
            maxTokens,
            except: (chunk) => isInPrompt(chunk, occasion, notes) || isTold(recallLine(chunk)),
          }),
        );
  const hits = recall?.hits ?? [];
  return {
    sections: own.map((note) => ({
      name: `memory:${note.path}`,
      title: `Memory: ${note.path}`,
      text: cut(note.text),
      part: "volatile",
    })),
    recalled: [...newForeign, ...(recall?.text.split("\n") ?? [])],
    forOwner: isOwners(scope),
    untrusted: foreign.length > 0 || hits.some(isUntrusted),
  };
}

/** What in a note is not an owner's word: in the owners' own what is marked, in others all of it. */
function foreignIn({ path, text, untrusted }: WholeNote, isOfOwners: boolean): string[] {
  const parts = isOfOwners ? [untrusted] : [text, untrusted];
  return parts.filter((part) => part !== "").map((part) => `${path}:\n${cut(part)}`);
}

function cut(note: string): string {
  return note.length > NOTE_CHARS ? `${note.slice(0, NOTE_CHARS)}\n…` : note;
}

function isInPrompt(
  { chat, id, note }: Chunk,
  { sessionKey, places }: Occasion,
  notes: readonly { readonly path: string }[],
): boolean {
  if (note !== undefined) return notes.some(({ path }) => path === note.path);
  return chat === sessionKey && Number(id.slice(id.lastIndexOf("#") + 1)) >= Math.min(...places);
}
