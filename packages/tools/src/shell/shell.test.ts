import { expect, test } from "vitest";
import { parseShell } from "./parse.ts";
import { isCovered, readRule, rulesFor } from "./standing-rules.ts";

const RULES = ["git log **", "npm test", "ls *", "grep ** "].map(readRule);
const covered = async (script: string) => isCovered(await parseShell(script), RULES);

test.each([
  "git log",
  "git log --oneline -3",
  "npm test",
  "ls src",
  "git log | grep fix",
  "npm test && ls 'a b'; git log \"x y\"",
  "# why\nnpm test",
  "git \\\n log",
])("a rule covers %s", async (script) => {
  expect(await covered(script)).toBe(true);
});

test.each([
  "git push",
  "npm test --watch",
  "ls",
  "ls a b",
  "npm test; rm x",
  "npm test & rm x",
  "npm test || (rm x)",
  "npm test > AGENTS.md",
  "npm test < x",
  "npm test <<< x",
  "git log $(rm x)",
  "git log `rm x`",
  "git log ${x:-$(rm x)}",
  "git log $X",
  'git log "$X"',
  "git log <(rm x)",
  "ls *",
  "ls a{b,c}",
  "ls ~",
  "X=1 npm test",
  "npm() { rm x; }; npm test",
  "alias npm=rm\nnpm test",
  "if npm test; then rm x; fi",
  "for i in a; do npm test; done",
  "{ npm test; }",
  "! npm test",
  "time npm test",
  "git log $'\\x41'",
  "npm test\nrm x",
  "npm test\u2028rm x",
  "npm test\r\nrm x",
  "eval 'npm test'",
  "npm test 'unfinished",
  "",
])("no rule covers %j", async (script) => {
  expect(await covered(script)).toBe(false);
});

test("a script that was allowed for always is covered then, and no other", async () => {
  const script = await parseShell("npm run build && node 'dist/x y.js'");
  const rules = rulesFor(script) ?? [];
  expect(rules).toEqual([
    ["npm", "run", "build"],
    ["node", "dist/x y.js"],
  ]);
  expect(isCovered(script, rules)).toBe(true);
  expect(isCovered(await parseShell("npm run build --x"), rules)).toBe(false);
  expect(rulesFor(await parseShell("echo '**'"))).toBeUndefined();
  expect(rulesFor(await parseShell("echo $X"))).toBeUndefined();
});

test("files are found wherever a script names them", async () => {
  const { words } = await parseShell(
    "sh -c './a.sh b.txt' && python3 --file=c.py \"d e.py\" f\\ g; cat < h.txt | tee i.txt; ( j.sh )",
  );
  expect(words).toEqual(
    expect.arrayContaining(["./a.sh", "b.txt", "c.py", "d e.py", "f g", "h.txt", "i.txt", "j.sh"]),
  );
});
