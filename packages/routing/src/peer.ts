export const PEER_KINDS = ["direct", "group", "channel"] as const;

/** What kind of conversation a message was written in. */
export type PeerKind = (typeof PEER_KINDS)[number];

/** The conversation a message belongs to: the person in a direct chat, else the group or channel. */
export interface Peer {
  readonly kind: PeerKind;
  /** The platform's immutable id, compared exactly: neither case nor Unicode form is folded. */
  readonly id: string;
}
