import type { AgentEvent } from "../events.ts";
import type { JournalEntry } from "../hooks.ts";

/**
 * A part of the loop on its way to the value it gives. It tells no event and keeps no entry: it yields them, and goes
 * on once the loop has done what each asks for. An entry that cannot be kept leaves it where it is, so that nothing
 * more of it takes effect.
 */
export type Part<T> = AsyncGenerator<AgentEvent | JournalEntry, T, void>;
