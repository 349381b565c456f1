import type { Role } from "@signalbox/routing";
import type { Memory } from "../memory.ts";
import type { WholeNote } from "../notes/notebook.ts";
import { recallLine } from "../recall.ts";
import type { Chunk } from "../types.ts";
import type { Memories, MemoryAgent } from "./memories.ts";
import { isOwners, type SessionAccess } from "./session-access.ts";
import { isUntrusted } from "./trust.ts";

export interface RunMemoryOptions {
  /** Called for each run. `undefined` turns memory off. */
  readonly memories: () => Memories | undefined;
  readonly access: SessionAccess;
  /** Returns the maximum size of recalled lines in tokens. 0: only the owners' notes. Called for each run. */
  readonly recallTokens: () => number;
  readonly onProblem?: (agentId: string, error: unknown) => void;
}

/** A run that needs memory. */
export interface RecallRequest {
  readonly agent: MemoryAgent;
  readonly sessionKey: string;
  /** The weakest role among the people who speak. */
  readonly role: Role;
  /** Immutable id of the only person who speaks. Absent if there are several. */
  readonly speaker?: string;
  /** The text of the messages. */
  readonly text: string;
  /** Sequence numbers of the messages that are already in the prompt. */
  readonly places: readonly number[];
  /** Returns true if the prompt already contains a line of an earlier recall. Default: no. */
  readonly isInPrompt?: (line: string) => boolean;
}

/** The part of a run's prompt that comes from memory. */
export interface RecalledContext {
  /** The owners' notes, for the volatile part of the system prompt. */
  readonly sections: readonly NoteSection[];
  /** Notes by other people, and lines that are relevant to the message. Untrusted data. */
  readonly recalled: readonly string[];
  /** True if it may contain the owners' notes, which nobody else in the conversation may see. */
  readonly forOwner: boolean;
  /** True if any of it was written by other people. */
  readonly untrusted: boolean;
}

/** A note as a section of a system prompt. */
export interface NoteSection {
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly part: "volatile";
}

const NOTHING: RecalledContext = { sections: [], recalled: [], forOwner: false, untrusted: false };
/** Maximum time that recall may delay an answer. Recall can be slow while the memory indexes a long history. */
const TIMEOUT_MS = 2_000;
/** Maximum number of characters of one note in the prompt. `memory_search` finds the rest. */
const MAX_NOTE_CHARS = 8_000;
/** Maximum number of characters of the message that are used as the query. */
const MAX_QUERY_CHARS = 20_000;

/**
 * Creates a function that recalls memories for a run. If the memory fails or takes too long, the partial results are
 * used.
 */
export function createRunMemory(options: RunMemoryOptions): RunMemory {
  return async (request) => {
    const memories = options.memories();
    const { agent, role } = request;
    // Guests have no access to memory.
    if (memories === undefined || role === "guest") return NOTHING;
    const { promise: late, resolve } = Promise.withResolvers<undefined>();
    const timer = setTimeout(resolve, TIMEOUT_MS, undefined);
    const inTime: InTime = (work) =>
      Promise.race([work, late]).catch((error: unknown) => {
        options.onProblem?.(agent.id, error);
        return undefined;
      });
    const memory = await inTime(memories.of(agent));
    const remembered = memory && (await remember(memory, request, options, inTime));
    clearTimeout(timer);
    return remembered ?? NOTHING;
  };
}

export type RunMemory = (occasion: RecallRequest) => Promise<RecalledContext>;

/** Resolves with `undefined` if `work` fails or takes too long. */
type InTime = <T>(work: Promise<T>) => Promise<T | undefined>;

async function remember(
  memory: Memory,
  request: RecallRequest,
  { access, recallTokens }: RunMemoryOptions,
  inTime: InTime,
): Promise<RecalledContext> {
  const { sessionKey, role, speaker, text, isInPrompt = () => false } = request;
  const scope = access.noteScopeFor(sessionKey, role);
  const notes = (await inTime(memory.notes(scope))) ?? [];
  const trusted = isOwners(scope) ? notes.filter((note) => note.text !== "") : [];
  const untrusted = notes.flatMap((note) => untrustedParts(note, isOwners(scope)));
  const newUntrusted = untrusted.filter((line) => !isInPrompt(line));
  const maxTokens = recallTokens();
  const recall =
    maxTokens === 0
      ? undefined
      : await inTime(
          memory.recall(text.slice(0, MAX_QUERY_CHARS), {
            reader: access.readerFor(sessionKey, role, speaker),
            maxTokens,
            except: (chunk) => isInConversation(chunk, request, notes) || isInPrompt(recallLine(chunk)),
          }),
        );
  const hits = recall?.hits ?? [];
  return {
    sections: trusted.map((note) => ({
      name: `memory:${note.path}`,
      title: `Memory: ${note.path}`,
      text: cut(note.text),
      part: "volatile",
    })),
    recalled: [...newUntrusted, ...(recall?.text.split("\n") ?? [])],
    forOwner: isOwners(scope),
    untrusted: untrusted.length > 0 || hits.some(isUntrusted),
  };
}

/** Returns the untrusted parts of a note: marked entries in the owners' notes, and all entries in other notes. */
function untrustedParts({ path, text, untrusted }: WholeNote, isOfOwners: boolean): string[] {
  const parts = isOfOwners ? [untrusted] : [text, untrusted];
  return parts.filter((part) => part !== "").map((part) => `${path}:\n${cut(part)}`);
}

function cut(note: string): string {
  return note.length > MAX_NOTE_CHARS ? `${note.slice(0, MAX_NOTE_CHARS)}\n…` : note;
}

function isInConversation(
  { chat, id, note }: Chunk,
  { sessionKey, places }: RecallRequest,
  notes: readonly { readonly path: string }[],
): boolean {
  if (note !== undefined) return notes.some(({ path }) => path === note.path);
  return chat === sessionKey && Number(id.slice(id.lastIndexOf("#") + 1)) >= Math.min(...places);
}
