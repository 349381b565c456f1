import type { Chunk, Memory } from "@signalbox/memory";
import type { ExtraSection } from "@signalbox/prompt";
import type { Role } from "@signalbox/tools";
import { messageOf } from "../errors.ts";
import type { Logger } from "../log.ts";
import type { Agent } from "../resolve/agents.ts";
import { noteScopeOf, readerOf } from "./listeners.ts";
import type { Memories } from "./memories.ts";

export interface RunMemoryOptions {
  readonly memories: Memories | undefined;
  readonly recallTokens: number;
  readonly logger: Pick<Logger, "warn">;
}

/** For whom something is remembered, and on what occasion. */
interface Occasion {
  readonly agent: Agent;
  readonly sessionKey: string;
  /** The weakest of those who speak. */
  readonly role: Role;
  /** What they say. */
  readonly text: string;
  /** Where the messages stand that the model is given anyway. */
  readonly places: readonly number[];
}

/** What memory brings into a run. */
interface Remembered {
  /** The notes, for the part of the system prompt that may change. */
  readonly sections: readonly ExtraSection[];
  /** What bears on the message, a line each. */
  readonly recalled: readonly string[];
  /** Others wrote some of it. */
  readonly untrusted: boolean;
}

const NOTHING: Remembered = { sections: [], recalled: [], untrusted: false };
/** Whoever is to be answered does not wait longer, for instance while a long history is read for the first time. */
const LONGEST_MS = 2_000;
/** Of one note; the rest is found by `memory_search`. */
const NOTE_CHARS = 8_000;

/** Looks up what a run should know. A memory that fails, or takes too long, holds no answer up. */
export function createRunMemory({ memories, recallTokens, logger }: RunMemoryOptions): RunMemory {
  return async (occasion) => {
    // What an agent remembers is no guest's business.
    if (memories === undefined || occasion.role === "guest") return NOTHING;
    try {
      const remembering = memories
        .of(occasion.agent)
        .then((memory) => remember(memory, occasion, recallTokens));
      return (await within(LONGEST_MS, remembering)) ?? NOTHING;
    } catch (error) {
      logger.warn({ agent: occasion.agent.id, err: messageOf(error) }, "memory could not be read");
      return NOTHING;
    }
  };
}

export type RunMemory = (occasion: Occasion) => Promise<Remembered>;

async function remember(memory: Memory, occasion: Occasion, maxTokens: number): Promise<Remembered> {
  const { sessionKey, role, text } = occasion;
  const notes = await memory.notes(noteScopeOf(sessionKey, role));
  const recall =
    maxTokens === 0
      ? undefined
      : await memory.recall(text, {
          ...{ reader: readerOf(sessionKey, role), maxTokens },
          except: (chunk) => isInPrompt(chunk, occasion, notes),
        });
  const hits = recall?.hits ?? [];
  return {
    sections: notes.map((note) => ({
      name: `memory:${note.path}`,
      title: `Memory: ${note.path}`,
      text: note.text.length > NOTE_CHARS ? `${note.text.slice(0, NOTE_CHARS)}\n…` : note.text,
      part: "volatile",
    })),
    recalled: recall?.text.split("\n") ?? [],
    untrusted: hits.some((hit) => hit.untrusted !== undefined) || notes.some((note) => note.untrusted),
  };
}

function isInPrompt(
  { chat, id, note }: Chunk,
  { sessionKey, places }: Occasion,
  notes: readonly { readonly path: string }[],
): boolean {
  if (note !== undefined) return notes.some(({ path }) => path === note.path);
  return chat === sessionKey && Number(id.slice(id.lastIndexOf("#") + 1)) >= Math.min(...places);
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise: over, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(resolve, ms, undefined);
  return Promise.race([work, over]).finally(() => clearTimeout(timer));
}
