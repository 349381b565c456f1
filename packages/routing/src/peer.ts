export const PEER_KINDS = ["direct", "group", "channel"] as const;

/** The kind of conversation that contains a message. */
export type PeerKind = (typeof PEER_KINDS)[number];

/** The conversation that a message belongs to: the person in a direct chat, otherwise the group or channel. */
export interface Peer {
  readonly kind: PeerKind;
  /** The platform's immutable id, compared exactly, without case folding or Unicode normalization. */
  readonly id: string;
}
