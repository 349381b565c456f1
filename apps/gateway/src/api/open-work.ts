import type { ServiceStore } from "../messages/service-store.ts";

/** Unfinished work. */
export interface OpenWork {
  /** Messages that are not answered. */
  readonly inbox: number;
  /** Replies that are not out. */
  readonly outbox: number;
  readonly runs: number;
}

export async function openWork({ maintenance }: Pick<ServiceStore, "maintenance">): Promise<OpenWork> {
  const { inbox, outbox, runsActive } = await maintenance.stats();
  return {
    inbox: inbox.accepted + inbox.queued + inbox.running,
    outbox: outbox.pending + outbox.sending,
    runs: runsActive,
  };
}
