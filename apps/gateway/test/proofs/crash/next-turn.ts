import { SILENT_TOKEN } from "@signalbox/prompt";
import type { ScriptedToolCall, ScriptedTurn } from "@signalbox/testkit";
import {
  comesBackText,
  effectOf,
  furtherParts,
  heardEffectOf,
  heardText,
  type Kind,
  nameOf,
  REFUSED,
  readText,
  sideText,
  type Tag,
} from "./conversation.ts";
import { seeded } from "./random.ts";
import { asksForSummary, readConversation } from "./seen.ts";

const NAMES_IN_LINE = 10;
/** How many turns were asked for: calls have new ids each time, as a vendor's have, also where a turn is repeated. */
let turns = 0;

/** What the model does next. Its wait depends on the conversation only, so that a run asked again is the same run. */
export function nextTurn(request: unknown): ScriptedTurn {
  turns++;
  if (asksForSummary(request)) return { text: "Notes of all that was said.", delayMs: 20 };
  const { open, owed, edited, calls, skipped, commands, unknown, said } = readConversation(request);
  const last = said.at(-1);
  const random = seeded((last?.session ?? 0) * 7919 + (last?.number ?? 0) * 31 + calls.size);
  const pace = { delayMs: random.int(0, 30), deltaMs: random.int(0, 8), chunks: random.int(1, 6) };
  for (const tag of open) {
    const name = nameOf(tag);
    const made = calls.get(name) ?? 0;
    const call = callOf(tag, made - (skipped.get(name) ?? 0), commands.get(name));
    const text = tag.kind === "retract" ? sideText(name) : `on ${tag.session}`;
    if (call !== undefined) return { ...pace, text, toolCalls: [call] };
  }
  for (const { kind, name } of owed)
    if (kind === "task" && !calls.has(name)) return { ...pace, toolCalls: [taskCall(name)] };
  const [only] = open;
  const corrections = edited.map(readText);
  if (open.length + corrections.length + owed.length === 1 && only !== undefined) {
    if (only.kind === "silent") return { ...pace, text: SILENT_TOKEN };
    if (only.kind === "echo" && !unknown.has(nameOf(only))) return { ...pace, text: sideText(nameOf(only)) };
  }
  const lines = [
    ...inLines(open.map(nameOf)).map((names) => `done ${names.join(" ")}`),
    ...corrections,
    ...owed.map(({ kind, name }) => heardText(kind, name)),
    ...(open.some(({ kind }) => kind === "refused") ? [REFUSED] : []),
    ...open.flatMap((tag) => (tag.kind === "long" ? furtherParts(nameOf(tag)).map(({ text }) => text) : [])),
  ];
  // All that may be left is what the tool has said.
  return { ...pace, text: lines.length === 0 ? SILENT_TOKEN : lines.join("\n\n") };
}

/** So many at once that no line is longer than a message of a relay. */
function inLines(names: readonly string[]): readonly (readonly string[])[] {
  return Array.from({ length: Math.ceil(names.length / NAMES_IN_LINE) }, (_, line) =>
    names.slice(line * NAMES_IN_LINE, (line + 1) * NAMES_IN_LINE),
  );
}

/** What a sub-agent does. */
function taskCall(name: string): ScriptedToolCall {
  const command = `echo ${effectOf("delegate", name)} >> effects.log`;
  return { id: `task_${name.replace(".", "_")}_${turns}`, name: "exec", input: { command } };
}

/** In the text of each command in the background of these worlds: what is still there is found by it. */
export const BACKGROUND_MARK = `background-of-${process.pid}`;

/** So long a command waits for its word: longer than anybody looks for what a process has left behind. */
const WORD_S = 30;

/** Waits for a word, which not every message gives it. */
function backgroundCommand(name: string): string {
  return [
    `: ${BACKGROUND_MARK}`,
    `echo ${effectOf("background", name)} >> effects.log`,
    `word=$(timeout ${WORD_S} head -n 1)`,
    `test "$word" = go && echo ${heardEffectOf(name)} >> effects.log`,
  ].join("; ");
}

/**
 * The `step`-th call that a message wants.
 *
 * @param command what it has started in the background; where that is not known, there is nothing more to do
 */
function callOf(tag: Tag, step: number, command?: string): ScriptedToolCall | undefined {
  const name = nameOf(tag);
  const id = `call_s${tag.session}_${tag.number}_${turns}`;
  const note = { file_path: `notes/${name}.txt`, content: `${name}\n` };
  const steps: Readonly<Partial<Record<Kind, readonly ScriptedToolCall[]>>> = {
    write: [{ id, name: "write", input: note }],
    send: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    echo: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    retract: [{ id, name: "message", input: { action: "send", message: sideText(name) } }],
    exec: [{ id, name: "exec", input: { command: `echo ${name} >> effects.log` } }],
    schedule: [{ id, name: "cron", input: { action: "add", text: comesBackText("wake", name), in: "1s" } }],
    delegate: [
      {
        id,
        name: "sessions_spawn",
        input: { task: comesBackText("task", name), label: "work", tools: ["exec"] },
      },
    ],
    background: [
      { id, name: "exec", input: { command: backgroundCommand(name), background: true } },
      ...(command === undefined ? [] : [{ id, name: "process", input: wordOf(tag, command) }]),
    ],
    enter: [{ id, name: "mcp__ledger__enter", input: { line: effectOf("enter", name) } }],
    steps: [
      { id, name: "write", input: note },
      { id, name: "read", input: { file_path: note.file_path } },
      { id, name: "exec", input: { command: `echo ${name} >> effects.log` } },
      { id, name: "message", input: { action: "send", message: sideText(name) } },
    ],
  };
  return steps[tag.kind]?.[step];
}

function wordOf({ number }: Tag, id: string): ScriptedToolCall["input"] {
  return number % 2 === 0 ? { action: "kill", id } : { action: "write", id, input: "go\n", wait_seconds: 5 };
}
