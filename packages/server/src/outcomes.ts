import type { Outcome } from "./service.ts";

/** A message as its client names it. */
interface MessageName {
  readonly channel: string;
  readonly account: string;
  readonly messageId: string;
}

/** A pending wait for a message that has no gateway id yet. */
interface Expectation {
  /** Resolves when the message has an outcome, or the gateway stops. */
  readonly done: Promise<Outcome>;
  /** Ends the wait, because the message was not accepted. */
  forget(): void;
}

/**
 * Delivers outcomes to requests in this process that are waiting for them. Everything here is lost on a restart, so
 * nothing may depend on it for correctness.
 */
export interface Outcomes {
  /** Starts a wait. Call it before the message is submitted, or its outcome may be missed. */
  expect(message: MessageName): Expectation;
  /** Links a message to its gateway id. Call it before processing starts. */
  accepted(id: string, message: MessageName): void;
  /** Resolves when the message has an outcome, or the gateway stops. */
  wait(id: string): Promise<Outcome>;
  /** Returns the promise of an existing wait, if any. */
  waiting(id: string): Promise<Outcome> | undefined;
  settle(id: string, outcome: Outcome): void;
  /** Ends current and later waits with the error code `stopping`. */
  close(): void;
}

type Waiter = PromiseWithResolvers<Outcome>;

const STOPPED: Outcome = {
  state: "failed",
  text: "",
  error: {
    code: "stopping",
    message: "The gateway stopped before it answered the message. It continues after the restart.",
  },
};

export function createOutcomes(): Outcomes {
  const expected = new Map<string, Set<Waiter>>();
  const waiters = new Map<string, Waiter>();
  let closed = false;

  const wait = (id: string): Promise<Outcome> => {
    if (closed) return Promise.resolve(STOPPED);
    const waiter = waiters.get(id) ?? Promise.withResolvers<Outcome>();
    waiters.set(id, waiter);
    return waiter.promise;
  };

  return {
    expect(message) {
      const key = createKey(message);
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
    accepted(id, message) {
      const key = createKey(message);
      for (const { resolve } of expected.get(key) ?? []) void wait(id).then(resolve);
      expected.delete(key);
    },
    wait,
    waiting: (id) => waiters.get(id)?.promise,
    settle(id, outcome) {
      waiters.get(id)?.resolve(outcome);
      waiters.delete(id);
    },
    close() {
      closed = true;
      for (const { resolve } of [...waiters.values(), ...[...expected.values()].flatMap((same) => [...same])])
        resolve(STOPPED);
      waiters.clear();
      expected.clear();
    },
  };
}

function createKey({ channel, account, messageId }: MessageName): string {
  return JSON.stringify([channel, account, messageId]);
}
