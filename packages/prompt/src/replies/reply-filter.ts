import type { AssistantMessage } from "@signalbox/agent-core";
import { readTurn, saidIn } from "./compose.ts";
import { createVisibleText, type VisibleText } from "./visible-text.ts";

/** Extracts the visible text of replies: directives and silent tokens are hidden. */
export const REPLY_FILTER: {
  getText(message: AssistantMessage): string;
  getVisible(text: string): string;
  stream(): VisibleText;
} = {
  getText: saidIn,
  getVisible: (text) => readTurn(text).visible,
  stream: createVisibleText,
};
