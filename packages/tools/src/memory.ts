import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";
import type { Permit, RunFacts } from "./types.ts";

/** The result of a memory query, formatted for the model. */
interface MemoryAnswer {
  readonly text: string;
  /** True if others wrote any of the content. */
  readonly untrusted: boolean;
}

/** Access to an agent's memory within a run's rights. */
export interface AgentMemory {
  search(query: string, limit: number, facts: RunFacts): Promise<MemoryAnswer>;
  /** Returns an entry and its neighbors, or undefined if the entry does not exist. */
  get(id: string, facts: RunFacts): Promise<MemoryAnswer | undefined>;
  /**
   * Writes an entry, unless the same note already exists.
   *
   * @param entry `untrusted` names the untrusted content that the run has read
   * @returns the id of the entry, and whether it is new
   */
  write(
    entry: { readonly text: string; readonly lasting: boolean; readonly untrusted?: string },
    facts: RunFacts,
  ): Promise<{ readonly id: string; readonly isNew: boolean }>;
  /** Deletes entries and returns the ids of those that existed. */
  forget(ids: readonly string[], facts: RunFacts): Promise<readonly string[]>;
  /** Returns the texts of the entries that the run may see. `areOwn` is true if all of them belong to the speaker. */
  describe(
    ids: readonly string[],
    facts: RunFacts,
  ): Promise<{ readonly texts: readonly string[]; readonly areOwn: boolean }>;
  /** Returns true if the run writes to the owners' notes, which are part of the system prompt. */
  writesOwnersNotes(facts: RunFacts): boolean;
}

/** Creates the tools `memory_search`, `memory_get`, `memory_write` and `memory_forget`. */
export function createMemoryTools(memory: AgentMemory): readonly ToolDefinition[] {
  return [createSearchTool(memory), createGetTool(memory), createWriteTool(memory), createForgetTool(memory)];
}

function createSearchTool(memory: AgentMemory): ToolDefinition {
  return defineTool({
    name: "memory_search",
    description:
      "Search notes and earlier conversations. The result says what was searched, even if nothing was found.",
    inputSchema: z.object({
      query: z.string().min(1).max(1_000),
      limit: z.int().min(1).max(20).optional(),
    }),
    effects: "none",
    run: ({ args }, _context, permit) =>
      toResult(permit, () => memory.search(args.query, args.limit ?? 6, permit.run.facts)),
  });
}

function createGetTool(memory: AgentMemory): ToolDefinition {
  return defineTool({
    name: "memory_get",
    description: "Read one memory entry in full, with the surrounding text, by its id from memory_search.",
    inputSchema: z.object({ id: z.string().min(1).max(500) }),
    effects: "none",
    run: ({ args }, _context, permit) =>
      toResult(permit, async () => {
        const entry = await memory.get(args.id, permit.run.facts);
        return entry ?? { text: `There is no entry ${args.id}.`, untrusted: false };
      }),
  });
}

function createWriteTool(memory: AgentMemory): ToolDefinition {
  return defineTool({
    name: "memory_write",
    description:
      "Remember a fact, preference or decision, in one sentence. With `lasting`, it becomes part of every prompt.",
    inputSchema: z.object({ text: z.string().min(1).max(2_000), lasting: z.boolean().optional() }),
    effects: "external",
    // Notes other than the agent's own are always read as untrusted, so memory that the run has read needs no approval.
    claims: ({ text }, facts) =>
      memory.writesOwnersNotes(facts) || hasReadBeyondMemory(facts)
        ? [{ kind: "write_identity", detail: `memory: ${text.slice(0, 200)}` }]
        : [],
    async run({ args }, _context, { run }): Promise<ToolResult> {
      const [taint] = run.facts.taint;
      try {
        const { id, isNew } = await memory.write(
          { text: args.text, lasting: args.lasting ?? false, untrusted: taint?.detail ?? taint?.source },
          run.facts,
        );
        return success(isNew ? `Noted as ${id}.` : `This is already noted as ${id}.`, { id });
      } catch (error) {
        return failure(`The note could not be written: ${reasonOf(error)}`);
      }
    },
  });
}

function createForgetTool(memory: AgentMemory): ToolDefinition {
  return defineTool({
    name: "memory_forget",
    description: "Delete memory entries permanently, by their ids. Use it only if someone asks for it.",
    inputSchema: z.object({ ids: z.array(z.string().min(1).max(500)).min(1).max(20) }),
    effects: "idempotent",
    // People may delete their own words without approval, even if recalling them caused the run to read memory.
    async claims({ ids }, facts) {
      const { texts, areOwn } = await memory.describe(ids, facts);
      if (areOwn && !memory.writesOwnersNotes(facts) && !hasReadBeyondMemory(facts)) return [];
      return [{ kind: "forget_memory", detail: texts.length === 0 ? ids.join(", ") : texts.join(" / ") }];
    },
    async run({ args }, _context, { run }): Promise<ToolResult> {
      try {
        const ids = await memory.forget(args.ids, run.facts);
        const missing = args.ids.filter((id) => !ids.includes(id));
        const rest = missing.length === 0 ? "" : ` There is no entry ${missing.join(", ")}.`;
        return success(`Forgot ${ids.length === 0 ? "nothing" : ids.join(", ")}.${rest}`, { ids: [...ids] });
      } catch (error) {
        return failure(`The entries could not be deleted: ${reasonOf(error)}`);
      }
    },
  });
}

function hasReadBeyondMemory({ taint }: RunFacts): boolean {
  return taint.some(({ source }) => source !== "memory");
}

async function toResult({ run }: Permit, query: () => Promise<MemoryAnswer>): Promise<ToolResult> {
  try {
    const { text, untrusted } = await query();
    if (untrusted) run.taint({ source: "memory" });
    return success(text, {});
  } catch (error) {
    return failure(`Memory could not be searched: ${reasonOf(error)}`);
  }
}
