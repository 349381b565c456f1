import { GatewayError } from "@signalbox/home";
import type { Memory, NoteVersion } from "@signalbox/memory";
import { OWNERS } from "@signalbox/memory/agents";
import { isOneOff } from "@signalbox/server";
import { createAgentMemories } from "@signalbox/setup/memories";
import { createLogger } from "@signalbox/telemetry/logger";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { agentOf } from "../home-agents.ts";
import { withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { withProgress } from "../progress.ts";

interface AgentOption extends CommonOptions {
  readonly agent?: string;
}

/** What an agent remembers, beside a gateway that may be running. Whoever has the home reads everything that is in it. */
export async function withMemory<T>(options: AgentOption, use: (memory: Memory) => Promise<T>): Promise<T> {
  const configured = configuredHome(options);
  const agent = agentOf(configured, options.agent);
  const { home, loaded, env } = configured;
  return withStore(options, "read", async (store) => {
    const logger = createLogger("warn", (text) => text);
    const memories = createAgentMemories({
      config: () => loaded.config,
      home,
      env,
      store,
      isLeftOut: isOneOff,
      now: Date.now,
      logger,
    });
    try {
      return await use(await memories.of(agent));
    } finally {
      await memories.close();
    }
  });
}

/** `signalbox memory search`: what an agent's memory has, of every person and group. */
export async function search(
  words: readonly string[],
  options: AgentOption & { readonly limit: number },
): Promise<void> {
  const result = await withMemory(options, (memory) =>
    memory.search(words.join(" "), { limit: options.limit, reader: "all", neighbours: 0 }),
  );
  print(options.json, result, () => [
    result.summary,
    ...result.hits.map(
      ({ id, at, scope, text }) =>
        `${at === undefined ? "lasting" : new Date(at).toISOString().slice(0, 16)}  ${id}  (${scope.kind})  ${text.replace(/\s+/g, " ").slice(0, 300)}`,
    ),
  ]);
}

/** `signalbox memory index`: makes an agent's index anew from its files and conversations. */
export async function index(options: AgentOption): Promise<void> {
  const status = await withMemory(options, (memory) =>
    withProgress("Making the index", async () => {
      await memory.rebuild();
      await memory.embedded();
      return memory.status();
    }),
  );
  print(options.json, status, () => [describeStatus(status)]);
}

/** `signalbox memory log`: earlier states of an agent's `MEMORY.md`. */
export async function log(options: AgentOption): Promise<void> {
  const versions = await withMemory(options, (memory) => memory.log(OWNERS));
  print(options.json, versions, () => versions.map(({ id, at }) => `${new Date(at).toISOString()}  ${id}`));
}

/** `signalbox memory restore`: takes an agent's `MEMORY.md` back to one of them. */
export async function restore(id: string, options: AgentOption): Promise<void> {
  const version: NoteVersion = await withMemory(options, async (memory) => {
    const found = (await memory.log(OWNERS)).find((each) => each.id === id);
    if (found === undefined)
      throw new GatewayError("failure", `There is no version ${id}: see \`memory log\`.`);
    await memory.restore(found);
    return found;
  });
  print(options.json, version, () => [
    `${version.path} is as it was on ${new Date(version.at).toISOString()}.`,
  ]);
}

export function describeStatus({ notes, turns, vectors }: Awaited<ReturnType<Memory["status"]>>): string {
  const indexed = `${notes} parts of notes and ${turns} turns of conversations`;
  if (vectors === undefined) return `${indexed}, searched by words`;
  const { model, engine, pending, problem } = vectors;
  const left =
    pending === 0 ? "" : `, ${pending} not embedded yet${problem === undefined ? "" : `: ${problem}`}`;
  return `${indexed}, searched by words and vectors (${model}, by ${engine}${left})`;
}
