import type { AssistantMessage } from "@signalbox/agent-core";
import { readTurn, saidIn } from "./compose.ts";
import { createVisibleText, type VisibleText } from "./visible-text.ts";

/** How what agents write as the prompt teaches them to is read: directives and silence are not for people. */
export const READING: {
  said(message: AssistantMessage): string;
  visible(said: string): string;
  stream(): VisibleText;
} = {
  said: saidIn,
  visible: (said) => readTurn(said).visible,
  stream: createVisibleText,
};
