import { createHash } from "node:crypto";
import { type createSecretReader, mapSecret } from "./secrets.ts";
import type { SettingsReader, SourcePath } from "./settings.ts";
import type { SettingImport } from "./source.ts";

/** Returns the name of an MCP server here: at most 24 lowercase letters, digits and hyphens. */
export function toServerName(theirs: string): string {
  const clean = theirs
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 24);
  return clean === "" ? `server-${createHash("sha256").update(theirs).digest("hex").slice(0, 6)}` : clean;
}

/**
 * Returns the loss of an MCP server: agents use its tools only if their own lists name them.
 *
 * @param enabled the tools that the source enabled. Default: all
 */
export function toolsLoss(server: string, enabled: readonly string[] = []): string {
  const names = enabled.length === 0 ? ["*"] : enabled;
  const listed = names.map((name) => `mcp__${server}__${name}`).join(", ");
  return `Agents use its tools only after ${listed} ${names.length === 1 ? "is" : "are"} in their tools.allow.`;
}

/** An MCP server of a source whose settings have the names that Signalbox uses. */
interface SourceServer {
  readonly at: SourcePath;
  /** Name of the server here. */
  readonly name: string;
  /** The tools that the source enabled. Empty: all. */
  readonly enabled: readonly string[];
}

/** Imports the command or the address of an MCP server, with its environment and headers. */
export function mapMcpServer(
  reader: SettingsReader,
  secrets: ReturnType<typeof createSecretReader>,
  { at, name, enabled }: SourceServer,
): void {
  const to: SettingImport["path"] = ["mcp", "servers", name];
  const unit = `MCP server ${name}`;
  const loss = toolsLoss(name, enabled);
  for (const key of ["command", "url"]) {
    const value = reader.text(...at, key);
    if (value !== undefined) reader.map([...at, key], [...to, key], value, { unit, loss });
  }
  const args = reader.texts(...at, "args");
  if (args.length > 0) reader.map([...at, "args"], [...to, "args"], args, { unit });
  for (const section of ["env", "headers"])
    for (const key of reader.keys(...at, section)) {
      const value = secrets.read(reader.get(...at, section, key), `mcp-${name}-${key}`);
      mapSecret(reader, [...at, section, key], [...to, section, key], value, unit);
    }
}
