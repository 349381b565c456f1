import type { ServerFrame } from "@signalbox/client";
import { visible } from "@signalbox/telemetry";
import { short } from "../table.ts";
import { createMarkdownStyler } from "./markdown.ts";

const ARGUMENTS_CHARS = 80;
const ERROR_CHARS = 200;

/**
 * Prints a run's frames: text as it arrives, and one line at the start and end of each tool call.
 *
 * @param isColored true to show Markdown in colors
 */
export function createScreen(write: (text: string) => void, isColored = false): (frame: ServerFrame) => void {
  /** True if the text was streamed. It is then not printed again at the end. */
  let isStreamed = false;
  let isAtLineStart = true;

  const styler = isColored ? createMarkdownStyler() : undefined;

  const put = (text: string): void => {
    write(visible(text));
    if (text !== "") isAtLineStart = text.endsWith("\n");
  };
  const line = (text: string): void => put(`${isAtLineStart ? "" : "\n"}${text}\n`);
  /** Prints text of the model. Its control characters are shown before styles are added. */
  const putMarkdown = (text: string): void => {
    if (styler === undefined) {
      put(text);
      return;
    }
    write(styler.style(visible(text)));
    if (text !== "") isAtLineStart = text.endsWith("\n");
  };
  const endMarkdown = (): void => {
    if (styler !== undefined) write(styler.end());
  };

  return (frame) => {
    switch (frame.type) {
      case "text.delta":
        isStreamed = true;
        return putMarkdown(frame.delta);
      case "message":
        if (frame.message.role !== "assistant") return;
        if (!isStreamed) putMarkdown(`${isAtLineStart ? "" : "\n"}${frame.message.text}\n`);
        endMarkdown();
        isStreamed = false;
        return;
      case "tool.start":
        endMarkdown();
        return line(`▸ ${frame.call.name} ${short(JSON.stringify(frame.call.args ?? {}), ARGUMENTS_CHARS)}`);
      case "tool.end": {
        const { name, isError, text, durationMs } = frame.call;
        const seconds = (durationMs / 1_000).toFixed(1);
        return line(isError ? `✗ ${name}: ${short(text, ERROR_CHARS)}` : `✓ ${name}, ${seconds} s`);
      }
      case "error":
        endMarkdown();
        return line(`${frame.message}${frame.remedy ? ` ${frame.remedy}` : ""}`);
      default:
        return;
    }
  };
}
