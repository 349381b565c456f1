import { describe, expect, it } from "vitest";
import { buildSystemPrompt, type SystemPromptInput } from "./index.ts";
import { createPrefix, findDrift, type PromptPrefix } from "./prefix.ts";

const INPUT: SystemPromptInput = {
  agent: { id: "main" },
  workspaceFiles: [
    { name: "AGENTS.md", text: "Work carefully. 工作要仔细。 It is all that there is to say here." },
    { name: "TOOLS.md", text: "The printer is upstairs." },
  ],
  extra: [{ name: "notes", title: "Notes", text: "changes all the time", part: "volatile" }],
};
const TOOL = { name: "ls", description: "Lists files.", inputSchema: { type: "object" } };
const prefix = (more: Partial<SystemPromptInput> = {}, tools = [TOOL]) =>
  createPrefix(buildSystemPrompt({ ...INPUT, ...more }).sections, tools);

const getDrift = (before: PromptPrefix, after: PromptPrefix) => findDrift(before.hashes(), after.hashes());

describe("createPrefix", () => {
  it("has the same digest whatever follows the cache boundary", () => {
    const later = prefix({
      extra: [{ name: "notes", title: "Notes", text: "changed", part: "volatile" }],
      runtime: { session: "another" },
    });
    expect(later.digest).toBe(prefix().digest);
    expect(getDrift(prefix(), later)).toBeUndefined();
  });

  it("finds the changed section and the block of its first changed byte", () => {
    const files = (text: string) => ({ workspaceFiles: [{ name: "AGENTS.md", text }] });
    const begin = '<workspace_file name="AGENTS.md">\n'.length;
    const before = prefix(files(`${"a".repeat(100)}b`));
    const drift = getDrift(before, prefix(files(`${"a".repeat(100)}c`)));
    expect(drift).toEqual({
      section: "workspace-file:AGENTS.md",
      change: "changed",
      byte: Math.floor((begin + 100) / 16) * 16,
    });
    expect(getDrift(prefix(), prefix({ agent: { id: "main", systemPrompt: "Be brief." } }))?.section).toBe(
      "identity",
    );
  });

  it("counts bytes, not characters", () => {
    const at = (text: string) => prefix({ workspaceFiles: [{ name: "AGENTS.md", text }] });
    const drift = getDrift(at(`${"工".repeat(100)}b`), at(`${"工".repeat(100)}c`));
    expect(drift?.byte).toBeGreaterThanOrEqual(300);
  });

  it("finds added and removed sections and changed tools", () => {
    const short = { workspaceFiles: INPUT.workspaceFiles?.slice(0, 1) ?? [] };
    const added = getDrift(prefix(short), prefix());
    expect(added).toEqual({ section: "workspace-file:TOOLS.md", change: "added", byte: 0 });
    const removed = getDrift(prefix(), prefix(short));
    expect(removed).toEqual({ section: "workspace-file:TOOLS.md", change: "removed", byte: 0 });
    const other = { ...TOOL, description: "Lists the files of a folder." };
    expect(getDrift(prefix(), prefix({}, [other]))).toMatchObject({
      section: "tools",
      change: "changed",
    });
  });

  it("contains no text", () => {
    expect(JSON.stringify(prefix().hashes())).not.toMatch(/printer|upstairs/);
  });
});
