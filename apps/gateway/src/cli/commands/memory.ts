import { GatewayError } from "@signalbox/home";
import type { NoteVersion } from "@signalbox/memory";
import { OWNERS } from "@signalbox/memory/agents";
import { type AgentOption, describeStatus, withMemory } from "../home-memory.ts";
import { print } from "../output.ts";
import { withProgress } from "../progress.ts";

/** `signalbox memory search`: searches an agent's memory, including entries about all people and groups. */
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

/** `signalbox memory index`: rebuilds an agent's index from its files and conversations. */
export async function index(options: AgentOption): Promise<void> {
  const status = await withMemory(options, (memory) =>
    withProgress("Rebuilding the index", async () => {
      await memory.rebuild();
      await memory.embedded();
      return memory.status();
    }),
  );
  print(options.json, status, () => [describeStatus(status)]);
}

/** `signalbox memory log`: lists earlier versions of an agent's `MEMORY.md`. */
export async function log(options: AgentOption): Promise<void> {
  const versions = await withMemory(options, (memory) => memory.log(OWNERS));
  print(options.json, versions, () =>
    versions.length === 0
      ? ["There are no earlier versions."]
      : versions.map(({ id, at }) => `${new Date(at).toISOString()}  ${id}`),
  );
}

/** `signalbox memory restore`: restores an earlier version of an agent's `MEMORY.md`. */
export async function restore(id: string, options: AgentOption): Promise<void> {
  const version: NoteVersion = await withMemory(options, async (memory) => {
    const version = (await memory.log(OWNERS)).find((each) => each.id === id);
    if (version === undefined)
      throw new GatewayError(
        "failure",
        `There is no version ${id}. \`signalbox memory log\` lists versions.`,
      );
    await memory.restore(version);
    return version;
  });
  print(options.json, version, () => [
    `Restored ${version.path} as of ${new Date(version.at).toISOString()}.`,
  ]);
}
