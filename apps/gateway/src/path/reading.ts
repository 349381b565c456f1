import { createVisibleText, readTurn, saidIn } from "@signalbox/prompt";
import type { Reading } from "@signalbox/runs";

/** What agents write as the prompt teaches them to: directives and silence are not for people. */
export const READING: Reading = {
  said: saidIn,
  visible: (said) => readTurn(said).visible,
  stream: createVisibleText,
};
