import type { ServerFrame } from "@signalbox/client";
import { visible } from "@signalbox/telemetry";
import { short } from "../table.ts";

const ARGUMENTS_CHARS = 80;
const ERROR_CHARS = 200;

/** Prints a run's frames: text as it arrives, and one line at the start and end of each tool call. */
export function createScreen(write: (text: string) => void): (frame: ServerFrame) => void {
  /** True if the text was streamed. It is then not printed again at the end. */
  let isStreamed = false;
  let isAtLineStart = true;

  const put = (text: string): void => {
    write(visible(text));
    if (text !== "") isAtLineStart = text.endsWith("\n");
  };
  const line = (text: string): void => put(`${isAtLineStart ? "" : "\n"}${text}\n`);

  return (frame) => {
    switch (frame.type) {
      case "text.delta":
        isStreamed = true;
        return put(frame.delta);
      case "message":
        if (frame.message.role !== "assistant") return;
        if (!isStreamed) line(frame.message.text);
        isStreamed = false;
        return;
      case "tool.start":
        return line(`▸ ${frame.call.name} ${short(JSON.stringify(frame.call.args ?? {}), ARGUMENTS_CHARS)}`);
      case "tool.end": {
        const { name, isError, text, durationMs } = frame.call;
        const seconds = (durationMs / 1_000).toFixed(1);
        return line(isError ? `✗ ${name}: ${short(text, ERROR_CHARS)}` : `✓ ${name}, ${seconds} s`);
      }
      case "error":
        return line(`${frame.message}${frame.remedy ? ` ${frame.remedy}` : ""}`);
      default:
        return;
    }
  };
}
