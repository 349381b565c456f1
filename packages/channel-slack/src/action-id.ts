/** Slack wants every button of a message to have an id of its own. */
export function writeActionId(id: string, index: number): string {
  return `${index}:${id}`;
}

/** The id that a button was given. */
export function readActionId(written: string): string {
  return written.replace(/^\d+:/, "");
}
