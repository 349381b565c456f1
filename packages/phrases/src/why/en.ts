/** Why a message went as it did. */
export const why = {
  pruned: "Only notes are left of it: the message itself was pruned.",
  /** What became of it, by the state of the message. */
  states: {
    accepted: (who: string) => `It waits for ${who}`,
    queued: (who: string) => `It waits for ${who}`,
    running: (who: string) => `It is being answered by ${who}`,
    replied: (who: string) => `It was answered by ${who}`,
    silent: (who: string) => `It was heard by ${who}, and got no reply`,
    ignored: () => "It was not answered",
    "failed-reported": (who: string, reason?: string) =>
      `It could not be answered by ${who}${reason === undefined ? "" : `, ${reason}`}`,
    "expired-reported": () => "It was too old to be answered when it could have been",
  },
  anAgent: "an agent",
  agent: (id: string) => `agent ${id}`,
  sentence: (state: string, because: string | undefined, rule: string | undefined) =>
    `${state}${because === undefined ? "" : `: ${because}`}${rule === undefined ? "" : ` (${rule})`}.`,
};
