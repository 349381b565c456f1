import type { AgentEvent, AssistantMessage, ToolCallBlock, ToolResult } from "@signalbox/agent-core";
import { composeReply, createVisibleText, readTurn, saidIn } from "@signalbox/prompt";
import type { LiveHub } from "@signalbox/server";
import type { InboxId } from "@signalbox/store";
import type { Tracer } from "../../traces.ts";
import { turnId } from "../live-events.ts";

const SHOWN_RESULT_CHARS = 4_000;
const NOTED_ARGS_CHARS = 500;

export interface ViewerOptions {
  readonly live: Pick<LiveHub, "publish" | "retract">;
  readonly tracer: Tracer;
  readonly sessionKey: string;
  readonly runId: string;
  /** The message whose trace tells of this run. */
  readonly traced: InboxId;
  /** Texts of the run's turns before this process took it up. */
  readonly earlier: readonly string[];
  readonly now: () => number;
}

/** Shows a run to whoever watches, notes its steps, and keeps the texts its reply is made of. */
export interface Viewer {
  see(event: AgentEvent): void;
  /** One text a model turn; a turn that went on after the output limit is part of the one before. */
  texts(): readonly string[];
  /**
   * What people may see of the answer by now; `alreadySent` are texts that the message tool has delivered. `carries`:
   * attachments go out with it, so that it does not name them.
   */
  visible(alreadySent: readonly string[], carries?: boolean): string;
}

export function createViewer(options: ViewerOptions): Viewer {
  const { tracer, traced } = options;
  const texts = [...options.earlier];
  const writing = createLiveText(options);
  const calls = createLiveCalls(options);
  let wasCut = false;

  const finishTurn = (message: AssistantMessage): void => {
    const before = wasCut ? (texts.pop() ?? "") : "";
    // What a turn that broke off held back may begin a silent token or a directive, and is nothing by itself.
    const isBroken = message.stopReason === "aborted" || message.stopReason === "error";
    const text = isBroken ? writing.current() : before + saidIn(message);
    texts.push(text);
    wasCut = message.stopReason === "max_tokens";
    if (!wasCut) writing.finish(readTurn(text).visible);
    // All at once, in the order of the model, so that also those show that are refused before they start.
    for (const block of message.content) if (block.type === "toolCall") calls.start(block);
    const { provider, model, stopReason } = message;
    tracer.note(traced, "model", `${provider}/${model}: ${stopReason}, ${tokensOf(message)}`);
  };

  return {
    texts: () => texts,
    visible(alreadySent, carries = false) {
      const ended = wasCut ? texts.slice(0, -1) : texts;
      const { text } = composeReply(ended, "complete", alreadySent, carries);
      // It may be about to say again what the tool has said already.
      const current = writing.current();
      const repeats = alreadySent.some((sent) => sent.startsWith(current.trim()));
      return [text, repeats ? "" : current].filter((part) => part !== "").join("\n\n");
    },
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
          return noteCall(options, event);
        case "attempt":
          return noteAttempt(options, event);
        case "compaction.end":
          return tracer.note(traced, "model", `the conversation was compacted (${event.source})`);
        default:
          return;
      }
    },
  };
}

/** What viewers are shown of the text that the model writes. */
function createLiveText({ live, sessionKey, runId, earlier, now }: ViewerOptions) {
  let turn = createVisibleText();
  /** What has been shown of the turn that is being written. */
  let current = "";
  /** Whether this run has shown text before, so that a further turn starts a new paragraph. */
  let shown = false;
  let shownBefore = false;
  let newParagraph = false;
  /** Turns people have seen, so that each has the id under which it is found later. */
  let seen = earlier.filter((text) => readTurn(text).visible !== "").length;

  const say = (text: string): void => {
    if (text === "") return;
    current += text;
    const delta = newParagraph ? `\n\n${text}` : text;
    newParagraph = false;
    shown = true;
    live.publish(sessionKey, { type: "text.delta", runId, delta });
  };
  return {
    current: () => current,
    write: (delta: string): void => say(turn.push(delta)),
    think: (delta: string): void => live.publish(sessionKey, { type: "thinking.delta", runId, delta }),
    begin(): void {
      turn = createVisibleText();
      current = "";
      shownBefore = shown;
      newParagraph = shown;
    },
    discard(): void {
      current = "";
      shown = shownBefore;
      live.retract(sessionKey);
    },
    finish(visible: string): void {
      say(turn.end(visible));
      current = "";
      if (visible === "") return;
      const message = {
        id: turnId(runId, seen++),
        role: "assistant",
        text: visible,
        at: now(),
        runId,
      } as const;
      live.publish(sessionKey, { type: "message", message });
    },
  };
}

/** What viewers are shown of tool calls: each begins once, whatever becomes of it. */
function createLiveCalls({ live, sessionKey, runId }: ViewerOptions) {
  const known = new Map<string, { readonly id: string; readonly name: string }>();
  const start = ({ id, name, args, argsText }: ToolCallBlock): void => {
    if (known.has(id)) return;
    known.set(id, { id, name });
    live.publish(sessionKey, { type: "tool.start", runId, call: { id, name, args: args ?? argsText } });
  };
  return {
    start,
    update({ callId, partial }: EventOf<"tool.update">): void {
      const call = known.get(callId);
      if (call === undefined) return;
      const text = textOf(partial).slice(0, SHOWN_RESULT_CHARS);
      live.publish(sessionKey, { type: "tool.update", runId, call: { ...call, text } });
    },
    end({ call, result, durationMs }: EventOf<"tool.end">): void {
      start(call);
      const { id, name } = call;
      const text = textOf(result).slice(0, SHOWN_RESULT_CHARS);
      const ended = { id, name, isError: result.isError, text, durationMs };
      live.publish(sessionKey, { type: "tool.end", runId, call: ended });
    },
  };
}

type EventOf<Type extends AgentEvent["type"]> = Extract<AgentEvent, { readonly type: Type }>;

function noteCall(
  { tracer, traced }: ViewerOptions,
  { call, outcome, durationMs }: EventOf<"tool.end">,
): void {
  const args = call.argsText.slice(0, NOTED_ARGS_CHARS);
  tracer.note(traced, "tool", `${call.name}: ${outcome}, ${durationMs} ms`, { id: call.id, args });
}

function noteAttempt({ tracer, traced }: ViewerOptions, { failure, next }: EventOf<"attempt">): void {
  const { provider, model, code, message } = failure;
  const then = `next: ${next.kind} ${next.provider}/${next.model}`;
  tracer.note(traced, "model", `${provider}/${model} failed (${code}): ${message}; ${then}`);
}

function tokensOf({ usage }: AssistantMessage): string {
  if (usage === undefined) return "usage unknown";
  return `${usage.input.total ?? "?"} tokens in, ${usage.output.total ?? "?"} out`;
}

function textOf({ content }: Pick<ToolResult, "content">): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
