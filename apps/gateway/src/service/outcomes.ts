import type { MessageEvent } from "@signalbox/channel";
import type { Outcome } from "@signalbox/server";
import type { InboxId, PlatformMessage } from "@signalbox/store";

/** The wait for a message that has no id in the inbox yet. */
interface Expectation {
  /** Resolves when the message has its end. */
  readonly done: Promise<Outcome>;
  /** The message was not accepted. */
  forget(): void;
}

/** Tells those who wait in this process how their messages ended. Nothing of it is needed for correctness. */
export interface Outcomes {
  /** To be called before the message is handed in, so that its end is not missed. */
  expect(message: PlatformMessage): Expectation;
  /** The message has its id, and nothing was done about it yet. */
  accepted(id: InboxId, event: MessageEvent): void;
  /** Resolves when the message has its end. */
  wait(id: InboxId): Promise<Outcome>;
  /** The wait for a message, if somebody waits for it. */
  waiting(id: InboxId): Promise<Outcome> | undefined;
  settle(id: InboxId, outcome: Outcome): void;
}

type Waiter = PromiseWithResolvers<Outcome>;

export function createOutcomes(): Outcomes {
  const expected = new Map<string, Set<Waiter>>();
  const waiters = new Map<InboxId, Waiter>();

  const wait = (id: InboxId): Promise<Outcome> => {
    const waiter = waiters.get(id) ?? Promise.withResolvers<Outcome>();
    waiters.set(id, waiter);
    return waiter.promise;
  };

  return {
    expect(message) {
      const key = keyOf(message);
      const waiter = Promise.withResolvers<Outcome>();
      const sameMessage = expected.get(key) ?? new Set();
      expected.set(key, sameMessage.add(waiter));
      return {
        done: waiter.promise,
        forget() {
          sameMessage.delete(waiter);
          if (sameMessage.size === 0 && expected.get(key) === sameMessage) expected.delete(key);
        },
      };
    },
    accepted(id, event) {
      const key = keyOf(event);
      for (const { resolve } of expected.get(key) ?? []) void wait(id).then(resolve);
      expected.delete(key);
    },
    wait,
    waiting: (id) => waiters.get(id)?.promise,
    settle(id, outcome) {
      waiters.get(id)?.resolve(outcome);
      waiters.delete(id);
    },
  };
}

function keyOf({ channel, account, messageId }: PlatformMessage): string {
  return JSON.stringify([channel, account, messageId]);
}
