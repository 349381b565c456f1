import { reasonOf, type Tool } from "@signalbox/agent-core";
import { importPackage } from "@signalbox/channel/accounts";
import type { LoadedConfig, Problem } from "@signalbox/config";
import { BUILT_IN_TOOLS, isTool } from "@signalbox/tools";
import { importsFrom, type PackagePlaces } from "./host-packages.ts";

/** Tools that are not built in. */
export interface PluginTools {
  readonly tools: readonly Tool[];
  readonly problems: readonly Problem[];
}

export interface PluginToolsOptions extends PackagePlaces {
  readonly loaded: LoadedConfig;
  /** Tools that the host program passed in. */
  readonly given: readonly Tool[];
}

/** Loads the tools from the configured packages, in addition to those that the host passed in. */
export async function resolvePluginTools(options: PluginToolsOptions): Promise<PluginTools> {
  const { loaded, given } = options;
  const tools = new Map<string, Tool>();
  const problems: Problem[] = [];
  for (const tool of given) {
    const fault = findConflict(tool, tools);
    if (fault !== undefined) throw new TypeError(fault);
    tools.set(tool.name, tool);
  }
  for (const [index, name] of loaded.config.tools.packages.entries()) {
    const exported = await exportedTools(name, options);
    const faults = typeof exported === "string" ? [exported] : [];
    for (const tool of typeof exported === "string" ? [] : exported) {
      const fault = findConflict(tool, tools);
      if (fault !== undefined) faults.push(`the package ${name}: ${fault}`);
      else tools.set(tool.name, tool);
    }
    problems.push(...faults.map((fault) => toProblem(loaded, index, name, fault)));
  }
  return { tools: [...tools.values()], problems };
}

/**
 * Returns the tools that a package exports as `default` or `tools`. If it has no valid tools, returns the reason as a
 * string.
 */
async function exportedTools(name: string, places: PackagePlaces): Promise<readonly Tool[] | string> {
  try {
    const module = await importPackage(name, importsFrom(places));
    const exported = [module["default"] ?? module["tools"]].flat();
    const tools = exported.filter(isTool);
    return exported.length === 0 || tools.length < exported.length
      ? `the package ${name} exports something other than tools as default or tools`
      : tools;
  } catch (error) {
    return `the package ${name} could not be loaded: ${reasonOf(error)}`;
  }
}

function findConflict({ name }: Tool, taken: ReadonlyMap<string, Tool>): string | undefined {
  if (BUILT_IN_TOOLS.includes(name)) return `${name} is already the name of a built-in tool`;
  if (name.startsWith("mcp__")) return `${name} uses a prefix reserved for tools of MCP servers`;
  return taken.has(name) ? `there is already a tool called ${name}` : undefined;
}

function toProblem(loaded: LoadedConfig, index: number, name: string, message: string): Problem {
  return loaded.problem(["tools", "packages", index], {
    severity: "error",
    message,
    remedy: "Install the package in the gateway's home or next to the gateway, or remove it from the list.",
    disables: `tools of ${name}`,
  });
}
