import { readdirSync, readFileSync } from "node:fs";
import { startSandbox } from "@signalbox/tools";
import { findBrowserPrograms } from "../../src/configure/browser-programs.ts";
import { INSTALLED } from "../../src/configure/installed.ts";

/** The reason why agents' browsers cannot be tested here; undefined if they can. */
export async function whyNoAgentBrowser(): Promise<string | undefined> {
  const found = findPrograms("/nonexistent");
  if ("key" in found) return found.message;
  const { open, reason } = await startSandbox();
  return open === undefined ? reason : undefined;
}

export function findPrograms(dir: string) {
  const browser = { enabled: true, maxBrowsers: 2 };
  // The rest of the configuration is not read.
  const config = { tools: { browser } } as unknown as Parameters<typeof findBrowserPrograms>[0];
  return findBrowserPrograms(config, { home: { dir }, packages: INSTALLED });
}

/** Names that end with `.test` are this machine, and no other name exists. */
export async function resolveTestNames(host: string): Promise<readonly string[]> {
  return host.endsWith(".test") ? ["127.0.0.1"] : [];
}

/** Returns the ids of the running processes that a process has started, and those that they have started. */
export function listDescendants(pid: number): readonly number[] {
  return listChildren(pid).flatMap((child) => [child, ...listDescendants(child)]);
}

function listChildren(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, "latin1").split(" ").filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

/** Returns true if a process runs and is not only waiting to be removed. */
export function isRunning(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "latin1"));
  } catch {
    return false;
  }
}
