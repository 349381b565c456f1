// Several people write to one agent. Whatever they and their commands do to its files, an untainted run never reads
// content that others wrote.
import { rmSync } from "node:fs";
import type { JsonValue } from "@signalbox/agent-core";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Caller, textOf } from "./harness.ts";
import { CANARY, holds, home, isSandboxed, type Person } from "./taint-home.ts";

interface Step {
  readonly person: Person;
  /** True if the step continues the previous run of the person. */
  readonly goesOn: boolean;
  readonly tool: "read" | "ls" | "edit" | "write" | "exec";
  readonly args: Readonly<Record<string, string>>;
}

const file = fc.constantFrom(
  "a.txt",
  "b.txt",
  "d/a.txt",
  "d/e/c.txt",
  "f/x.md",
  "run.sh",
  "t.tar",
  "a b.txt",
);
const folder = fc.constantFrom("d", "d/e", "g");
const inboxFile = fc.constantFrom("@INBOX@/letter.txt", "@INBOX@/letter.txt", "@BOBS@/letter.txt");
const source = fc.oneof(file, inboxFile);
const commands = fc.oneof(
  fc.tuple(source, file).map(([a, b]) => `cp '${a}' '${b}'`),
  fc.tuple(source, file).map(([a, b]) => `mv '${a}' '${b}'`),
  fc.tuple(source, file).map(([a, b]) => `ln -f '${a}' '${b}'`),
  fc.tuple(source, file).map(([a, b]) => `ln -sf "$PWD/${a}" '${b}'`),
  fc.tuple(source, file).map(([a, b]) => `mkdir -p "$(dirname '${b}')"; rev '${a}' > '${b}'; cat '${b}'`),
  fc.tuple(source, file).map(([a, b]) => `base64 < '${a}' >> '${b}'`),
  fc.tuple(source, file).map(([a, b]) => `printf 'cat "${a}" > "${b}"; cat "${a}"' > run.sh`),
  fc.tuple(folder, folder).map(([a, b]) => `mv ${a} ${b}`),
  fc.tuple(folder, folder).map(([a, b]) => `cp -a ${a} ${b}`),
  folder.map((name) => `mkdir -p ${name}; mv inbox ${name}/`),
  folder.map((name) => `tar cf t.tar ${name} inbox; tar tf t.tar`),
  fc.constantFrom(
    "sh run.sh",
    "tar xf t.tar; cat t.tar",
    "cat *",
    "cat i*/*/*",
    "grep -r . .",
    "find . -type f -exec cat {} +",
    "tar c . | base64 -w0 | head -c 20000",
    "ls -laR; ls -aR | rev",
    // A short plain name counts as read only if it is spelled unchanged.
    `touch '${CANARY} in a name'`,
  ),
);
const step: fc.Arbitrary<Step> = fc
  .record({
    person: fc.constantFrom<Person>("owner", "ann", "ann", "eve"),
    goesOn: fc.constantFrom(true, true, true, false),
  })
  .chain((who) =>
    fc
      .oneof(
        {
          weight: 4,
          arbitrary: commands.map((text) => ({ tool: "exec" as const, args: { command: text } })),
        },
        {
          weight: 2,
          arbitrary: source.map((path) => ({ tool: "read" as const, args: { file_path: path } })),
        },
        { weight: 1, arbitrary: folder.map((path) => ({ tool: "ls" as const, args: { path } })) },
        { weight: 1, arbitrary: fc.constant({ tool: "ls" as const, args: { path: "." } }) },
        {
          weight: 1,
          arbitrary: source.map((path) => ({
            tool: "edit" as const,
            args: { file_path: path, old_string: "letter with canary in it", new_string: "y" },
          })),
        },
        {
          weight: 2,
          arbitrary: file.map((path) => ({ tool: "write" as const, args: { file_path: path, content: "" } })),
        },
      )
      .map((call) => ({ ...who, ...call })),
  );

/** Steps that everyone makes at the end, each in a new run. */
const LOOK_ROUND: readonly Pick<Step, "tool" | "args">[] = [
  {
    tool: "exec",
    args: {
      command: "find . -type f -exec cat {} + ; for f in $(find . -name '*.tar'); do tar xOf $f; done",
    },
  },
  { tool: "exec", args: { command: "sh run.sh; ls -aR | rev; cat 'a b.txt' | base64 -d" } },
  { tool: "exec", args: { command: "ls -laR" } },
  ...["a.txt", "d/a.txt", "d/e/c.txt", "e/c.txt", "g/e/c.txt", "run.sh", "a b.txt"].map((file_path) => ({
    tool: "read" as const,
    args: { file_path },
  })),
  { tool: "ls", args: { path: "." } },
];

/** Plays the steps. Returns the first one after which an untainted run contains the canary. */
async function play(steps: readonly Step[]): Promise<Pick<Step, "tool" | "args"> | undefined> {
  const { run, put, inbox, dir } = await home();
  for (const person of ["ann", "bob"] as const)
    put(`${inbox(person)}/letter.txt`, `letter with ${CANARY} in it\n`);
  put("a.txt", "the owner's own words\n");
  put("d/e/c.txt", "more of them\n");
  const runs = new Map<Person, { readonly agent: Caller; read: string }>();
  /** Returns true if the run is untainted and contains the canary. */
  const leaks = async (person: Person, goesOn: boolean, { tool, args }: Pick<Step, "tool" | "args">) => {
    const current = (goesOn ? runs.get(person) : undefined) ?? { agent: run(person), read: "" };
    runs.set(person, current);
    // A model writes only content that it has read.
    const isTold = holds(current.read);
    const content = isTold ? current.read.slice(-2_000) : "plain words\n";
    const texts = Object.entries({ ...args, ...(tool === "write" ? { content } : {}) }).map(
      ([name, text]): [string, JsonValue] => [
        name,
        text.replaceAll("@INBOX@", inbox(person)).replaceAll("@BOBS@", inbox("bob")),
      ],
    );
    if (!isTold && holds(JSON.stringify(texts))) return false;
    const result = textOf(await current.agent.call(tool, Object.fromEntries(texts)));
    current.read += result;
    return holds(result) && current.agent.state.facts.taint.length === 0;
  };
  try {
    for (const each of steps) if (await leaks(each.person, each.goesOn, each)) return each;
    for (const person of ["owner", "bob"] as const)
      for (const each of LOOK_ROUND) if (await leaks(person, false, each)) return each;
    return undefined;
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

test.skipIf(!isSandboxed)(
  "untainted runs never contain content of files that others wrote",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16, size: "max" }), async (steps) => {
        expect(await play(steps)).toBeUndefined();
      }),
      { numRuns: Number(process.env["SIGNALBOX_TAINT_RUNS"] ?? 12), endOnFailure: true },
    );
  },
  600_000,
);
