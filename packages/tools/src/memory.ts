import { reasonOf, type ToolResult } from "@signalbox/agent-core";
import { z } from "zod";
import { defineTool, type ToolDefinition } from "./define.ts";
import { failure, success } from "./result.ts";
import type { RunFacts } from "./types.ts";

/** The memory's answer to a query, in words for the model. */
export interface MemoryAnswer {
  readonly text: string;
  /** Whether others wrote any of it. */
  readonly untrusted: boolean;
}

/** The part of an agent's memory that the run may see. */
export interface AgentMemory {
  search(query: string, limit: number, facts: RunFacts): Promise<MemoryAnswer>;
  /** One entry by its id, with its neighbours; undefined if there is none. */
  get(id: string, facts: RunFacts): Promise<MemoryAnswer | undefined>;
  /** `untrusted` says what others wrote is in the run. Gives the id of the entry. */
  write(
    entry: { readonly text: string; readonly lasting: boolean; readonly untrusted?: string },
    facts: RunFacts,
  ): Promise<string>;
  /** Gives the ids of what was forgotten. */
  forget(ids: readonly string[], facts: RunFacts): Promise<readonly string[]>;
  /** Whether any of these entries is not the speaker's own. */
  areOthers(ids: readonly string[], facts: RunFacts): Promise<boolean>;
  /** Whether what is written goes into the agent's own notes, which stand in its prompt. */
  writesOwnNotes(facts: RunFacts): boolean;
}

/**
 * `memory_search`, `memory_get`, `memory_write`, `memory_forget`. Whose memory they reach, the host decides by the run.
 */
export function createMemoryTools(memory: AgentMemory): readonly ToolDefinition[] {
  return [searchTool(memory), getTool(memory), writeTool(memory), forgetTool(memory)];
}

function searchTool(memory: AgentMemory): ToolDefinition {
  return defineTool({
    name: "memory_search",
    description: "Search notes and earlier conversations. Says what was searched, even if nothing was found.",
    inputSchema: z.object({
      query: z.string().min(1).max(1_000),
      limit: z.int().min(1).max(20).optional(),
    }),
    effects: "none",
    run: ({ args }, _context, permit) =>
      answered(permit, () => memory.search(args.query, args.limit ?? 6, permit.run.facts)),
  });
}

function getTool(memory: AgentMemory): ToolDefinition {
  return defineTool({
    name: "memory_get",
    description: "Read one memory entry in full, with its surroundings, by its id from memory_search.",
    inputSchema: z.object({ id: z.string().min(1).max(500) }),
    effects: "none",
    run: ({ args }, _context, permit) =>
      answered(permit, async () => {
        const entry = await memory.get(args.id, permit.run.facts);
        return entry ?? { text: `There is no entry ${args.id}.`, untrusted: false };
      }),
  });
}

function writeTool(memory: AgentMemory): ToolDefinition {
  return defineTool({
    name: "memory_write",
    description:
      "Remember a fact, preference or decision, in one sentence. `lasting` keeps it in every prompt.",
    inputSchema: z.object({ text: z.string().min(1).max(2_000), lasting: z.boolean().optional() }),
    effects: "external",
    // Notes other than the agent's own are always read as untrusted: that memory was read does not matter to them.
    claims: ({ text }, facts) =>
      memory.writesOwnNotes(facts) || facts.taint.some(({ source }) => source !== "memory")
        ? [{ kind: "write-identity", detail: `memory: ${text.slice(0, 200)}` }]
        : [],
    async run({ args }, _context, { run }): Promise<ToolResult> {
      const [taint] = run.facts.taint;
      const untrusted = taint === undefined ? {} : { untrusted: taint.detail ?? taint.source };
      try {
        const id = await memory.write(
          { text: args.text, lasting: args.lasting ?? false, ...untrusted },
          run.facts,
        );
        return success(`Noted as ${id}.`, { id });
      } catch (error) {
        return failure(`It could not be noted: ${reasonOf(error)}`);
      }
    },
  });
}

function forgetTool(memory: AgentMemory): ToolDefinition {
  return defineTool({
    name: "memory_forget",
    description: "Forget memory entries for good, by their ids. Only when someone asks for it.",
    inputSchema: z.object({ ids: z.array(z.string().min(1).max(500)).min(1).max(20) }),
    effects: "idempotent",
    claims: async ({ ids }, facts) =>
      memory.writesOwnNotes(facts) || facts.taint.length > 0 || (await memory.areOthers(ids, facts))
        ? [{ kind: "write-identity", detail: `forget ${ids.join(", ")}` }]
        : [],
    async run({ args }, _context, { run }): Promise<ToolResult> {
      try {
        const ids = await memory.forget(args.ids, run.facts);
        const missing = args.ids.filter((id) => !ids.includes(id));
        const rest = missing.length === 0 ? "" : ` There is no entry ${missing.join(", ")}.`;
        return success(`Forgot ${ids.length === 0 ? "nothing" : ids.join(", ")}.${rest}`, { ids: [...ids] });
      } catch (error) {
        return failure(`It could not be forgotten: ${reasonOf(error)}`);
      }
    },
  });
}

async function answered(
  { run }: Parameters<Parameters<typeof defineTool>[0]["run"]>[2],
  ask: () => Promise<MemoryAnswer>,
): Promise<ToolResult> {
  try {
    const { text, untrusted } = await ask();
    if (untrusted) run.taint({ source: "memory" });
    return success(text, {});
  } catch (error) {
    return failure(`Memory could not be searched: ${reasonOf(error)}`);
  }
}
