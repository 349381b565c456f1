import { isJsonObject } from "@signalbox/agent-core";
import { parseObject, textAt } from "../shared/json.ts";

/** A tool call that a model wrote in its text. */
export interface TextCall {
  readonly name: string;
  readonly argsText: string;
}

/** The format in which a model family writes calls in its text. */
interface CallFormat {
  readonly open: string;
  /** Absent if the calls extend to the end of the text. */
  readonly close?: string;
  /** Returns the calls in the text between the tags, or nothing if the text does not consist of calls. */
  readonly read: (body: string) => readonly TextCall[];
}

/** The formats of chat templates, for servers that do not parse them. */
const FORMATS: readonly CallFormat[] = [
  // Hermes and Qwen write JSON. GLM writes a name with keys and values, and Qwen3-Coder a function with parameters.
  {
    open: "<tool_call>",
    close: "</tool_call>",
    read: (body) => readJson(body) ?? readFunctions(body) ?? readKeys(body) ?? [],
  },
  {
    open: "<function=",
    close: "</function>",
    read: (body) => readFunctions(`<function=${body}</function>`) ?? [],
  },
  { open: "<minimax:tool_call>", close: "</minimax:tool_call>", read: readInvocations },
  { open: "<function_calls>", close: "</function_calls>", read: readInvocations },
  {
    // Kimi K2.
    open: "<|tool_calls_section_begin|>",
    close: "<|tool_calls_section_end|>",
    read: (body) =>
      readAll(
        body,
        /<\|tool_call_begin\|>\s*(?:functions\.)?([\w.-]+)(?::\d+)?\s*<\|tool_call_argument_begin\|>([\s\S]*?)(?:<\|tool_call_end\|>|$)/g,
      ),
  },
  {
    // DeepSeek V3, with or without the type of the call.
    open: "<｜tool▁calls▁begin｜>",
    close: "<｜tool▁calls▁end｜>",
    read: (body) =>
      readAll(
        body,
        /<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?\s*([\w.-]+)(?:<｜tool▁sep｜>|\s+)([\s\S]*?)(?:<｜tool▁call▁end｜>|$)/g,
      ),
  },
  {
    // Mistral.
    open: "[TOOL_CALLS]",
    read: (body) => readJson(body) ?? readAll(body, /^\s*([\w.-]+)\s*(?:\[ARGS\])?\s*(\{[\s\S]*\})\s*$/g),
  },
  // Llama.
  { open: "<|python_tag|>", read: (body) => readJson(body.replace(/<\|eo[mt]_id\|>\s*$/, "")) ?? [] },
];
const OPENINGS = FORMATS.map(({ open }) => open);

/**
 * Finds tool calls at the end of streamed text. They appear there if a server does not parse the model's output. Text
 * passes through immediately, except for a line that may begin a call.
 *
 * Calls are recognized only at the end of the answer and only for tools that were offered, so that a model can write
 * about them.
 */
export class TextCalls {
  readonly #names: ReadonlySet<string>;
  /** Text that may be calls or the beginning of one. */
  #held = "";
  /** True if `#held` is at the beginning of a line, ignoring blanks. */
  #isLineStart = true;

  /** @param names the offered tools */
  constructor(names: Iterable<string>) {
    this.#names = new Set(names);
  }

  /** Returns the text that can be passed on. */
  push(piece: string): string {
    this.#held += piece;
    let passed = "";
    for (;;) {
      const at = this.#findStart();
      passed += this.#take(at);
      if (this.#held === "" || splitCalls(this.#held) !== undefined) return passed;
      // Other text follows, so this was not a call.
      passed += this.#take(Math.max(1, this.#held.indexOf("\n") + 1));
    }
  }

  /**
   * Returns the calls at the end of the text, or the text that was held back.
   *
   * @param complete false if the answer was truncated, in which case it may end in a partial call
   */
  end(complete: boolean): { readonly text: string; readonly calls: readonly TextCall[] } {
    const text = this.#take(this.#held.length);
    const sections = complete ? splitCalls(text) : undefined;
    const read = (sections ?? []).map(({ format, body }) => format.read(body));
    const isWhole =
      read.length > 0 && read.every((calls) => calls.length > 0 && calls.every(this.#isOffered));
    return isWhole ? { text: "", calls: read.flat() } : { text, calls: [] };
  }

  readonly #isOffered = ({ name }: TextCall): boolean => this.#names.has(name);

  /** Returns the first index at which a call may begin, or the length of the text. */
  #findStart(): number {
    for (const { index, 0: blanks } of this.#held.matchAll(/^[ \t]*(?=[<[])/gm)) {
      if (index === 0 && !this.#isLineStart) continue;
      const start = index + blanks.length;
      const line = this.#held.slice(start);
      if (OPENINGS.some((open) => line.startsWith(open) || open.startsWith(line))) return start;
    }
    return this.#held.length;
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    const [line = ""] = taken.split("\n").slice(-1);
    this.#isLineStart = (taken.includes("\n") || this.#isLineStart) && line.trim() === "";
    return taken;
  }
}

interface Section {
  readonly format: CallFormat;
  readonly body: string;
}

/**
 * Splits a text that consists only of calls. Returns `undefined` for other text. The last call may still be incomplete.
 */
function splitCalls(text: string): readonly Section[] | undefined {
  const sections: Section[] = [];
  let rest = text.trimStart();
  while (rest !== "") {
    const format = FORMATS.find(({ open }) => rest.startsWith(open));
    if (format === undefined) return OPENINGS.some((open) => open.startsWith(rest)) ? sections : undefined;
    const { open, close } = format;
    const end = close === undefined ? -1 : rest.indexOf(close, open.length);
    // Some models omit the last closing tag.
    sections.push({ format, body: rest.slice(open.length, end < 0 ? rest.length : end) });
    rest = end < 0 ? "" : rest.slice(end + (close?.length ?? 0)).trimStart();
  }
  return sections;
}

/** Reads one call or a list of calls in JSON. */
function readJson(body: string): readonly TextCall[] | undefined {
  const text = body.trim();
  const list: unknown = text.startsWith("[") ? parseObject(`{"calls":${text}}`)?.calls : [parseObject(text)];
  if (!Array.isArray(list)) return undefined;
  const calls = list.map((item: unknown): TextCall | undefined => {
    if (!isJsonObject(item)) return undefined;
    const call = isJsonObject(item.function) ? item.function : item;
    const name = textAt(call, "name");
    const args = call.arguments ?? call.parameters ?? {};
    if (name === undefined) return undefined;
    if (typeof args === "string") return { name, argsText: args };
    return isJsonObject(args) ? { name, argsText: JSON.stringify(args) } : undefined;
  });
  return calls.length > 0 && calls.every((call) => call !== undefined) ? calls : undefined;
}

/** Reads `<function=name><parameter=key>value</parameter></function>`, the format of Qwen3-Coder. */
function readFunctions(body: string): readonly TextCall[] | undefined {
  const found = [...body.matchAll(/<function=([\w.-]+)>([\s\S]*?)(?:<\/function>|$)/g)];
  const calls = found.map(([, name = "", inner = ""]) => ({
    name,
    argsText: readPairs(inner, /<parameter=([\w.-]+)>\n?([\s\S]*?)\n?(?:<\/parameter>|$)/g),
  }));
  return calls.length > 0 ? calls : undefined;
}

/** Reads `name<arg_key>key</arg_key><arg_value>value</arg_value>`, the format of GLM. */
function readKeys(body: string): readonly TextCall[] | undefined {
  const [, name] = /^\s*([\w.-]+)\s*(?:<arg_key>|$)/.exec(body) ?? [];
  if (name === undefined) return undefined;
  const pairs = /<arg_key>([^<]*)<\/arg_key>\s*<arg_value>([\s\S]*?)(?:<\/arg_value>|$)/g;
  return [{ name, argsText: readPairs(body, pairs) }];
}

/** Reads `<invoke name="…"><parameter name="…">…</parameter></invoke>`. */
function readInvocations(body: string): readonly TextCall[] {
  return [...body.matchAll(/<invoke name="([\w.-]+)">([\s\S]*?)(?:<\/invoke>|$)/g)].map(
    ([, name = "", inner = ""]) => ({
      name,
      argsText: readPairs(inner, /<parameter name="([\w.-]+)"[^>]*>\n?([\s\S]*?)\n?(?:<\/parameter>|$)/g),
    }),
  );
}

/** Reads keys and values. Values are text. The tool's schema determines which of them are numbers or JSON. */
function readPairs(body: string, pairs: RegExp): string {
  const entries = [...body.matchAll(pairs)].map(([, key = "", value = ""]) => [key.trim(), value]);
  return JSON.stringify(Object.fromEntries(entries));
}

/** Reads calls whose arguments are JSON, with or without a code fence. */
function readAll(body: string, calls: RegExp): readonly TextCall[] {
  return [...body.matchAll(calls)].map(([, name = "", args = ""]) => ({
    name,
    argsText: args.replace(/^\s*```(?:json)?\s*|\s*```\s*$/g, "").trim(),
  }));
}
