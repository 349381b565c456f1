/** Action id of a button. Slack requires unique ids within a message. */
export interface ActionId {
  /** The host's id. */
  readonly id: string;
  readonly opensForm: boolean;
}

/** Separates the index in the message from the host's id. */
const plain = ":";
const opening = "?";

export function writeActionId({ id, opensForm }: ActionId, index: number): string {
  return `${index}${opensForm ? opening : plain}${id}`;
}

export function readActionId(written: string): ActionId {
  const [, sign, id] = /^\d+([:?])(.*)$/s.exec(written) ?? [];
  return { id: id ?? written, opensForm: sign === opening };
}
