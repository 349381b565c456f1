import type { MessageInfo } from "@signalbox/client";
import type { ReactNode } from "react";
import { useWords } from "../words/words.tsx";
import { StateBadge, type Tone } from "./state-badge.tsx";

const TONES: Readonly<Record<MessageInfo["state"], Tone>> = {
  accepted: "busy",
  queued: "busy",
  running: "busy",
  sending: "busy",
  uncertain: "bad",
  replied: "good",
  silent: "neutral",
  ignored: "neutral",
  "failed-reported": "bad",
  "expired-reported": "bad",
  unreported: "bad",
};

/** The state of a message as a badge. */
export function MessageState({ state }: { state: MessageInfo["state"] }): ReactNode {
  const { messageStates } = useWords();
  return <StateBadge tone={TONES[state]}>{messageStates[state]}</StateBadge>;
}
