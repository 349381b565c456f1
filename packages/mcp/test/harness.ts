import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { ToolContext, ToolResult } from "@signalbox/agent-core";
import { onTestFinished } from "vitest";
import { createMcpServers, type McpServers, type McpTool } from "../src/index.ts";
import type { McpServersOptions } from "../src/servers.ts";

/** Creates servers that are closed when the test ends. */
export function startServers(
  servers: McpServersOptions["servers"],
  options: Partial<McpServersOptions> = {},
): McpServers {
  const all = createMcpServers({ servers, version: "1.0.0", ...options });
  onTestFinished(() => all.close());
  return all;
}

const { resolve } = createRequire(import.meta.url);

/** Published programs from npm. */
export const published = {
  everything: resolve("@modelcontextprotocol/server-everything/dist/index.js"),
  filesystem: resolve("@modelcontextprotocol/server-filesystem/dist/index.js"),
  conformance: resolve("@modelcontextprotocol/conformance/dist/index.js"),
} as const;

/** Time limit for a start and for a call, in milliseconds. A busy machine starts programs slowly. */
const MAX_WAIT_MS = 120_000;

/** Settings of the fake server in this folder, which misbehaves in the way that `how` names. */
export function fakeServer(how: string, ...more: readonly string[]) {
  const file = fileURLToPath(new URL("fake-server.mjs", import.meta.url));
  return { command: process.execPath, args: [file, how, ...more], startMs: MAX_WAIT_MS, callMs: MAX_WAIT_MS };
}

export function everyTool(): boolean {
  return true;
}

export function context(more: Partial<ToolContext> = {}): ToolContext {
  return { signal: AbortSignal.timeout(MAX_WAIT_MS), resultChars: 16_000, update: () => {}, ...more };
}

export async function call(
  tools: readonly McpTool[],
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  how: Partial<ToolContext> = {},
): Promise<ToolResult> {
  const tool = tools.find((each) => each.name === name);
  if (tool === undefined) throw new Error(`${name} is not there, but ${tools.map((each) => each.name)}`);
  return tool.execute({ id: "1", name, args }, context(how));
}

export function text({ content }: ToolResult): string {
  return content.map((block) => (block.type === "text" ? block.text : `<${block.type}>`)).join("\n");
}

/** Starts the published server "everything" on a free port and returns its address. */
export async function everythingOverHttp(): Promise<string> {
  // Below the ephemeral ports: this server reports that it listens even if the port is taken.
  const port = 20_000 + Math.floor(Math.random() * 12_000);
  const child = spawn(process.execPath, [published.everything, "streamableHttp"], {
    env: { PATH: process.env["PATH"], PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await new Promise<void>((resolve, reject) => {
    child.stderr.on("data", (chunk: Buffer) => /listening/i.test(chunk.toString()) && resolve());
    child.once("exit", () => reject(new Error("the server ended")));
  });
  return `http://127.0.0.1:${port}/mcp`;
}
