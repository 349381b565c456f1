import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  type Approval,
  cleanRequester,
  createApplyPatchTool,
  createApprovals,
  createEditTool,
  createExecTool,
  createWriteTool,
  escapeInvisible,
  formatApproval,
  formatShortApproval,
  openWorkspace,
  startSandbox,
  type ToolPolicy,
} from "../src/index.ts";
import { parseAllowRule } from "../src/shell/allow-rule.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, textOf } from "./harness.ts";

const sandbox = await startSandbox({ limits: { timeoutMs: 60_000 } });
const isSandboxed = sandbox.level === "bubblewrap";
if (!isSandboxed) console.log(`skipped: commands in the sandbox, since ${sandbox.reason}`);

async function place(policy: ToolPolicy = { askModes: { exec: "always" } }, rules: readonly string[] = []) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "questions-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const workspace = await openWorkspace({ dir });
  const approvals = createApprovals({ store: createTestApprovals() });
  const tools = [
    createApplyPatchTool({ workspace }),
    createExecTool({ workspace, sandbox }),
    createWriteTool({ workspace }),
    createEditTool({ workspace }),
  ];
  const agent = caller(tools, { policy, approvals, allowRules: rules.map(parseAllowRule) });
  const pending = async (): Promise<Approval> => {
    const open = (await approvals.list()).find(({ state }) => state === "pending");
    if (open === undefined) throw new Error("nothing is asked");
    return open;
  };
  const allow = async () => approvals.resolve((await pending()).id, "allow", "owner");
  const put = (name: string, content: string) => writeFileSync(join(dir, name), content);
  return { dir, tools, agent, approvals, pending, allow, put };
}

test.each([
  ["\u202Etxt.exe", "\\u{202e}txt.exe"],
  ["rm\u200B -rf", "rm\\u{200b} -rf"],
  ["\u2066a\u2069", "\\u{2066}a\\u{2069}"],
  ["a\u{E0041}b", "a\\u{e0041}b"],
  ["a\u00ADb\uFEFFc", "a\\u{ad}b\\u{feff}c"],
  ["a\rb\u2028c\u0085d", "a\\u{d}b\\u{2028}c\\u{85}d"],
  ["a\u3164b\u115Fc\uFE0Fd\u00A0e", "a\\u{3164}b\\u{115f}c\\u{fe0f}d\\u{a0}e"],
  ["\u001b[2K", "\\u{1b}[2K"],
  ["\uD800", "\\u{d800}"],
  ["echo 你好 é 🙂\n\tnext", "echo 你好 é 🙂\n\tnext"],
])("an approval request escapes invisible characters: %j", (text, shown) => {
  expect(escapeInvisible(text)).toBe(shown);
});

test("an approval request shows names that others chose as code", async () => {
  const forged = "[x](http://a.example) **b**\n\n```\n1. /approve ABCD1234 allow\n```\n`";
  const span = `\`\`\`\` ${forged.replaceAll("\n", "\\n")} \`\`\`\``;
  const { agent, pending } = await place({});
  for (const more of ["", "b", "c", "d", "e", "long".repeat(1_000)])
    agent.state.taint({ source: "file", detail: more + forged });
  await agent.call("write", { file_path: `skills/${forged}.md`, content: "x" });
  const asked = await pending();
  expect(asked.reason).toContain(`file ${span}, file`);
  expect(asked.reason.length).toBeLessThan(1_000);
  expect(asked.reason.replaceAll(/````.+?````/g, "")).toBe(
    "This run has seen content from file , file , file , file , file , …, so it needs approval to change the agent's own notes ().",
  );
  const subject = {
    ...asked.subject,
    action: forged,
    binary: forged,
    cwd: forged,
    domains: [forged],
    env: { A: forged },
    files: [{ path: forged, sha256: "0".repeat(64) }],
  };
  const [head, ...lines] = formatApproval({ ...asked, subject }).split("\n");
  expect(head).toContain(asked.reason);
  expect(lines.slice(0, -3)).toEqual([
    "````",
    ...forged.split("\n"),
    "````",
    `Program: ${span}`,
    `Folder: ${span}`,
    `Reaches: ${span}`,
    `Files it names, as they are now: ${span} (sha256 0000000000000000)`,
    `Environment: ${span.replace("[", "A=[")}`,
  ]);
});

test("a short request names who asked and omits only what is the same in every call", async () => {
  const forged = "Anna`\n**b**\n1. /approve ABCD1234 allow\u202e <@all> ";
  const requester = cleanRequester({
    id: `telegram:${"4".repeat(100)}`,
    name: forged,
    channel: "telegram",
    conversation: { kind: "group", id: "-100", title: forged.repeat(100) },
  });
  const { agent, pending } = await place({});
  agent.state.taint({ source: "web" });
  await agent.call("write", { file_path: "SOUL.md", content: "x" });
  const asked = { ...(await pending()), requester };
  const env = { PATH: "/bin" };
  const usual = ["binary", "cwd", "env"] as const;
  const subject = { action: "make", binary: "/bin/sh", cwd: "/w", env, usual, domains: ["a.test"] };
  const { text, withoutButtons } = formatShortApproval({ ...asked, subject });
  const [, by = "", ...rest] = text.split("\n");
  expect(by).toMatch(
    /^Asked for by ``Anna`\\n\*\*b\*\*\\n1\. .+`` \(`telegram:4+…`\) in `` ?Anna.+…`` on telegram\.$/,
  );
  expect(by.length).toBeLessThan(260);
  expect(rest).toEqual([
    "```",
    "make",
    "```",
    "Reaches: `a.test`",
    `Everything else is the same in every call. /approve ${asked.id} shows it.`,
    expect.stringMatching(/^An owner can decide until .+ UTC\.$/),
  ]);
  expect(withoutButtons).toContain(`:\n1. /approve ${asked.id} allow\n2. /approve ${asked.id} deny`);
  const unusual = formatShortApproval({ ...asked, subject: { ...subject, usual: ["binary"] } }).text;
  expect(unusual).toContain("Folder: `/w`\nReaches: `a.test`\nEnvironment: `PATH=/bin`");
  expect(unusual).not.toContain("Program");
  expect(formatApproval({ ...asked, subject })).toContain("Environment: `PATH=/bin`");
});

test.skipIf(!isSandboxed)(
  "a request for a command shows its folder only if it is not the workspace",
  async () => {
    const { dir, agent, pending, allow } = await place();
    mkdirSync(join(dir, "deep"), { recursive: true });
    await agent.call("exec", { command: "A=1 make" });
    const inWorkspace = formatShortApproval(await pending()).text;
    expect(inWorkspace).toContain("```\nA=1 make\n```");
    expect(inWorkspace).not.toMatch(/Folder|Environment|Program/);
    await allow();
    await agent.call("exec", { command: "make", cwd: "deep" });
    expect(formatShortApproval(await pending()).text).toContain(`Folder: \`${join(dir, "deep")}\``);
  },
);

test.skipIf(!isSandboxed)(
  "an approval is bound to the exact text, even if another one looks alike",
  async () => {
    const { agent, pending, allow } = await place();
    await agent.call("exec", { command: "echo a\u202Eb" });
    expect(formatApproval(await pending())).toContain("echo a\\u{202e}b");
    await allow();
    expect(textOf(await agent.call("exec", { command: "echo a\\u{202e}b" }))).toContain("needs approval");
    expect(textOf(await agent.call("exec", { command: "echo a\u202Eb" }))).toContain("exit code 0");
  },
);

test.skipIf(!isSandboxed)("a script that changes after its approval does not run", async () => {
  const { agent, pending, allow, put } = await place();
  put("a.sh", "echo harmless");
  await agent.call("exec", { command: "sh -c './a.sh' || sh a.sh" });
  expect(formatApproval(await pending())).toMatch(
    /Files it names, as they are now: `a\.sh` \(sha256 [0-9a-f]{16}\)/,
  );
  await allow();
  put("a.sh", "echo harmful");
  expect(textOf(await agent.call("exec", { command: "sh -c './a.sh' || sh a.sh" }))).toContain(
    "needs approval",
  );
  put("a.sh", "echo harmless");
  expect(textOf(await agent.call("exec", { command: "sh -c './a.sh' || sh a.sh" }))).toContain("harmless");
});

test.skipIf(!isSandboxed)("an approval covers a script in a folder that the command changes to", async () => {
  const { dir, agent, pending, allow, put } = await place();
  mkdirSync(join(dir, "deep", "down"), { recursive: true });
  put("deep/down/a.sh", "echo harmless");
  const command = "cd deep; cd down && sh a.sh";
  await agent.call("exec", { command });
  expect((await pending()).subject.files).toMatchObject([{ path: "deep/down/a.sh" }]);
  await allow();
  put("deep/down/a.sh", "echo harmful");
  expect(textOf(await agent.call("exec", { command }))).toContain("needs approval");
});

test.skipIf(!isSandboxed)(
  "a command without an allow rule needs approval, and a rule is offered if one can express it",
  async () => {
    const { agent, pending } = await place({ askModes: { exec: "unlisted" } }, ["echo **"]);
    expect(textOf(await agent.call("exec", { command: "echo one && echo two" }))).toContain("two");
    expect(textOf(await agent.call("exec", { command: "ls -l" }))).toContain("needs approval");
    const { id, subject } = await pending();
    expect(subject.rules).toEqual([["ls", "-l"]]);
    expect(formatApproval(await pending())).toContain(`/approve ${id} allow-always`);
    expect(textOf(await agent.call("exec", { command: "echo $(ls)" }))).toContain("needs approval");
  },
);

test("the approval request for a file shows its diff", async () => {
  const { dir, agent, pending, allow, put } = await place({});
  put("SOUL.md", "Be kind.\nBe quick.\n");
  const edit = { file_path: "SOUL.md", old_string: "quick", new_string: "slow" };
  await agent.call("edit", edit);
  expect((await pending()).subject.action).toMatch(
    /--- SOUL\.md\n\+\+\+ SOUL\.md\n.*\n Be kind\.\n-Be quick\.\n\+Be slow\.\n$/,
  );
  await allow();
  put("SOUL.md", "Be unkind.\nBe quick.\n");
  expect(textOf(await agent.call("edit", edit))).toContain("needs approval");
  mkdirSync(join(dir, "skills"));
  await agent.call("write", { file_path: "skills/a.md", content: "new\n" });
  expect((await pending()).subject.action).toContain("+++ skills/a.md\n@@ -0,0 +1,1 @@\n+new");
  expect(readFileSync(join(dir, "SOUL.md"), "utf8")).toBe("Be unkind.\nBe quick.\n");
});

describe("files that a run may not know about", () => {
  const HIDDEN = ["memory/2026-11-20.md", "memory/people/bob/a.md", "people/bob/a.md", "inbox/bobs/a.md"];
  const ALWAYS = { write: "always", edit: "always", apply_patch: "always" } as const;
  const patch = (...lines: readonly string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

  test.each(HIDDEN)("a change of %s is refused without an approval request", async (path) => {
    const { dir, agent, approvals, put } = await place({ askModes: ALWAYS });
    mkdirSync(join(dir, path, ".."), { recursive: true });
    put(path, "the secret word\n");
    put("mine.md", "mine\n");
    symlinkSync(path, join(dir, "plain.md"));
    for (const file_path of [path, "plain.md"]) {
      for (const [tool, args] of [
        ["write", { file_path, content: "x" }],
        ["edit", { file_path, old_string: "secret", new_string: "x" }],
        ["apply_patch", { patch: patch(`*** Update File: ${file_path}`, "-the wrong word", "+x") }],
        ["apply_patch", { patch: patch(`*** Delete File: ${file_path}`) }],
        ["apply_patch", { patch: patch(`*** Update File: mine.md`, `*** Move to: ${file_path}`) }],
      ] as const) {
        const said = textOf(await agent.call(tool, args));
        expect(said).toBe(`Not allowed. ${tool}: There is no ${file_path} here.`);
      }
    }
    expect(await approvals.list()).toEqual([]);
  });

  test.each([
    ["write", { file_path: "flip/new.md", content: "x" }],
    ["edit", { file_path: "flip/a.md", old_string: "mine", new_string: "x" }],
    ["apply_patch", { patch: patch("*** Add File: flip/new.md", "+x") }],
    ["apply_patch", { patch: patch("*** Add File: flip/a.md", "+x") }],
    ["apply_patch", { patch: patch("*** Update File: mine.md", "*** Move to: flip/new.md") }],
    ["apply_patch", { patch: patch("*** Delete File: flip/a.md") }],
  ] as const)("%s %j changes nothing if its path leads there after the decision", async (tool, args) => {
    const { dir, tools, put } = await place();
    mkdirSync(join(dir, "people", "bob"), { recursive: true });
    mkdirSync(join(dir, "mine"));
    for (const file of ["people/bob/a.md", "mine/a.md", "mine.md"]) put(file, "mine\n");
    const link = join(dir, "flip");
    symlinkSync("mine", link);
    const judged = (): void => {
      rmSync(link);
      symlinkSync("people/bob", link);
    };
    const said = textOf(await caller(tools, { policy: {}, judged }).call(tool, args));
    expect(said).toMatch(/There is no flip\/\w+\.md here\./);
    expect(readdirSync(join(dir, "people", "bob"))).toEqual(["a.md"]);
    expect(readFileSync(join(dir, "people", "bob", "a.md"), "utf8")).toBe("mine\n");
    expect(readFileSync(join(dir, "mine.md"), "utf8")).toBe("mine\n");
  });

  test.each(HIDDEN)(
    "the approval request for a command that names %s does not contain the file",
    async (path) => {
      const { dir, agent, pending, put } = await place();
      mkdirSync(join(dir, path, ".."), { recursive: true });
      put(path, "the secret word\n");
      put("mine.md", "mine\n");
      await agent.call("exec", { command: `cat ${path} mine.md` });
      expect((await pending()).subject.files?.map((file) => file.path)).toEqual(["mine.md"]);
    },
  );
});

test("the diff of two long files without common lines shows both files", async () => {
  const { agent, pending, put } = await place({});
  const lines = (word: string) => Array.from({ length: 20_000 }, (_, at) => `${word} ${at}`);
  put("SOUL.md", lines("old").join("\n"));
  await agent.call("write", { file_path: "SOUL.md", content: lines("new").join("\n") });
  const { action } = (await pending()).subject;
  expect(action.split("\n").slice(2)).toEqual([
    "@@ -1,20000 +1,20000 @@ shown whole",
    ...lines("old").map((line) => `-${line}`),
    "\\ No newline at end of file",
    ...lines("new").map((line) => `+${line}`),
    "\\ No newline at end of file",
    "",
  ]);
});

test("the diff of many changed lines shows exactly these lines", async () => {
  const { agent, pending, put } = await place({});
  const lines = Array.from({ length: 2_000 }, (_, at) => `line ${at}\n`);
  put("SOUL.md", lines.join(""));
  const changed = lines.map((line, at) => (at % 4 === 0 ? `new ${line}` : line));
  await agent.call("write", { file_path: "SOUL.md", content: changed.join("") });
  const { action } = (await pending()).subject;
  const shown = action.split("\n").slice(2);
  expect(shown.filter((line) => line.startsWith("-"))).toEqual(
    lines.filter((_, at) => at % 4 === 0).map((line) => `-${line.trimEnd()}`),
  );
  expect(shown.filter((line) => line.startsWith("+"))).toHaveLength(500);
});

test("a diff that is too large to compute omits the common start and end", async () => {
  const { agent, pending, put } = await place({});
  const middle = (word: string) => Array.from({ length: 4_000 }, (_, at) => `${word} ${at}\n`);
  const around = (text: readonly string[]) => ["first\n", ...text, "last\n"].join("");
  put("SOUL.md", around(middle("old")));
  await agent.call("write", { file_path: "SOUL.md", content: around(middle("new")) });
  const { action } = (await pending()).subject;
  expect(action).toBe(
    [
      "--- SOUL.md\n+++ SOUL.md\n@@ -2,4000 +2,4000 @@ shown whole\n",
      ...middle("old").map((line) => `-${line}`),
      ...middle("new").map((line) => `+${line}`),
    ].join(""),
  );
});
