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
    read: (body) => readJson(body) ?? readAll(body, /([\w.-]+)\s*(?:\[ARGS\]\s*)?(\{[\s\S]*\})\s*$/g),
  },
  // Llama.
  { open: "<|python_tag|>", read: (body) => readJson(body.replace(/<\|eo[mt]_id\|>\s*$/, "")) ?? [] },
];
const OPENINGS = FORMATS.map(({ open }) => open);

/** Maximum length of the remembered beginning of a line, in UTF-16 code units. Enough to recognize a code fence. */
const MAX_LINE_START_CHARS = 64;
/** The first or last line of a code fence. */
const FENCE = /^\s*(?:```|~~~)/;

/**
 * Finds tool calls at the end of streamed text. They appear there if a server does not parse the model's output. Text
 * passes through immediately, except for a line that may begin a call.
 *
 * Calls are recognized only at the end of the answer, outside code fences, and only for tools that were offered, so
 * that a model can quote them. A missing closing tag of the last section is accepted, but not other text inside a
 * section.
 */
export class TextCalls {
  readonly #names: ReadonlySet<string>;
  /** Text that may be calls or the beginning of one. */
  #held = "";
  /** The beginning of the line before `#held`. */
  #line = "";
  /** True if the text before `#held` ends inside a code fence. */
  #isFenced = false;

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
    const text = this.#line + this.#held;
    let isFenced = this.#isFenced;
    for (let at = 0; ; ) {
      const end = text.indexOf("\n", at);
      const line = text.slice(at, end < 0 ? text.length : end);
      const start = line.trimStart();
      const index = at + line.length - start.length - this.#line.length;
      if (index >= 0 && !isFenced && mayBeginCall(start, end < 0)) return index;
      if (end < 0) return this.#held.length;
      if (FENCE.test(line)) isFenced = !isFenced;
      at = end + 1;
    }
  }

  #take(length: number): string {
    const taken = this.#held.slice(0, length);
    const lines = (this.#line + taken).split("\n");
    this.#line = lines.pop()?.slice(0, MAX_LINE_START_CHARS) ?? "";
    if (lines.filter((line) => FENCE.test(line)).length % 2 === 1) this.#isFenced = !this.#isFenced;
    this.#held = this.#held.slice(length);
    return taken;
  }
}

function mayBeginCall(line: string, isIncomplete: boolean): boolean {
  return OPENINGS.some(
    (open) => line.startsWith(open) || (isIncomplete && line !== "" && open.startsWith(line)),
  );
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
  const found = matchWhole(body, /<function=([\w.-]+)>([\s\S]*?)(?:<\/function>|$)/g);
  return readTagged(found, /<parameter=([\w.-]+)>\n?([\s\S]*?)\n?<\/parameter>/g);
}

/** Reads `name<arg_key>key</arg_key><arg_value>value</arg_value>`, the format of GLM. */
function readKeys(body: string): readonly TextCall[] | undefined {
  const found = matchWhole(body, /([\w.-]+)\s*((?:<arg_key>[\s\S]*)?)$/g);
  return readTagged(found, /<arg_key>([^<]*)<\/arg_key>\s*<arg_value>([\s\S]*?)<\/arg_value>/g);
}

/** Reads `<invoke name="…"><parameter name="…">…</parameter></invoke>`. */
function readInvocations(body: string): readonly TextCall[] {
  const found = matchWhole(body, /<invoke name="([\w.-]+)">([\s\S]*?)(?:<\/invoke>|$)/g);
  return readTagged(found, /<parameter name="([\w.-]+)"[^>]*>\n?([\s\S]*?)\n?<\/parameter>/g) ?? [];
}

/**
 * Reads calls whose arguments are tagged keys and values. Values are text. The tool's schema determines which of them
 * are numbers or JSON.
 */
function readTagged(
  found: readonly RegExpMatchArray[] | undefined,
  pairs: RegExp,
): readonly TextCall[] | undefined {
  const calls: TextCall[] = [];
  for (const [, name = "", inner = ""] of found ?? []) {
    const entries = matchWhole(inner, pairs);
    if (entries === undefined) return undefined;
    const args = Object.fromEntries(entries.map(([, key = "", value = ""]) => [key.trim(), value]));
    calls.push({ name, argsText: JSON.stringify(args) });
  }
  return calls.length > 0 ? calls : undefined;
}

/**
 * Reads calls whose arguments are JSON, with or without a code fence. Without an end tag, the JSON must be complete.
 */
function readAll(body: string, calls: RegExp): readonly TextCall[] {
  const found = (matchWhole(body, calls) ?? []).map(([whole, name = "", args = ""]) => ({
    name,
    argsText: args
      .trim()
      .replace(/^```(?:json)?|```$/g, "")
      .trim(),
    hasEnd: !whole.endsWith(args),
  }));
  return found.every(({ argsText, hasEnd }) => hasEnd || parseObject(argsText) !== undefined)
    ? found.map(({ name, argsText }) => ({ name, argsText }))
    : [];
}

/** Returns the matches if they cover the whole text apart from white space. */
function matchWhole(text: string, pattern: RegExp): readonly RegExpMatchArray[] | undefined {
  // Sticky, because a search for a later match could read the rest of the text for each opening tag.
  const sticky = new RegExp(pattern.source, "y");
  const matches: RegExpMatchArray[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, sticky.lastIndex)) {
    sticky.lastIndex = at;
    const match = sticky.exec(text);
    if (match === null) return undefined;
    matches.push(match);
  }
  return matches;
}

function skipSpace(text: string, at: number): number {
  const rest = text.slice(at);
  return text.length - rest.trimStart().length;
}
