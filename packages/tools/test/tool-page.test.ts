import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createProcesses } from "../src/background/processes.ts";
import { createBuiltInTools } from "../src/built-in.ts";
import { type AgentMemory, BUILT_IN_TOOLS, type Sandbox, type ToolDefinition } from "../src/index.ts";
import { EXAMPLES, tokensOf, toolPage } from "./tool-page.ts";

const PAGE = new URL("../../../docs/tools.md", import.meta.url);
const never = () => Promise.reject(new Error("only described"));
/** A sandbox as most people have it. */
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

async function described(allow: readonly string[]): Promise<readonly ToolDefinition[]> {
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
      describeImage: never,
      gateway: { status: never, config: never, preview: never, apply: never },
      webSearch: { engine: "searxng", url: "http://127.0.0.1" },
    },
  );
  return tools.filter(({ name }) => allow.includes("*") || allow.includes(name));
}

test("docs/tools.md says of each tool what a model is told of it", async () => {
  const tools = await described(["*"]);
  expect(tools.map(({ name }) => name).toSorted()).toEqual(BUILT_IN_TOOLS.toSorted());
  const page = toolPage(
    tools.toSorted((a, b) => BUILT_IN_TOOLS.indexOf(a.name) - BUILT_IN_TOOLS.indexOf(b.name)),
  );
  if (process.env["UPDATE_DOCS"] === "1") writeFileSync(PAGE, page);
  expect(readFileSync(PAGE, "utf8"), "run this with UPDATE_DOCS=1").toBe(page);
});

test("the example of each tool is one that it takes", async () => {
  for (const { name, inputSchema } of await described(["*"])) {
    if (!("~standard" in inputSchema) || typeof inputSchema["~standard"] !== "object") throw new Error(name);
    const { validate } = Object(inputSchema["~standard"]);
    expect(await validate(EXAMPLES[name]), name).not.toHaveProperty("issues");
  }
});

test("the six tools that most agents have cost a request little, and the others cost those nothing", async () => {
  const six = await described(["read", "write", "edit", "ls", "exec", "message"]);
  expect(tokensOf(six)).toBeLessThan(1_100);
  expect(six.find(({ name }) => name === "exec")?.description).not.toContain("background");
  for (const tool of await described(["*"])) expect(tokensOf([tool]), tool.name).toBeLessThan(400);
});
