import { connect, createServer, type Socket } from "node:net";

/** A TCP proxy between one gateway and the database. */
export interface NetworkProxy {
  readonly port: number;
  /** Sends later connections to another server. */
  setTarget(port: number): void;
  /** Delays everything by this many milliseconds. */
  delay(ms: number): void;
  /** Drops all packets, as a broken network does: neither data nor the end of a connection arrives. */
  interrupt(): void;
  /** Interrupts the network when the client sends this text together with a commit. Resolves with what is held then. */
  interruptAt(text: string): Promise<Buffer>;
  /**
   * Ends `interrupt` and `interruptAt`. Data in flight arrives now, as TCP repeats it, unless the connections are
   * reset.
   */
  restore(connections: "resume" | "reset"): void;
  /** Resets all connections. */
  reset(): void;
  /** Resets the next connections that commit, after the server got the commit and before the client has the answer. */
  loseCommits(count: number): void;
  /** Number of answers to commits that were lost. */
  readonly lostCommits: number;
  /** Number of times that the client sent something after the server had answered. */
  readonly roundTrips: number;
  close(): Promise<void>;
}

/** The message of PostgreSQL's protocol for the simple query `COMMIT`. */
const COMMIT = Buffer.from("Q\0\0\0\x0BCOMMIT\0", "latin1");

/** Starts a proxy on a free port. */
export async function startProxy(target: number): Promise<NetworkProxy> {
  const links = new Set<Link>();
  const state: ProxyState = {
    target,
    delayMs: 0,
    isInterrupted: false,
    trigger: undefined,
    commitsToLose: 0,
    lostCommits: 0,
    roundTrips: 0,
  };
  const server = createServer((client) => {
    const link = openLink(client, state, () => links.delete(link));
    links.add(link);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new TypeError("the proxy has no port");
  const reset = (): void => {
    for (const link of links) link.reset();
  };
  return {
    port: address.port,
    setTarget(port) {
      state.target = port;
    },
    delay(ms) {
      state.delayMs = ms;
    },
    interrupt() {
      state.isInterrupted = true;
    },
    interruptAt: (text) =>
      new Promise((resolve) => {
        state.trigger = { text, onMet: resolve };
      }),
    restore(connections) {
      state.isInterrupted = false;
      state.trigger = undefined;
      if (connections === "reset") reset();
      for (const link of links) link.flush();
    },
    reset,
    loseCommits(count) {
      state.commitsToLose = count;
    },
    get lostCommits() {
      return state.lostCommits;
    },
    get roundTrips() {
      return state.roundTrips;
    },
    async close() {
      reset();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface ProxyState {
  target: number;
  delayMs: number;
  isInterrupted: boolean;
  trigger: { readonly text: string; readonly onMet: (held: Buffer) => void } | undefined;
  commitsToLose: number;
  lostCommits: number;
  roundTrips: number;
}

/** A connection of the client with the one to the server. */
interface Link {
  /** Delivers what was held while the network was interrupted. */
  flush(): void;
  reset(): void;
}

function openLink(client: Socket, state: ProxyState, onEnd: () => void): Link {
  const upstream = connect(state.target, "127.0.0.1");
  /** Deliveries in their order, which wait while the network is interrupted. */
  const held: (() => void)[] = [];
  let isAnswered = true;
  let losesAnswer = false;
  let isEnded = false;

  const flush = (): void => {
    while (!state.isInterrupted) {
      const next = held.shift();
      if (next === undefined) return;
      next();
    }
  };
  const pass = (deliver: () => void): void => {
    held.push(deliver);
    if (state.delayMs > 0) setTimeout(flush, state.delayMs);
    else flush();
  };
  const end = (): void => {
    if (isEnded) return;
    isEnded = true;
    client.destroy();
    upstream.destroy();
    onEnd();
  };
  const reset = (): void => {
    if (isEnded) return;
    client.resetAndDestroy();
    upstream.resetAndDestroy();
    end();
  };

  /** The server executes what it got: an orderly end discards nothing, unlike a reset. */
  const loseAnswer = (): void => {
    if (isEnded) return;
    state.lostCommits += 1;
    isEnded = true;
    client.resetAndDestroy();
    upstream.end();
    onEnd();
  };

  for (const socket of [client, upstream]) {
    socket.setNoDelay(true);
    socket.on("error", () => {});
    // A client that is gone is not noticed on the other side of an interrupted network.
    socket.on("close", () => pass(end));
  }
  client.on("data", (chunk: Buffer) => {
    if (isAnswered) state.roundTrips += 1;
    isAnswered = false;
    const { trigger } = state;
    if (trigger !== undefined && chunk.includes(COMMIT) && chunk.includes(trigger.text)) {
      state.isInterrupted = true;
      state.trigger = undefined;
      trigger.onMet(chunk);
    }
    pass(() => {
      if (state.commitsToLose > 0 && chunk.includes(COMMIT)) {
        state.commitsToLose -= 1;
        losesAnswer = true;
      }
      upstream.write(chunk);
    });
  });
  upstream.on("data", (chunk: Buffer) => {
    isAnswered = true;
    if (losesAnswer) {
      loseAnswer();
      return;
    }
    pass(() => client.write(chunk));
  });
  return { flush, reset };
}
