import type { Bodies, LeaseToken, Millis } from "./common.ts";
import type { OutboxInsert } from "./outbox.ts";

/** A request from an unknown sender. The store keeps only a hash of the code. */
export interface PairingRequest {
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
  readonly label?: string;
  readonly createdAt: Millis;
  readonly expiresAt: Millis;
}

export interface PairingPeer {
  readonly channel: string;
  readonly account: string;
  readonly peerId: string;
  readonly label?: string;
  readonly approvedAt: Millis;
  readonly approvedBy: string;
}

/** Stores pairings: senders who may send direct messages to an agent. */
export interface PairingStore<T extends Bodies = Bodies> {
  /**
   * Opens a request that is valid for 10 minutes. `pending`: the sender already has an open request, whose code is no
   * longer available. `full`: the account already has 3 open requests. If a request is opened, `reply` is added to the
   * outbox in the same transaction, so that every code is sent.
   */
  request(input: {
    readonly channel: string;
    readonly account: string;
    readonly peerId: string;
    readonly label?: string;
    readonly code: string;
    readonly reply?: { readonly row: OutboxInsert<T["outbound"]>; readonly lease: LeaseToken };
  }): Promise<"created" | "pending" | "full" | "approved">;
  /**
   * Redeems a code. `unknown`: no open request has this code. Every wrong code counts against the open requests of the
   * account, or of all accounts if no account is given. A request is closed after 5 wrong codes.
   */
  approve(input: {
    readonly code: string;
    readonly approvedBy: string;
    readonly channel?: string;
    readonly account?: string;
  }): Promise<{ readonly outcome: "approved"; readonly peer: PairingPeer } | { readonly outcome: "unknown" }>;
  isApproved(channel: string, account: string, peerId: string): Promise<boolean>;
  revoke(channel: string, account: string, peerId: string): Promise<boolean>;
  pending(): Promise<readonly PairingRequest[]>;
  peers(): Promise<readonly PairingPeer[]>;
}
