import { estimateTokens, getToolSpec } from "@signalbox/agent-core";
import type { ToolDefinition } from "../src/index.ts";
import { TOOL_GROUPS } from "../src/index.ts";

/** One call of each built-in tool, as a model would make it. */
export const EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  read: { file_path: "notes/today.md", offset: 200, limit: 50 },
  write: { file_path: "notes/today.md", content: "Buy milk.\n" },
  edit: { file_path: "notes/today.md", old_string: "Buy milk.", new_string: "Buy oat milk." },
  apply_patch: {
    patch:
      '*** Begin Patch\n*** Update File: a.py\n@@ def greet():\n-    print("Hi")\n+    print("Hello")\n*** End Patch',
  },
  ls: { path: "notes" },
  find: { glob: "src/**/*.ts" },
  grep: { pattern: "TODO\\(anna\\)", glob: "*.md", context: 1 },
  exec: { command: "npm test", timeout_seconds: 50 },
  process: { action: "poll", id: "p1", wait_seconds: 10 },
  message: { action: "send", message: "The build is green." },
  ask_user: { question: "Which of the two drafts shall I send?", options: ["The short one", "The long one"] },
  web_fetch: { url: "https://example.com/paper.pdf", offset: 20_000 },
  web_search: { query: "weather in Hangzhou tomorrow", limit: 3 },
  image: { file_path: "inbox/photo.jpg", question: "What does the sign say?" },
  cron: { action: "add", text: "Remind Anna of the call.", at: "2026-12-24T17:45", zone: "Europe/Berlin" },
  sessions_spawn: {
    label: "release notes",
    task: "Read CHANGES.md and list every change since version 3 that breaks callers, with its line.",
    tools: ["read", "grep"],
  },
  sessions_send: { session: "3f2a90c1d4e5", message: "And which of them had a deprecation before?" },
  sessions_list: {},
  sessions_history: { session: "3f2a90c1d4e5", limit: 10 },
  memory_search: { query: "when does Anna have her birthday" },
  memory_get: { id: "notes/2026-05-01#3" },
  memory_write: { text: "Anna prefers tea.", lasting: true },
  memory_forget: { ids: ["notes/2026-05-01#3"] },
  gateway: { action: "propose", key: "agents.defaults.heartbeat.every", value: "1h" },
};

/** What the tools cost in a request, about, in tokens. */
export function tokensOf(tools: readonly ToolDefinition[]): number {
  return tools.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(specOf(tool))), 0);
}

/** The page about the built-in tools, made of what a model is shown of them. */
export function toolPage(tools: readonly ToolDefinition[]): string {
  const sections = tools.map((tool) => {
    const { name, description, inputSchema } = specOf(tool);
    const groups = Object.keys(TOOL_GROUPS).filter((group) => TOOL_GROUPS[group]?.includes(name) === true);
    return [
      `## ${name}`,
      description,
      `Effects: ${tool.effects}. In ${groups.map((group) => `\`group:${group}\``).join(", ")}. About ${tokensOf([tool])} tokens in each request.`,
      `\`\`\`json\n${JSON.stringify(inputSchema, undefined, 2)}\n\`\`\``,
      "For example:",
      `\`\`\`json\n${JSON.stringify(EXAMPLES[name], undefined, 2)}\n\`\`\``,
    ].join("\n\n");
  });
  return `${[HEAD, ...sections].join("\n\n")}\n`;
}

function specOf(tool: ToolDefinition) {
  const execute = () => Promise.reject(new Error("only described"));
  return getToolSpec({ ...tool, execute });
}

const HEAD = `# Built-in tools

This page lists every tool that an agent can be given, with its schema as the model sees it.

Give an agent tools with \`tools.allow\`, by name or by group (\`group:fs\`), or with a profile (\`tools.profile: coding\`). \`tools.deny\` always wins. \`signalbox can <sender> <tool>\` says whether a person may use a tool, and by which rule.

Tools of MCP servers (\`mcp.servers\`) are named \`mcp__<server>__<tool>\`. Tools of packages (\`tools.packages\`) keep the names that their package gives them.

> Generated from the code. To update it, run \`UPDATE_DOCS=1 pnpm exec vitest run --project @signalbox/tools test/tool-page\`.`;
