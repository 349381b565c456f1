import type { InboxId } from "@signalbox/store";
import type { GatewayStore } from "./stored.ts";
import type { MessageTicket } from "./ticket.ts";

/**
 * How many processes took the attachments of a message and died before its run began. From then on the run itself counts
 * its starts.
 */
export interface Attempts {
  /** How many processes noted any of these messages and never forgot it: the most of any, and those that reached `most`. */
  before(tickets: readonly MessageTicket[], most: number): Promise<{ most: number; spent: MessageTicket[] }>;
  /** Counts this process, once, before it touches what is attached. On the disk when it resolves. */
  note(tickets: readonly MessageTicket[]): Promise<void>;
  /** The run has begun, or the message has its end. */
  forget(tickets: readonly MessageTicket[]): Promise<void>;
  /** Takes this process out of the count again: it ends as it was told to. */
  rest(): Promise<void>;
}

/** Starts of one run after which its message is set aside. */
export const POISON_ATTEMPTS = 3;

const NAMESPACE = "media-attempt";
/** Nobody is to wait so long for an answer; what a deleted message left behind goes with it. */
const NOTE_MS = 7 * 24 * 60 * 60 * 1000;

export function createAttempts({ kv }: Pick<GatewayStore, "kv">): Attempts {
  /** A failing store makes this process try again, which is no death. */
  const noted = new Map<InboxId, number>();
  const withMedia = (tickets: readonly MessageTicket[]): readonly MessageTicket[] =>
    tickets.filter(({ stored }) => stored.event.media.length > 0);
  const earlier = async (id: InboxId): Promise<number> => {
    const known = noted.get(id);
    if (known !== undefined) return known;
    const value = await kv.get(NAMESPACE, id);
    return typeof value === "number" ? value : 0;
  };

  return {
    async before(tickets, most) {
      const spent: MessageTicket[] = [];
      let highest = 0;
      for (const ticket of withMedia(tickets)) {
        const count = await earlier(ticket.id);
        highest = Math.max(highest, count);
        if (count >= most) spent.push(ticket);
      }
      return { most: highest, spent };
    },
    async note(tickets) {
      for (const { id } of withMedia(tickets)) {
        if (noted.has(id)) continue;
        const count = await earlier(id);
        await kv.set(NAMESPACE, id, count + 1, NOTE_MS);
        noted.set(id, count);
      }
    },
    async forget(tickets) {
      for (const { id } of withMedia(tickets)) {
        await kv.delete(NAMESPACE, id);
        noted.delete(id);
      }
    },
    async rest() {
      for (const [id, count] of noted) {
        if (count === 0) await kv.delete(NAMESPACE, id);
        else await kv.set(NAMESPACE, id, count, NOTE_MS);
      }
      noted.clear();
    },
  };
}
