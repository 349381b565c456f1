import type { ServiceStore } from "../messages/service-store.ts";

/** Numbers of unfinished messages and replies. */
export interface OpenWork {
  /** Messages without a final state. */
  readonly inbox: number;
  /** Replies that are not delivered. */
  readonly outbox: number;
  readonly runs: number;
}

export async function openWork({ maintenance }: ServiceStore): Promise<OpenWork> {
  const { inbox, outbox, runsActive } = await maintenance.stats();
  return {
    inbox: inbox.accepted + inbox.queued + inbox.running,
    outbox: outbox.pending + outbox.sending,
    runs: runsActive,
  };
}
