import type { AssistantMessage } from "@signalbox/agent-core";
import { getTurnText, parseTurn } from "./compose.ts";
import { createVisibleText, type VisibleText } from "./visible-text.ts";

/** Extracts the visible text of replies: directives and silent tokens are hidden. */
export const REPLY_FILTER: {
  getText(message: AssistantMessage): string;
  getVisible(text: string): string;
  stream(): VisibleText;
} = {
  getText: getTurnText,
  getVisible: (text) => parseTurn(text).visible,
  stream: createVisibleText,
};
