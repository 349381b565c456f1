import type { AgentEvent } from "../events.ts";
import type { JournalEntry } from "../hooks.ts";

/**
 * A part of the loop. It yields the events and journal entries that the loop must emit and record before the part
 * continues, and returns its value. If an entry cannot be recorded, the part is not resumed, so nothing further takes
 * effect.
 */
export type Part<T> = AsyncGenerator<AgentEvent | JournalEntry, T, void>;
