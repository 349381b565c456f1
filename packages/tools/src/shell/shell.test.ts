import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { expect, test } from "vitest";
import { getAllowRules, isCovered, parseAllowRule } from "./allow-rule.ts";
import { parseShell } from "./parse.ts";

const RULES = ["git log **", "npm test", "ls *", "grep ** "].map(parseAllowRule);
const covered = async (script: string) => isCovered(await parseShell(script), RULES);

test.each([
  "git log",
  "git log --oneline -3",
  "npm test",
  "ls src",
  "git log | grep fix",
  "npm test && ls 'a b'; git log \"x y\"",
  "# why\nnpm test",
  "\n\n  git   log\n\n\tnpm test # why\n",
  "git \\\n log",
  "git log '\\.ts' \"\\n\" 'it'\\''s'",
])("a rule covers the script %s", async (script) => {
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
  // The grammar parses two words or a comment, but the shell parses one word.
  "ls\rx",
  "ls\fx",
  "ls\vx",
  "ls x \f# y",
  "ls x\\\ny",
  // The grammar continues the previous line, but the shell starts another command.
  "git log\n\\\nrm x",
  "git log\n \t\\\nrm x",
  "git log \\\n\n\\\nrm x",
  "git log\n\n\\\n&& npm test",
  "git log\n\\\n; npm test",
  // The grammar parses another word after a quote, but the shell continues the same word.
  "ls''\\x",
  'npm test""\\x',
  // The grammar parses a comment after a quote and an escaped blank.
  'git log "x"\\ #; rm y',
  "git log 'x'\\ \nnpm test",
  "\\ ls x",
  "git log\n\\rm x",
  "git log -n\u3000x",
  "ls \\ \\\nx",
  "ls x \\\\\\\ny",
  "ls x\\\\*",
  "eval 'npm test'",
  "npm test 'unfinished",
  "",
])("no rule covers the script %j", async (script) => {
  expect(await covered(script)).toBe(false);
});

test("the rules of an approved script cover only this script", async () => {
  const script = await parseShell("npm run build && node 'dist/x y.js'");
  const rules = getAllowRules(script) ?? [];
  expect(rules).toEqual([
    ["npm", "run", "build"],
    ["node", "dist/x y.js"],
  ]);
  expect(isCovered(script, rules)).toBe(true);
  expect(isCovered(await parseShell("npm run build --x"), rules)).toBe(false);
  expect(getAllowRules(await parseShell("echo '**'"))).toBeUndefined();
  expect(getAllowRules(await parseShell("echo $X"))).toBeUndefined();
});

test("finds file names anywhere in a script", async () => {
  const { words } = await parseShell(
    "sh -c './a.sh b.txt' && python3 --file=c.py \"d e.py\" f\\ g; cat < h.txt | tee i.txt; ( j.sh )",
  );
  expect(words).toEqual(
    expect.arrayContaining(["./a.sh", "b.txt", "c.py", "d e.py", "f g", "h.txt", "i.txt", "j.sh"]),
  );
});

test("finds file names as the shell parses them", async () => {
  const { words } = await parseShell("./a\fb ./c\\\nd \"./e\"\\f './g'\\ h $'./i' './j'\\ #; ./k");
  expect(words).toEqual(expect.arrayContaining(["./a\fb", "./cd", "./ef", "./g h", "./i", "./j #", "./k"]));
});

test("ignores the content of here-documents", async () => {
  const { words } = await parseShell(`cat > a.py <<'END'\nprint("b\\n", 'c'\\d)\nEND`);
  expect(words).toEqual(["cat", "a.py"]);
});

/**
 * Returns the commands of each script as Bash runs them. None of the programs exist, which does not stop the script.
 */
function asBashReads(scripts: readonly string[]): string[][][] {
  const program = [
    "PATH=/nonexistent",
    "command_not_found_handle() { printf '%s\\0' \"$@\" >&3; printf '\\1\\0' >&3; }",
    "for script; do (eval \"$script\"); printf '\\2\\0' >&3; done",
  ].join("\n");
  const { output } = spawnSync("bash", ["--norc", "-c", program, "bash", ...scripts], {
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  const told = output[3]?.toString().split("\u0002\0").slice(0, -1) ?? [];
  return told.map((script) => {
    const commands = script.split("\u0001\0").slice(0, -1);
    return commands.map((command) => command.split("\0").slice(0, -1));
  });
}

const piece = fc.constantFrom(
  ...["p", "q", "r", " ", " ", "  ", "\t", "\n", ";", "&&", "#", "'", '"', "\\", "\\\n", " \\\n"],
  ...[
    "\r",
    "\f",
    "\v",
    "\u00a0",
    "\u2028",
    "\u3000",
    "-x",
    "=",
    "!",
    "]",
    "^",
    "@",
    ",",
    "é",
    "\u007f",
    "p\\ ",
    "\\ ",
    "$",
    "~",
    "(",
    "{",
    "<",
    "-",
  ],
);

test("plain commands are exactly the commands that Bash runs", async ({ skip }) => {
  if (spawnSync("bash", ["-c", ":"]).status !== 0) skip("no bash here");
  const scripts = fc.sample(
    fc.array(piece, { maxLength: 12 }).map((pieces) => `p${pieces.join("")}`),
    400,
  );
  const read = await Promise.all(scripts.map(async (script) => (await parseShell(script)).commands));
  const plain = scripts.flatMap((script, index) => {
    const commands = read[index];
    return commands === undefined ? [] : [{ script, commands }];
  });
  expect(plain.length).toBeGreaterThan(40);
  const run = asBashReads(plain.map(({ script }) => script));
  for (const [index, { script, commands }] of plain.entries())
    expect({ script, commands }).toEqual({ script, commands: run[index] });
});
