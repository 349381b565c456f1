import type { Bodies, LeaseToken, Millis } from "./common.ts";
import type { OutboxInsert } from "./outbox.ts";

/** A request of an unknown sender. The store keeps only a hash of the code. */
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

/** Pairing: senders who may write to an agent directly. */
export interface PairingStore<T extends Bodies = Bodies> {
  /**
   * Opens a request, valid for 10 minutes. `pending`: the sender has an open request already, whose code is not known
   * any more; `full`: the account has 3 open requests. If a request is opened, `reply` is added to the outbox in the
   * same transaction, so that every code is sent.
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
   * Uses a code once. `unknown`: no open request has this code. Every wrong code counts against the open requests of
   * the account, or of all accounts if none is named. A request is closed after 5 wrong codes.
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
