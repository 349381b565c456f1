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
import { getTurnId } from "./ids.ts";
import { NO_FILTER, type TextFilter } from "./text-filter.ts";

const MAX_RESULT_CHARS = 4_000;
const MAX_ARGS_CHARS = 500;

/** Receives the output for viewers of a run. */
interface LiveViewOutput {
  readonly publish: (event: LiveEvent) => void;
  /** Called if the text shown for the current turn is no longer valid. */
  readonly retract: () => void;
  /** Called with trace entries about the run. Default: none. */
  readonly note?: (stage: "model" | "tool", text: string, data?: { readonly [name: string]: string }) => void;
  /** Shortens the arguments of a call for the trace. Default: the first 500 characters. */
  readonly shortenArgs?: (args: string) => string;
}

export interface LiveViewOptions extends LiveViewOutput {
  readonly runId: string;
  /** Texts of the run's turns in earlier processes. Default: none. */
  readonly earlier?: readonly string[];
  /** Default: people see all text. */
  readonly filter?: TextFilter;
  /** Returns the time in milliseconds since the epoch. */
  readonly now: () => number;
}

/** Converts the events of a run to live events, and collects the texts of its reply. */
export interface LiveView {
  apply(event: AgentEvent): void;
  /** Returns one text per model turn. A turn that continues a truncated one is appended to its text. */
  texts(): readonly string[];
  /** Returns the same texts, except for a turn that is still being continued. */
  completedTexts(): readonly string[];
  /** Returns the text of the current turn that people have seen. */
  currentText(): string;
}

export function createLiveView(options: LiveViewOptions): LiveView {
  const { filter = NO_FILTER, earlier = [], note = () => {}, shortenArgs = takeStart } = options;
  const texts = [...earlier];
  const writing = createLiveText(options, filter, earlier);
  const calls = createLiveCalls(options);
  /** Indexes of the current turn's blocks that were shown as text. */
  const textBlocks = new Set<number>();
  let isTruncated = false;

  const finishTurn = (message: AssistantMessage): void => {
    const before = isTruncated ? (texts.pop() ?? "") : "";
    // The end of an interrupted turn may be an incomplete directive, so only the text that was certain is used.
    const rule = STOP_REASONS[message.stopReason];
    const isBroken = rule?.text === "broken";
    const text = isBroken ? writing.current() : before + filter.getText(message);
    texts.push(text);
    isTruncated = rule?.text === "part";
    if (!isTruncated) writing.finish(filter.getVisible(text));
    // Show all calls in the model's order, including those that are refused before they start.
    for (const block of message.content) if (block.type === "toolCall") calls.start(block);
    const { provider, model, stopReason } = message;
    note("model", `${provider}/${model}: ${stopReason}, ${describeUsage(message)}`);
  };

  return {
    texts: () => texts,
    completedTexts: () => (isTruncated ? texts.slice(0, -1) : texts),
    currentText: writing.current,
    apply(event) {
      switch (event.type) {
        case "text.delta":
          textBlocks.add(event.index);
          return writing.write(event.delta);
        case "block.end":
          // Some models stream their reasoning as text and mark it as reasoning only at the end of the block.
          return event.block.type === "thinking" && textBlocks.delete(event.index)
            ? writing.retract()
            : undefined;
        case "thinking.delta":
          return writing.think(event.delta);
        case "model.start":
          textBlocks.clear();
          return isTruncated ? undefined : writing.begin();
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
            args: shortenArgs(event.call.argsText),
          });
        case "attempt":
          return note("model", describeAttempt(event));
        case "run.end":
          return event.result.error === undefined
            ? undefined
            : note("model", describeFailure(event.result.error));
        case "compaction.end":
          return note("model", `the conversation was compacted (${event.source})`);
        default:
          return;
      }
    },
  };
}

/** Shows the model's text while it is being written. */
function createLiveText(
  { publish, retract, runId, now }: LiveViewOptions,
  filter: TextFilter,
  earlier: readonly string[],
) {
  let turn = filter.stream();
  /** Text of the current turn that was shown. */
  let current = "";
  /** True if text was shown before, so that the next turn starts a new paragraph. */
  let hasShown = false;
  let hadShown = false;
  let newParagraph = false;
  /** Number of visible turns, for their ids. */
  let visibleTurns = earlier.filter((text) => filter.getVisible(text) !== "").length;

  const show = (text: string): void => {
    if (text === "") return;
    current += text;
    const delta = newParagraph ? `\n\n${text}` : text;
    newParagraph = false;
    hasShown = true;
    publish({ type: "text.delta", runId, delta });
  };
  return {
    current: () => current,
    write: (delta: string): void => show(turn.push(delta)),
    think: (delta: string): void => publish({ type: "thinking.delta", runId, delta }),
    begin(): void {
      turn = filter.stream();
      current = "";
      hadShown = hasShown;
      newParagraph = hasShown;
    },
    /** Retracts the text of the current turn. Later text starts a new paragraph, for clients that keep the text. */
    retract(): void {
      turn = filter.stream();
      newParagraph = current !== "" || newParagraph;
      current = "";
      retract();
    },
    discard(): void {
      current = "";
      hasShown = hadShown;
      retract();
    },
    finish(visible: string): void {
      show(turn.end(visible));
      current = "";
      if (visible === "") return;
      const id = getTurnId(runId, visibleTurns++);
      publish({ type: "message", message: { id, role: "assistant", text: visible, at: now(), runId } });
    },
  };
}

/** Shows tool calls. Each call is shown as started once, regardless of its outcome. */
function createLiveCalls({ publish, runId }: LiveViewOptions) {
  const started = new Map<string, { readonly id: string; readonly name: string }>();
  const start = ({ id, name, args, argsText }: ToolCallBlock): void => {
    if (started.has(id)) return;
    started.set(id, { id, name });
    publish({ type: "tool.start", runId, call: { id, name, args: args ?? argsText } });
  };
  return {
    start,
    update({ callId, partial }: EventWith<"tool.update">): void {
      const call = started.get(callId);
      if (call === undefined) return;
      publish({ type: "tool.update", runId, call: { ...call, text: shortenResult(partial) } });
    },
    end({ call, result, durationMs }: EventWith<"tool.end">): void {
      start(call);
      const { id, name } = call;
      const ended = { id, name, isError: result.isError, text: shortenResult(result), durationMs };
      publish({ type: "tool.end", runId, call: ended });
    },
  };
}

type EventWith<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

function takeStart(args: string): string {
  return args.slice(0, MAX_ARGS_CHARS);
}

function describeAttempt({ failure, next }: EventWith<"attempt">): string {
  const { provider, model, code, message } = failure;
  return `${provider}/${model} failed (${code}): ${message}; next: ${next.kind} ${next.provider}/${next.model}`;
}

/** Describes the last attempt, which was not retried. */
function describeFailure({ attempts, code, message }: ModelErrorData): string {
  const last = attempts?.at(-1);
  if (last === undefined) return `the model failed (${code}): ${message}`;
  return `${last.provider}/${last.model} failed (${last.code}): ${last.message}`;
}

function describeUsage({ usage }: AssistantMessage): string {
  if (usage === undefined) return "usage unknown";
  return `${usage.input.total ?? "?"} tokens in, ${usage.output.total ?? "?"} out`;
}

function shortenResult({ content }: Pick<ToolResult, "content">): string {
  return textOf(content, "\n").slice(0, MAX_RESULT_CHARS);
}
