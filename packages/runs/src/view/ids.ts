/** The id under which people see the `index`-th turn of a run that says something, live and later. */
export function turnId(runId: string, index: number): string {
  return `${runId}.${index}`;
}

/** The id of what is said about a run that did not simply end. */
export function noteId(runId: string): string {
  return `${runId}.end`;
}

/** The id of what a tool shows to a client in the name of the agent. */
export function sentId(callId: string): string {
  return `${callId}.sent`;
}
