import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { JsonValue } from "@signalbox/agent-core";
import { expect, onTestFinished, test } from "vitest";
import { createImageTool } from "../src/image.ts";
import {
  createApplyPatchTool,
  createEditTool,
  createExecTool,
  createFindTool,
  createGrepTool,
  createLsTool,
  createReadTool,
  createSearch,
  createWriteTool,
  openWorkspace,
  type RunFacts,
  startSandbox,
} from "../src/index.ts";
import { caller, textOf } from "./harness.ts";

const sandbox = await startSandbox({ limits: { timeoutMs: 60_000 } });
const FILE = "0123456789abcdef.pdf";
const HIDDEN = [
  "inbox/0123456789abcdef",
  "people/0123456789abcdef",
  "INBOX/0123456789abcdef",
  "memory/people/bob",
];
/** Paths below a hidden folder: a file in it, a path through the file, a folder, and a way out again. */
const ENDS = ["", `/${FILE}`, `/${FILE}/x`, "/sub", "/sub/x", "/../..", `/sub/../../../own.md`, "/./"];
const ROLES: Readonly<Record<string, Partial<RunFacts>>> = {
  member: { role: "member" },
  guest: { role: "guest", channelKind: "group" },
  "an owner's run that has read a page": { role: "owner", taint: [{ source: "web" }] },
};

/** A workspace in which the folders exist, or do not, with a link to each of them and to the file in it. */
async function openPlace(exists: boolean, facts: Partial<RunFacts>) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "hidden-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const put = (path: string) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), "the secret word\n");
  };
  for (const folder of HIDDEN) if (exists) for (const end of [`/${FILE}`, "/sub/x"]) put(`${folder}${end}`);
  for (const place of ["own.md", "INBOX/own.md", "inbox/own.md", "people/own.md", "memory/people/own.md"])
    put(place);
  for (const [index, folder] of HIDDEN.entries()) symlinkSync(folder, join(dir, `link${index}`));
  const workspace = await openWorkspace({ dir });
  const search = createSearch("");
  const tools = [
    createReadTool({ workspace }),
    createLsTool({ workspace }),
    createWriteTool({ workspace }),
    createEditTool({ workspace }),
    createApplyPatchTool({ workspace }),
    createFindTool({ workspace, search }),
    createGrepTool({ workspace, search }),
    createImageTool({ workspace, describeImage: async () => "an image" }),
    createExecTool({ workspace, sandbox }),
  ];
  return caller(tools, { facts });
}

function callsOn(path: string): readonly (readonly [string, JsonValue])[] {
  const patch = (...lines: readonly string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
  return [
    ["read", { file_path: path }],
    ["ls", { path }],
    ["write", { file_path: path, content: "x" }],
    ["edit", { file_path: path, old_string: "secret", new_string: "x" }],
    ["apply_patch", { patch: patch(`*** Add File: ${path}`, "+x") }],
    ["apply_patch", { patch: patch(`*** Delete File: ${path}`) }],
    ["apply_patch", { patch: patch("*** Update File: own.md", `*** Move to: ${path}`) }],
    ["find", { glob: "*", path }],
    ["grep", { pattern: "secret", path }],
    ["image", { file_path: path }],
    ["exec", { command: "true", cwd: path }],
  ];
}

test.each(Object.entries(ROLES))(
  "tells a %s nothing about what exists in places of others, by any tool, path or link",
  async (_, facts) => {
    const [full, empty] = [await openPlace(true, facts), await openPlace(false, facts)];
    const folders = [...HIDDEN, ...HIDDEN.map((_folder, index) => `link${index}`)];
    const told: string[] = [];
    for (const path of folders.flatMap((folder) => ENDS.map((end) => `${folder}${end}`))) {
      for (const [tool, args] of callsOn(path)) {
        const answers = [await full.call(tool, args), await empty.call(tool, args)].map((result) =>
          JSON.stringify([textOf(result), result.isError, result.details]),
        );
        if (answers[0] !== answers[1]) told.push(`${tool} ${path}: ${answers.join(" / ")}`);
        if (tool === "read") expect(answers[0]).not.toContain("the secret word");
      }
    }
    expect(told).toEqual([]);
  },
);
