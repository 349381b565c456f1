import { createHash } from "node:crypto";
import type { McpTool } from "@signalbox/mcp";

/** The tools of a server that are new or whose descriptions differ from the accepted ones. */
export interface ServerChanges {
  readonly server: string;
  /** Digest of all displayed descriptions. */
  readonly hash: string;
  readonly tools: readonly McpTool[];
}

/** Groups the changed tools by server. */
export function getChanges(tools: readonly McpTool[]): readonly ServerChanges[] {
  const changed = Map.groupBy(
    tools.filter((tool) => tool.changed),
    ({ server }) => server,
  );
  return [...changed].map(([server, listed]) => {
    const shown = listed.map(({ name, description, inputSchema }) => [name, description, inputSchema]);
    const hash = createHash("sha256")
      .update(JSON.stringify([server, shown]))
      .digest("hex")
      .slice(0, 32);
    return { server, hash, tools: listed };
  });
}

/** Describes a server by its program or origin. Further arguments and the path of a URL may contain secrets. */
export function getServerPlace({
  command,
  args = [],
  url = "",
}: {
  readonly command?: string | undefined;
  readonly args?: readonly string[] | undefined;
  readonly url?: string | undefined;
}): string {
  return command === undefined ? new URL(url).origin : [command, ...args.slice(0, 1)].join(" ");
}
