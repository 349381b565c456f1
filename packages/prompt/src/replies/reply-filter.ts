import type { AssistantMessage } from "@signalbox/agent-core";
import { readTurn, saidIn } from "./compose.ts";
import { createVisibleText, type VisibleText } from "./visible-text.ts";

/** How an agent's text is read: directives and silence are not shown to people. */
export const READING: {
  said(message: AssistantMessage): string;
  visible(said: string): string;
  stream(): VisibleText;
} = {
  said: saidIn,
  visible: (said) => readTurn(said).visible,
  stream: createVisibleText,
};
