import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createProcesses } from "../src/background/processes.ts";
import { createBuiltInTools } from "../src/built-in.ts";
import { BUILT_IN_TOOLS, type Sandbox, type ToolDefinition } from "../src/index.ts";
import type { AgentMemory } from "../src/memory.ts";
import { TOOL_DOCS } from "./tool-docs.ts";
import { createToolPage, estimateToolTokens, listParameters } from "./tool-page.ts";

const never = () => Promise.reject(new Error("not callable"));
/** A sandbox with the default settings. */
const SANDBOX: Sandbox = {
  level: "bubblewrap",
  terminal: true,
  network: false,
  env: {},
  shell: "/bin/bash",
  notes: [],
  run: never,
  limits: {
    timeoutMs: 60_000,
    backgroundMs: 3_600_000,
    processes: 256,
    outputChars: 15_000,
    memoryBytes: 1e9,
    diskBytes: 1e9,
    scratchBytes: 1e9,
  },
};
const MEMORY: AgentMemory = {
  search: never,
  get: never,
  write: never,
  forget: never,
  describe: never,
  writesOwnersNotes: () => false,
};

async function createTools(allow: readonly string[]): Promise<readonly ToolDefinition[]> {
  const dir = mkdtempSync(join(tmpdir(), "tool-page-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const tools = await createBuiltInTools(
    { allow },
    {
      workspace: { dir },
      sandbox: async () => SANDBOX,
      processes: createProcesses(),
      memory: MEMORY,
      fetch: never,
      isKnownLink: () => false,
      send: never,
      isCurrent: () => false,
      askUser: never,
      cron: never,
      sessions: never,
      browser: { call: never, listDownloads: never, readDownload: never },
      describeImage: never,
      generateImage: never,
      gateway: { status: never, config: never, preview: never, apply: never },
      webSearch: { engine: "searxng", url: "http://127.0.0.1" },
    },
  );
  return tools.filter(({ name }) => allow.includes("*") || allow.includes(name));
}

test.each([
  ["docs/tools.md", "en"],
  ["docs/tools.zh.md", "zh"],
] as const)("%s matches the code", async (page, language) => {
  const file = new URL(`../../../${page}`, import.meta.url);
  const tools = await createTools(["*"]);
  expect(tools.map(({ name }) => name).toSorted()).toEqual(BUILT_IN_TOOLS.toSorted());
  const order = (name: string) => BUILT_IN_TOOLS.indexOf(name);
  const text = createToolPage(
    tools.toSorted((a, b) => order(a.name) - order(b.name)),
    language,
  );
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(file, text);
  expect(readFileSync(file, "utf8"), "run this test with UPDATE_DOCS=1").toBe(text);
});

test("the documentation describes exactly the parameters of each tool", async () => {
  for (const tool of await createTools(["*"]))
    expect(Object.keys(TOOL_DOCS[tool.name]?.parameters ?? {}), tool.name).toEqual(listParameters(tool));
});

test("the documented example of each tool is a valid call", async () => {
  for (const { name, inputSchema } of await createTools(["*"])) {
    if (!("~standard" in inputSchema) || typeof inputSchema["~standard"] !== "object") throw new Error(name);
    const { validate } = Object(inputSchema["~standard"]);
    expect(await validate(TOOL_DOCS[name]?.example), name).not.toHaveProperty("issues");
  }
});

test("the six default tools take fewer than 1,100 tokens, and no tool takes 400", async () => {
  const six = await createTools(["read", "write", "edit", "ls", "exec", "message"]);
  expect(estimateToolTokens(six)).toBeLessThan(1_100);
  expect(six.find(({ name }) => name === "exec")?.description).not.toContain("background");
  for (const tool of await createTools(["*"]))
    expect(estimateToolTokens([tool]), tool.name).toBeLessThan(400);
});
