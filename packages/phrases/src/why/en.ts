/** Texts of `/why` and `signalbox why`. */
export const why = {
  pruned: "The message itself was pruned; only its trace is left.",
  /** Outcomes by state. */
  states: {
    accepted: (who: string) => `It is waiting for ${who}`,
    queued: (who: string) => `It is waiting for ${who}`,
    running: (who: string) => `It is being answered by ${who}`,
    replied: (who: string) => `It was answered by ${who}`,
    silent: (who: string) => `It reached ${who}, which sent no reply`,
    ignored: () => "It was not answered",
    "failed-reported": (who: string, reason?: string) =>
      `It could not be answered by ${who}${reason === undefined ? "" : `, ${reason}`}`,
    "expired-reported": () => "It expired before it could be answered",
    unreported: (who: string, reason?: string) =>
      `It got no answer from ${who}${reason === undefined ? "" : `, ${reason}`}, and nobody could be told`,
  },
  anAgent: "an agent",
  agent: (id: string) => `agent ${id}`,
  sentence: (state: string, because: string | undefined, rule: string | undefined) =>
    `${state}${because === undefined ? "" : `: ${because}`}${rule === undefined ? "" : ` (${rule})`}.`,
};
