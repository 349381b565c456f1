/** Texts of `/why` and `signalbox why`. */
export const why = {
  pruned: "The message itself was pruned; only its trace is left.",
  /** Outcomes by state. */
  states: {
    accepted: (who: string) => `It is waiting for ${who}`,
    queued: (who: string) => `It is waiting for ${who}`,
    running: (who: string) => `It is being answered by ${who}`,
    sending: (who: string, reason?: string) =>
      `${who} has answered, but the answer is not delivered yet${reason === undefined ? "" : `: ${reason}`}`,
    uncertain: (who: string, reason?: string) =>
      `${who} has answered, and the answer may or may not have arrived${reason === undefined ? "" : `: ${reason}`}`,
    replied: (who: string) => `It was answered by ${who}`,
    silent: (who: string) => `It reached ${who}, which sent no reply`,
    ignored: () => "It was not answered",
    "failed-reported": (who: string, reason?: string) =>
      `It could not be answered by ${who}${reason === undefined ? "" : `, ${reason}`}`,
    "expired-reported": () => "It expired before it could be answered",
    unreported: (who: string, reason?: string) =>
      `It got no answer from ${who}${reason === undefined ? "" : `, ${reason}`}, and nobody could be told`,
  },
  /** Remedies for answers that are not delivered. */
  remedies: {
    sending: "The gateway tries again by itself. `signalbox outbox list --all` shows the attempts.",
    uncertain:
      "Look in the chat. If the answer is missing, `signalbox outbox list` and `outbox retry` send it again.",
  },
  anAgent: "an agent",
  agent: (id: string) => `agent ${id}`,
  sentence: (state: string, because: string | undefined, rule: string | undefined) =>
    `${state}${because === undefined ? "" : `: ${because}`}${rule === undefined ? "" : ` (${rule})`}.`,
};
