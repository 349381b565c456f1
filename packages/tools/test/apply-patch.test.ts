import {
  existsSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createApplyPatchTool, createApprovals, openWorkspace, type RunFacts } from "../src/index.ts";
import { createTestApprovals } from "./approval-store.ts";
import { caller, textOf } from "./harness.ts";

async function patched(facts: Partial<RunFacts> = {}) {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "signalbox-patch-")));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const workspace = await openWorkspace({ dir });
  const approvals = createApprovals({ store: createTestApprovals() });
  const run = caller([createApplyPatchTool({ workspace })], {
    facts: { role: "owner", ...facts },
    approvals,
  });
  const apply = async (...lines: string[]) =>
    run.call("apply_patch", { patch: ["*** Begin Patch", ...lines, "*** End Patch"].join("\n") });
  const read = (name: string) => readFileSync(join(dir, name), "utf8");
  const write = (name: string, text: string) => writeFileSync(join(dir, name), text);
  return {
    dir,
    workspace,
    approvals,
    run,
    apply,
    read,
    write,
    has: (name: string) => existsSync(join(dir, name)),
  };
}

test("changes a long file in many places", async () => {
  const { apply, read, write } = await patched();
  const lines = Array.from({ length: 20_000 }, (_, at) => `line ${at}  `);
  write("a.py", lines.join("\n"));
  const places = Array.from({ length: 200 }, (_, at) => at * 100);
  const changes = places.flatMap((at) => ["@@", `-line ${at}`, `+changed ${at}`]);
  expect(textOf(await apply("*** Update File: a.py", ...changes))).toBe("Updated a.py");
  expect(read("a.py")).toBe(
    lines.map((line, at) => (places.includes(at) ? `changed ${at}` : line)).join("\n"),
  );
});

test("adds, changes, moves and deletes files with one patch", async () => {
  const { apply, read, write, has } = await patched();
  write("a.py", 'def greet():\n    print("Hi")\n\ndef leave():\n    print("Hi")\n');
  write("old.txt", "x\n");
  write("from.txt", "one\ntwo\n");
  const result = await apply(
    ...["*** Update File: a.py", "@@ def leave():", '-    print("Hi")', '+    print("Bye")'],
    ...["*** Add File: sub/new.txt", "+first", "+", "+third"],
    ...["*** Update File: from.txt", "*** Move to: to.txt", " one", "-two", "+zwei", "*** End of File"],
    "*** Delete File: old.txt",
  );
  expect(textOf(result)).toBe(
    "Updated a.py\nAdded sub/new.txt\nUpdated from.txt, now to.txt\nDeleted old.txt",
  );
  expect(read("a.py")).toBe('def greet():\n    print("Hi")\n\ndef leave():\n    print("Bye")\n');
  expect(read("sub/new.txt")).toBe("first\n\nthird\n");
  expect(read("to.txt")).toBe("one\nzwei\n");
  expect([has("old.txt"), has("from.txt")]).toEqual([false, false]);
});

test("ignores differences in white space, keeps line breaks, and appends lines", async () => {
  const { apply, read, write } = await patched();
  write("a.txt", "  one\r\n\ttwo  \r\nthree");
  await apply("*** Update File: a.txt", " one", "-two", "+TWO", "@@", "+four");
  expect(read("a.txt")).toBe("one\r\nTWO\r\nthree\r\nfour");
});

test.each([
  ["a change that does not fit", ["*** Update File: b.txt", "-not there", "+x"], /does not have these lines/],
  ["a head that is not there", ["*** Update File: b.txt", "@@ class X", "-b", "+x"], /has no line `class X`/],
  ["a file that is there already", ["*** Add File: b.txt", "+x"], /already exists/],
  ["a file that is not there", ["*** Delete File: c.txt"], /no c\.txt|no file c\.txt/],
  [
    "a file twice",
    ["*** Delete File: b.txt", "*** Update File: b.txt", "-b", "+c"],
    /contains a file more than once/,
  ],
  ["a place outside", ["*** Add File: ../c.txt", "+x"], /outside/],
  ["lines without a sign", ["*** Add File: c.txt", "x"], /must begin with `\+`/],
  ["a line that is none", ["what is this"], /must begin with a space/],
])("changes nothing if the patch has %s", async (_name, lines, problem) => {
  const { apply, read, write } = await patched();
  write("a.txt", "a\n");
  write("b.txt", "b\n");
  const result = await apply("*** Update File: a.txt", "-a", "+changed", ...lines);
  expect(result.isError).toBe(true);
  expect(textOf(result)).toMatch(problem);
  expect([read("a.txt"), read("b.txt")]).toEqual(["a\n", "b\n"]);
});

test("a change of identity files by a member needs approval of the diff, also through a link", async () => {
  const { dir, apply, approvals, read, write, run } = await patched({ role: "member" });
  write("SOUL.md", "Be kind.\n");
  symlinkSync("SOUL.md", join(dir, "plain.md"));
  for (const lines of [
    ["*** Update File: SOUL.md", "-Be kind.", "+Be cruel."],
    ["*** Update File: plain.md", "-Be kind.", "+Be cruel."],
    ["*** Delete File: SOUL.md"],
    ["*** Add File: skills/obey/SKILL.md", "+Obey."],
  ]) {
    const result = await apply(...lines);
    expect(result.isError).toBe(true);
    expect(run.records.at(-1)).toMatchObject({ decision: "ask", rule: "member_write_identity" });
  }
  expect(read("SOUL.md")).toBe("Be kind.\n");
  const first = (await approvals.list()).at(-1);
  expect(first?.subject.action).toContain("-Be kind.\n+Be cruel.");
});

test("the request for a patch that does not fit reveals nothing of the file", async () => {
  const { approvals, apply, write } = await patched({ role: "member" });
  write("SOUL.md", "Be kind.\n");
  expect(textOf(await apply("*** Update File: SOUL.md", "-Be cruel.", "+x"))).toContain("needs approval");
  const [question] = await approvals.list({ states: ["pending"] });
  expect(question?.subject.action).toContain("+[this change does not fit the file]");
});

test("labels files that a tainted run adds, and taints a run that changes others' files", async () => {
  const { dir, apply, workspace, run } = await patched({ taint: [{ source: "web" }] });
  await apply("*** Add File: page.md", "+words");
  expect(workspace.labels.get(join(dir, "page.md"))).toMatchObject({ source: "web" });
  expect(run.state.facts.taint).toHaveLength(1);
  const other = await patched();
  other.write("page.md", "words\n");
  await other.workspace.labels.add([{ path: join(other.dir, "page.md"), kind: "entry", source: "web" }]);
  await other.apply("*** Update File: page.md", "-words", "+other words");
  expect(other.run.state.facts.taint).toMatchObject([{ source: "web" }]);
});

test("recognizes two paths of one file", async () => {
  const { dir, apply, read, write } = await patched();
  write("a.txt", "one\ntwo\n");
  symlinkSync(".", join(dir, "here"));
  for (const name of ["./a.txt", "here/a.txt"]) {
    const twice = await apply(
      ...["*** Update File: a.txt", "-one", "+1"],
      ...[`*** Update File: ${name}`, "-two", "+2"],
    );
    expect(textOf(twice)).toBe(
      "Nothing was changed. The patch contains a file more than once. Combine its changes in one section.",
    );
  }
  expect(read("a.txt")).toBe("one\ntwo\n");
});

test("reports the completed steps if a later one fails", async () => {
  const { apply, has } = await patched();
  const outcome = await apply("*** Add File: x", "+1", "*** Add File: x/y", "+2", "*** Add File: z", "+3");
  expect(outcome.isError).toBe(true);
  expect(textOf(outcome)).toBe(
    "x is a file, not a folder.\nThe rest of the patch was not applied. Completed steps:\nAdded x",
  );
  expect([has("x"), has("z")]).toEqual([true, false]);
});

test("shows a moved file in full, and its approval is bound to the content", async () => {
  const { approvals, apply, read, write, has } = await patched({ taint: [{ source: "web" }] });
  const move = () => apply("*** Update File: a.md", "*** Move to: AGENTS.md");
  const ask = async () => {
    await move();
    const [question] = await approvals.list({ states: ["pending"] });
    return question;
  };
  write("a.md", "Be kind.\n");
  const first = await ask();
  expect(first?.subject.action).toContain("+Be kind.");
  await approvals.resolve(first?.id ?? "", "allow", "owner");
  write("a.md", "Be rude.\n");
  const second = await ask();
  expect(second?.subject.action).toContain("+Be rude.");
  expect(has("AGENTS.md")).toBe(false);
  await approvals.resolve(second?.id ?? "", "allow", "owner");
  await move();
  expect(read("AGENTS.md")).toBe("Be rude.\n");
});
