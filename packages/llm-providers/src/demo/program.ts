import {
  type JsonObject,
  type ModelContext,
  type ToolResultMessage,
  type ToolSpec,
  textOf,
} from "@signalbox/agent-core";
import { objectAt } from "../shared/json.ts";
import { ownWords, understand, type Wish } from "./understand.ts";
import words from "./words.json" with { type: "json" };

/** The next move of the demo model: a text, or one tool call. */
export type Move =
  | { readonly kind: "say"; readonly text: string }
  | { readonly kind: "call"; readonly name: string; readonly args: JsonObject };

/** One call of a plan. The arguments have our own names. */
interface Step {
  readonly tool: keyof typeof TOOLS;
  readonly args: JsonObject;
  /** If true, a failed call does not stop the plan. */
  readonly mayFail?: true;
}

/** Common names of tools and of their parameters. The first one that is offered is used. */
const TOOLS = {
  read: ["read", "read_file"],
  ls: ["ls", "list_dir", "list_files"],
  write: ["write", "write_file"],
  exec: ["exec", "bash", "shell"],
  note: ["memory_write"],
} as const;
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  path: ["file_path", "path", "file", "directory", "dir"],
  content: ["content", "text"],
  command: ["command", "cmd"],
};

/** The file of the demo's own notes, and the memory file of a gateway. */
const [OWN_MEMORY, HOST_MEMORY] = ["MEMORY.md", "memory/MEMORY.md"];

/** Returns the next move. Deterministic: the same conversation yields the same move. */
export function nextMove(context: ModelContext): Move {
  const { messages } = context;
  const asked = messages.findLastIndex((message) => message.role === "user");
  const message = messages[asked];
  const said = message?.role === "user" ? ownWords(textOf(message.content, "\n")) : "";
  const results = messages.slice(asked + 1).filter((later) => later.role === "toolResult");
  const language = words[/[\u4e00-\u9fff]/.test(said) ? "zh" : "en"];
  const say = (text: string, values: Readonly<Record<string, string>>): Move => ({
    kind: "say",
    text: `${language.sign}\n\n${text.replaceAll(/\{(\w+)\}/g, (all, name: string) => values[name] ?? all)}`,
  });

  const wish = understand(said);
  const steps = stepsFor(wish, context, results);
  const failed = results.find(({ isError }, at) => isError && steps[at]?.mayFail !== true);
  if (failed !== undefined) return say(language.failed, { tool: failed.toolName, said: wordsOf(failed) });
  const step = steps[results.length];
  if (step !== undefined) return callOf(step, context.tools) ?? say(language.missing, { tool: step.tool });
  return say(language[wish.kind], { ...wish, said: wordsOf(results.at(-1)) });
}

function wordsOf(result: ToolResultMessage | undefined): string {
  return textOf(result?.content ?? "", "\n").trim();
}

function stepsFor(wish: Wish, context: ModelContext, results: readonly ToolResultMessage[]): readonly Step[] {
  const notes = offered("note", context.tools) !== undefined;
  switch (wish.kind) {
    case "list":
      return [{ tool: "ls", args: { path: wish.path } }];
    case "read":
      return [{ tool: "read", args: { path: wish.path } }];
    case "write":
      return [{ tool: "write", args: { path: wish.path, content: wish.content } }];
    case "run":
      return [{ tool: "exec", args: { command: wish.command } }];
    case "recall":
      return [{ tool: "read", args: { path: notes ? HOST_MEMORY : OWN_MEMORY } }];
    case "remember": {
      if (notes) return [{ tool: "note", args: { text: wish.fact, lasting: true } }];
      const before = results[0]?.isError === true ? "# Memory" : wordsOf(results[0]);
      return [
        { tool: "read", args: { path: OWN_MEMORY }, mayFail: true },
        { tool: "write", args: { path: OWN_MEMORY, content: `${before}\n- ${wish.fact}\n` } },
      ];
    }
    case "script": {
      const skill = skillLocation(context, /python/i);
      return [
        ...(skill === undefined ? [] : [{ tool: "read" as const, args: { path: skill } }]),
        { tool: "ls", args: { path: "." } },
        { tool: "write", args: { path: wish.path, content: words.script.join("\n") } },
      ];
    }
    case "help":
      return [];
  }
}

/** Returns the first offered tool that has one of the common names. */
function offered(wanted: Step["tool"], tools: readonly ToolSpec[]): ToolSpec | undefined {
  return tools.find(({ name }) => TOOLS[wanted].some((usual) => usual === name));
}

/**
 * Returns a call of the first offered tool. Each argument gets the first of its property names that the schema
 * contains.
 */
function callOf({ tool: wanted, args }: Step, tools: readonly ToolSpec[]): Move | undefined {
  const tool = offered(wanted, tools);
  if (tool === undefined) return undefined;
  const known = objectAt(tool.inputSchema, "properties");
  const given = Object.entries(args).map(([name, value]) => {
    return [PARAMETERS[name]?.find((parameter) => Object.hasOwn(known, parameter)) ?? name, value];
  });
  return { kind: "call", name: tool.name, args: Object.fromEntries(given) };
}

/** Returns the location of a skill, from the catalogue in the system prompt. */
function skillLocation({ system }: ModelContext, name: RegExp): string | undefined {
  for (const [entry] of `${system.stable}\n${system.volatile ?? ""}`.matchAll(/<skill>[\s\S]*?<\/skill>/g)) {
    const said = /<name>\s*([\s\S]*?)\s*<\/name>/.exec(entry)?.[1] ?? "";
    const location = /<location>\s*([\s\S]*?)\s*<\/location>/.exec(entry)?.[1];
    if (name.test(said) && location !== undefined) return location;
  }
  return undefined;
}
