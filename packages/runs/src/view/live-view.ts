import {
  type AgentEvent,
  type AssistantMessage,
  type ModelErrorData,
  STOP_REASONS,
  type ToolCallBlock,
  type ToolResult,
  textOf,
} from "@signalbox/agent-core";
import type { LiveEvent } from "@signalbox/protocol";
import { turnId } from "./ids.ts";
import { PLAIN, type Reading } from "./reading.ts";

const SHOWN_RESULT_CHARS = 4_000;
const NOTED_ARGS_CHARS = 500;

/** Where a run is shown. */
export interface LiveViewPorts {
  readonly publish: (event: LiveEvent) => void;
  /** The text that was shown last, of a turn that is not finished, is void. */
  readonly retract: () => void;
  /** Called with the steps of the run in words, for a trace. Default: none. */
  readonly note?: (stage: "model" | "tool", text: string, data?: { readonly [name: string]: string }) => void;
  /** The beginning of what a call was given, as it is noted. Default: its first 500 characters. */
  readonly excerpt?: (args: string) => string;
}

export interface LiveViewOptions extends LiveViewPorts {
  readonly runId: string;
  /** Texts of the run's turns before this process took it up. Default: none. */
  readonly earlier?: readonly string[];
  /** Default: every word is for people. */
  readonly reading?: Reading;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Shows a run to its viewers, and keeps the texts that its reply is made of. */
export interface LiveView {
  see(event: AgentEvent): void;
  /** One text a model turn; a turn that went on after the output limit is part of the one before. */
  texts(): readonly string[];
  /** The same without a turn that still goes on. */
  ended(): readonly string[];
  /** What people have seen of the turn that is being written. */
  current(): string;
}

export function createLiveView(options: LiveViewOptions): LiveView {
  const { reading = PLAIN, earlier = [], note = () => {}, excerpt = beginningOf } = options;
  const texts = [...earlier];
  const writing = createLiveText(options, reading, earlier);
  const calls = createLiveCalls(options);
  let wasCut = false;

  const finishTurn = (message: AssistantMessage): void => {
    const before = wasCut ? (texts.pop() ?? "") : "";
    // What a turn that broke off held back may begin a silent token or a directive, and is nothing by itself.
    const rule = STOP_REASONS[message.stopReason];
    const isBroken = rule?.text === "broken";
    const text = isBroken ? writing.current() : before + reading.said(message);
    texts.push(text);
    wasCut = rule?.text === "part";
    if (!wasCut) writing.finish(reading.visible(text));
    // All at once, in the order of the model, so that also those show that are refused before they start.
    for (const block of message.content) if (block.type === "toolCall") calls.start(block);
    const { provider, model, stopReason } = message;
    note("model", `${provider}/${model}: ${stopReason}, ${tokensOf(message)}`);
  };

  return {
    texts: () => texts,
    ended: () => (wasCut ? texts.slice(0, -1) : texts),
    current: writing.current,
    see(event) {
      switch (event.type) {
        case "text.delta":
          return writing.write(event.delta);
        case "thinking.delta":
          return writing.think(event.delta);
        case "model.start":
          return wasCut ? undefined : writing.begin();
        case "model.discard":
          return writing.discard();
        case "message":
          return event.message.role === "assistant" ? finishTurn(event.message) : undefined;
        case "tool.start":
          return calls.start(event.call);
        case "tool.update":
          return calls.update(event);
        case "tool.end":
          calls.end(event);
          return note("tool", `${event.call.name}: ${event.outcome}, ${event.durationMs} ms`, {
            id: event.call.id,
            args: excerpt(event.call.argsText),
          });
        case "attempt":
          return note("model", attemptIn(event));
        case "run.end":
          return event.result.error === undefined ? undefined : note("model", failureIn(event.result.error));
        case "compaction.end":
          return note("model", `the conversation was compacted (${event.source})`);
        default:
          return;
      }
    },
  };
}

/** What viewers are shown of the text that the model writes. */
function createLiveText(
  { publish, retract, runId, now }: LiveViewOptions,
  reading: Reading,
  earlier: readonly string[],
) {
  let turn = reading.stream();
  /** What has been shown of the turn that is being written. */
  let current = "";
  /** Whether this run has shown text before, so that a further turn starts a new paragraph. */
  let shown = false;
  let shownBefore = false;
  let newParagraph = false;
  /** Turns people have seen, so that each has the id under which it is found later. */
  let seen = earlier.filter((text) => reading.visible(text) !== "").length;

  const say = (text: string): void => {
    if (text === "") return;
    current += text;
    const delta = newParagraph ? `\n\n${text}` : text;
    newParagraph = false;
    shown = true;
    publish({ type: "text.delta", runId, delta });
  };
  return {
    current: () => current,
    write: (delta: string): void => say(turn.push(delta)),
    think: (delta: string): void => publish({ type: "thinking.delta", runId, delta }),
    begin(): void {
      turn = reading.stream();
      current = "";
      shownBefore = shown;
      newParagraph = shown;
    },
    discard(): void {
      current = "";
      shown = shownBefore;
      retract();
    },
    finish(visible: string): void {
      say(turn.end(visible));
      current = "";
      if (visible === "") return;
      const id = turnId(runId, seen++);
      publish({ type: "message", message: { id, role: "assistant", text: visible, at: now(), runId } });
    },
  };
}

/** What viewers are shown of tool calls: each begins once, whatever becomes of it. */
function createLiveCalls({ publish, runId }: LiveViewOptions) {
  const begun = new Map<string, { readonly id: string; readonly name: string }>();
  const start = ({ id, name, args, argsText }: ToolCallBlock): void => {
    if (begun.has(id)) return;
    begun.set(id, { id, name });
    publish({ type: "tool.start", runId, call: { id, name, args: args ?? argsText } });
  };
  return {
    start,
    update({ callId, partial }: EventOf<"tool.update">): void {
      const call = begun.get(callId);
      if (call === undefined) return;
      publish({ type: "tool.update", runId, call: { ...call, text: shownText(partial) } });
    },
    end({ call, result, durationMs }: EventOf<"tool.end">): void {
      start(call);
      const { id, name } = call;
      const ended = { id, name, isError: result.isError, text: shownText(result), durationMs };
      publish({ type: "tool.end", runId, call: ended });
    },
  };
}

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

function beginningOf(args: string): string {
  return args.slice(0, NOTED_ARGS_CHARS);
}

function attemptIn({ failure, next }: EventOf<"attempt">): string {
  const { provider, model, code, message } = failure;
  return `${provider}/${model} failed (${code}): ${message}; next: ${next.kind} ${next.provider}/${next.model}`;
}

/** The last attempt, which no other one followed. */
function failureIn({ attempts, code, message }: ModelErrorData): string {
  const last = attempts?.at(-1);
  if (last === undefined) return `the model failed (${code}): ${message}`;
  return `${last.provider}/${last.model} failed (${last.code}): ${last.message}`;
}

function tokensOf({ usage }: AssistantMessage): string {
  if (usage === undefined) return "usage unknown";
  return `${usage.input.total ?? "?"} tokens in, ${usage.output.total ?? "?"} out`;
}

function shownText({ content }: Pick<ToolResult, "content">): string {
  return textOf(content, "\n").slice(0, SHOWN_RESULT_CHARS);
}
