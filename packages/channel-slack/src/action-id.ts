/** What a button is: Slack wants every one of a message to have an id of its own. */
export interface ActionId {
  /** As the host has called it. */
  readonly id: string;
  readonly opensForm: boolean;
}

/** Between its place in the message and what the host has called it. */
const plain = ":";
const opening = "?";

export function writeActionId({ id, opensForm }: ActionId, index: number): string {
  return `${index}${opensForm ? opening : plain}${id}`;
}

export function readActionId(written: string): ActionId {
  const [, sign, id] = /^\d+([:?])(.*)$/s.exec(written) ?? [];
  return { id: id ?? written, opensForm: sign === opening };
}
