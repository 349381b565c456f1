import type { Outcome } from "./service.ts";

/** A message as its client names it. */
interface NamedMessage {
  readonly channel: string;
  readonly account: string;
  readonly messageId: string;
}

/** The wait for a message that has no id of the host yet. */
interface Expectation {
  /** Resolves when the message has its end, or the gateway has stopped. */
  readonly done: Promise<Outcome>;
  /** The message was not accepted. */
  forget(): void;
}

/** Tells those who wait in this process how their messages ended. Nothing of it is needed for correctness. */
export interface Outcomes {
  /** To be called before the message is handed in, so that its end is not missed. */
  expect(message: NamedMessage): Expectation;
  /** The message has its id, and nothing was done about it yet. */
  accepted(id: string, message: NamedMessage): void;
  /** Resolves when the message has its end, or the gateway has stopped. */
  wait(id: string): Promise<Outcome>;
  /** The wait for a message, if somebody waits for it. */
  waiting(id: string): Promise<Outcome> | undefined;
  settle(id: string, outcome: Outcome): void;
  /** The gateway has stopped: waiting clients, now or later, learn that the answer comes after the next start. */
  close(): void;
}

type Waiter = PromiseWithResolvers<Outcome>;

const LEFT_OPEN: Outcome = {
  state: "failed",
  text: "",
  error: {
    code: "stopping",
    message: "The gateway stopped before the message was answered. It continues after the restart.",
  },
};

export function createOutcomes(): Outcomes {
  const expected = new Map<string, Set<Waiter>>();
  const waiters = new Map<string, Waiter>();
  let closed = false;

  const wait = (id: string): Promise<Outcome> => {
    if (closed) return Promise.resolve(LEFT_OPEN);
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
    accepted(id, message) {
      const key = keyOf(message);
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
        resolve(LEFT_OPEN);
      waiters.clear();
      expected.clear();
    },
  };
}

function keyOf({ channel, account, messageId }: NamedMessage): string {
  return JSON.stringify([channel, account, messageId]);
}
