import type { AgentEvent, ToolCallBlock, ToolResult } from "@signalbox/agent-core";
import { composeReply, createVisibleText, readTurn, saidIn } from "@signalbox/prompt";
import type { LiveHub } from "@signalbox/server";
import type { InboxId } from "@signalbox/store";
import type { Tracer } from "../../traces.ts";
import { turnId } from "../live-events.ts";

const SHOWN_RESULT_CHARS = 4_000;

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
  const { live, tracer, sessionKey, runId, traced } = options;
  const texts = [...options.earlier];
  let turn = createVisibleText();
  /** What has been shown of the turn that is being written. */
  let current = "";
  /** Whether this run has shown text before, so that a further turn starts a new paragraph. */
  let shown = false;
  let shownBefore = false;
  let newParagraph = false;
  let wasCut = false;
  /** Turns people have seen, so that each has the id under which it is found later. */
  let seen = texts.filter((text) => readTurn(text).visible !== "").length;

  /** Those that viewers know of, by id. */
  const calls = new Map<string, { readonly id: string; readonly name: string }>();

  const say = (text: string): void => {
    if (text === "") return;
    current += text;
    const delta = newParagraph ? `\n\n${text}` : text;
    newParagraph = false;
    shown = true;
    live.publish(sessionKey, { type: "text.delta", runId, delta });
  };

  const finishTurn = (visible: string): void => {
    say(turn.end(visible));
    if (visible === "") return;
    live.publish(sessionKey, {
      type: "message",
      message: { id: turnId(runId, seen++), role: "assistant", text: visible, at: options.now(), runId },
    });
  };

  const startCall = ({ id, name, args, argsText }: ToolCallBlock): void => {
    if (calls.has(id)) return;
    calls.set(id, { id, name });
    live.publish(sessionKey, { type: "tool.start", runId, call: { id, name, args: args ?? argsText } });
  };

  return {
    texts: () => texts,
    visible(alreadySent, carries = false) {
      const ended = wasCut ? texts.slice(0, -1) : texts;
      const { text } = composeReply(ended, "complete", alreadySent, carries);
      // It may be about to say again what the tool has said already.
      const repeats = alreadySent.some((sent) => sent.startsWith(current.trim()));
      return [text, repeats ? "" : current].filter((one) => one !== "").join("\n\n");
    },
    see(event) {
      switch (event.type) {
        case "text.delta":
          return say(turn.push(event.delta));
        case "thinking.delta":
          return live.publish(sessionKey, { type: "thinking.delta", runId, delta: event.delta });
        case "model.start":
          if (wasCut) return;
          turn = createVisibleText();
          current = "";
          shownBefore = shown;
          newParagraph = shown;
          return;
        case "model.discard":
          current = "";
          shown = shownBefore;
          live.retract(sessionKey);
          return;
        case "attempt": {
          const { failure, next } = event;
          const from = `${failure.provider}/${failure.model} failed (${failure.code}): ${failure.message}`;
          return tracer.note(traced, "model", `${from}; next: ${next.kind} ${next.provider}/${next.model}`);
        }
        case "message": {
          const { message } = event;
          if (message.role !== "assistant") return;
          const before = wasCut ? (texts.pop() ?? "") : "";
          // What a turn that broke off held back may begin a silent token or a directive, and is nothing by itself.
          const broken = message.stopReason === "aborted" || message.stopReason === "error";
          const text = broken ? current : before + saidIn(message);
          texts.push(text);
          wasCut = message.stopReason === "max_tokens";
          if (!wasCut) {
            finishTurn(readTurn(text).visible);
            current = "";
          }
          // All at once, in the order of the model, so that also those show that are refused before they start.
          for (const block of message.content) if (block.type === "toolCall") startCall(block);
          const tokens = message.usage
            ? `${message.usage.input.total ?? "?"} tokens in, ${message.usage.output.total ?? "?"} out`
            : "usage unknown";
          return tracer.note(
            traced,
            "model",
            `${message.provider}/${message.model}: ${message.stopReason}, ${tokens}`,
          );
        }
        case "tool.start":
          return startCall(event.call);
        case "tool.update": {
          const call = calls.get(event.callId);
          if (call === undefined) return;
          const text = textOf(event.partial).slice(0, SHOWN_RESULT_CHARS);
          return live.publish(sessionKey, { type: "tool.update", runId, call: { ...call, text } });
        }
        case "tool.end": {
          const { call, result, outcome, durationMs } = event;
          startCall(call);
          const text = textOf(result);
          tracer.note(traced, "tool", `${call.name}: ${outcome}, ${durationMs} ms`, {
            id: call.id,
            args: call.argsText.slice(0, 500),
          });
          return live.publish(sessionKey, {
            type: "tool.end",
            runId,
            call: {
              id: call.id,
              name: call.name,
              isError: result.isError,
              text: text.slice(0, SHOWN_RESULT_CHARS),
              durationMs,
            },
          });
        }
        case "compaction.end":
          return tracer.note(traced, "model", `the conversation was compacted (${event.source})`);
        default:
          return;
      }
    },
  };
}

function textOf({ content }: Pick<ToolResult, "content">): string {
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
}
