import type { Bodies, LeaseToken, Millis } from "./common.ts";
import type { OutboxInsert } from "./outbox.ts";

/** A stranger who asked to talk. The code itself is kept only as a hash. */
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

/** Who may write to an agent directly. */
export interface PairingStore<T extends Bodies = Bodies> {
  /**
   * Opens a request. `pending`: this peer has one already that still is good (its code is not known any more);
   * `full`: the account has its number of open requests. Defaults: 10 min, 3 open per account. Where a request is
   * opened, `reply` goes into the outbox in the same transaction, so that no code exists that nobody was told.
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
   * Uses a code once. `unknown`: no open request has it. Every wrong try counts against the open requests of the
   * account (of all accounts when none is named); at 5 a request is closed.
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
