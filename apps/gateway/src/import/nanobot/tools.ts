import { mapMcpServer, toServerName } from "../mcp-servers.ts";
import type { createSecretReader } from "../secrets.ts";
import type { SettingsReader, SourcePath } from "../settings.ts";
import { mapWebSearch } from "../web-search.ts";

/** Converts the tools, the MCP servers and the list of disabled skills. */
export function mapTools(reader: SettingsReader, secrets: ReturnType<typeof createSecretReader>): void {
  for (const name of reader.keys("tools", "mcpServers")) {
    const at: SourcePath = ["tools", "mcpServers", name];
    if (reader.has(...at, "auth") || reader.get(...at, "type") === "sse") {
      reader.note(at, "unsupported", "Sign-in and server-sent events of MCP servers.");
      continue;
    }
    const ours = toServerName(name);
    const enabled = reader.texts(...at, "enabledTools").filter((tool) => tool !== "*");
    reader.note([...at, "enabledTools"], "skipped", "Agents name the tools of MCP servers in tools.allow.");
    mapMcpServer(reader, secrets, { at, name: ours, enabled });
    const to = ["mcp", "servers", ours];
    const unit = `MCP server ${ours}`;
    const cwd = reader.text(...at, "cwd");
    if (cwd !== undefined) reader.map([...at, "cwd"], [...to, "cwd"], cwd, { unit });
    const seconds = reader.number(...at, "toolTimeout");
    if (seconds !== undefined && seconds > 0)
      reader.map([...at, "toolTimeout"], [...to, "callMs"], seconds * 1_000, { unit });
  }
  if (reader.get("tools", "exec", "enable") === false)
    reader.map(["tools", "exec", "enable"], ["agents", "defaults", "tools", "deny"], ["exec"]);
  else
    reader.note(
      ["tools", "exec", "enable"],
      "skipped",
      "Agents need `exec` in tools.allow here, and run commands in a sandbox.",
    );
  const seconds = reader.number("tools", "exec", "timeout");
  if (seconds !== undefined && seconds > 0)
    reader.map(["tools", "exec", "timeout"], ["tools", "exec", "timeoutMs"], seconds * 1_000);
  reader.note(["tools", "restrictToWorkspace"], "skipped", "Commands always see only the workspace here.");
  mapWebSearch(reader, ["tools", "web", "search"], secrets);
  const disabled = reader.texts("agents", "defaults", "disabledSkills");
  if (disabled.length > 0)
    reader.map(["agents", "defaults", "disabledSkills"], ["agents", "defaults", "skills", "deny"], disabled);
}
