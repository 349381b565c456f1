import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { exampleConfig, openWorld } from "../support/harness.ts";
import { modelRequests } from "../support/model-requests.ts";
import { plainChannel, plainMessage, said } from "../support/plain-channel.ts";

const BUNDLED = fileURLToPath(new URL("../../../../skills", import.meta.url));
const ICS = "BEGIN:VCALENDAR\nVERSION:2.0\nEND:VCALENDAR\n";

/** What somebody asks that a skill is for, what the model then does as the skill says, and what is left of it. */
const TRIES: Readonly<Record<string, Try>> = {
  "calendar-file": {
    ask: "make me an ics for dinner on Friday at 7",
    call: { name: "write", input: { file_path: "dinner.ics", content: ICS } },
    left: ["dinner.ics", ICS],
  },
  "create-python-script": {
    ask: "write a script that says hello",
    call: { name: "write", input: { file_path: "hello.py", content: 'print("hello")\n' } },
    left: ["hello.py", 'print("hello")\n'],
  },
  "csv-analysis": {
    ask: "which month sold most in sales.csv",
    call: { name: "read", input: { file_path: "sales.csv" } },
    reads: "2026-02,40",
  },
  "daily-notes": {
    ask: "note that the boiler was serviced",
    call: { name: "write", input: { file_path: "notes/2026-03-02.md", content: "- Boiler serviced.\n" } },
    left: ["notes/2026-03-02.md", "- Boiler serviced.\n"],
  },
  github: {
    ask: "what is open in acme/shop",
    call: { name: "ls", input: { path: "." } },
    reads: "sales.csv",
  },
  "pdf-to-text": {
    ask: "find the total in invoice.pdf",
    call: { name: "ls", input: { path: "." } },
    reads: "invoice.pdf",
  },
  reminders: {
    ask: "remind me at six to call Mum",
    call: { name: "write", input: { file_path: "reminders.md", content: "- [ ] 18:00: call Mum\n" } },
    left: ["reminders.md", "- [ ] 18:00: call Mum\n"],
  },
  "shell-diagnostics": {
    ask: "the server is slow",
    call: { name: "ls", input: { path: "." } },
    reads: "sales.csv",
  },
  "skill-authoring": {
    ask: "make a skill for our release notes",
    call: { name: "ls", input: { path: "." } },
    reads: "sales.csv",
  },
  "summarise-file": {
    ask: "summarise notes.txt",
    call: { name: "read", input: { file_path: "notes.txt" } },
    reads: "The boiler is called Bertha.",
  },
  "summarise-page": {
    ask: "what's in this article I saved as page.html",
    call: { name: "read", input: { file_path: "page.html" } },
    reads: "A page.",
  },
  translate: {
    ask: "translate notes.txt into Chinese",
    call: { name: "write", input: { file_path: "notes.zh.txt", content: "锅炉叫贝尔塔。\n" } },
    left: ["notes.zh.txt", "锅炉叫贝尔塔。\n"],
  },
  weather: { ask: "will it rain tomorrow?", call: { name: "ls", input: { path: "." } }, reads: "sales.csv" },
};

interface Try {
  readonly ask: string;
  readonly call: { readonly name: string; readonly input: Readonly<Record<string, string>> };
  /** What the call gives the model to read. */
  readonly reads?: string;
  /** The file that it leaves in the workspace. */
  readonly left?: readonly [path: string, text: string];
}

it("every bundled skill is listed, is readable at its path, and works", async () => {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      agents: {
        list: [
          { id: "coder", model: "anthropic/claude-sonnet-4-6", tools: { allow: ["read", "write", "ls"] } },
        ],
      },
      channels: { plain: { accounts: { main: {} } } },
      access: { dm: "open", owners: ["plain:anna"] },
      // A build puts them beside the program, which runs from its sources here.
      skills: { load: { extraDirs: [BUNDLED] } },
    }),
  );
  world.files({
    "sales.csv": "month,amount\n2026-01,30\n2026-02,40\n",
    "notes.txt": "The boiler is called Bertha.\n",
    "page.html": "<p>A page.</p>\n",
    "invoice.pdf": "%PDF-1.7\n",
  });
  const plain = plainChannel();
  const started = await world.start({ channels: [plain.definition] });
  const requests = () => modelRequests(world.anthropic).map(({ body }) => JSON.stringify(body));

  expect(Object.keys(TRIES)).toEqual(readdirSync(BUNDLED).sort());
  for (const [name, { ask, call, reads, left }] of Object.entries(TRIES)) {
    await plain.emit(plainMessage(`new-${name}`, "/new"));
    await started.settled();
    const before = requests().length;
    world.script((body, index) => {
      const file_path = locationOf(name, JSON.stringify(body));
      if (index === before) return { toolCalls: [{ name: "read", input: { file_path } }] };
      if (index === before + 1) return { toolCalls: [call] };
      return { text: `done by ${name}` };
    });
    await plain.emit(plainMessage(`ask-${name}`, ask));
    await started.settled();

    const [, afterReading = "", afterCall = ""] = requests().slice(before);
    const heading = /^# (.+)$/m.exec(readFileSync(join(BUNDLED, name, "SKILL.md"), "utf8"))?.[1] ?? "none";
    expect(afterReading, name).toContain(`# ${heading}`);
    if (reads !== undefined) expect(afterCall, name).toContain(reads);
    if (left !== undefined) {
      const path = join(world.home.workspace("coder"), left[0]);
      expect(existsSync(path) && readFileSync(path, "utf8"), name).toBe(left[1]);
    }
    expect(said(plain).at(-1)).toBe(`done by ${name}`);
  }
});

/** Where the list in a request says that a skill is. */
function locationOf(name: string, request: string): string {
  const entry = new RegExp(`<name>${name}</name>.*?<location>(.*?)</location>`).exec(request);
  return entry?.[1] ?? "not listed";
}
