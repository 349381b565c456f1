/** Returns the id of the `index`-th visible turn of a run, in live events and in stored conversations. */
export function getTurnId(runId: string, index: number): string {
  return `${runId}.${index}`;
}

/** Returns the id of the note about the end of a run. */
export function getNoteId(runId: string): string {
  return `${runId}.end`;
}

/** Returns the id of a text that a tool sent on behalf of the agent. */
export function getSentId(callId: string): string {
  return `${callId}.sent`;
}
