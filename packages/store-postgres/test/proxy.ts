import { connect, createServer, type Socket } from "node:net";

/** What the proxy does when a client sends `COMMIT`. It does so once. */
export type CommitFault = "cut before the server gets it" | "cut after the server got it";

/** A TCP proxy between a store and the server. */
export interface Proxy {
  /** Returns the URL with the proxy's address. */
  through(url: string): string;
  /** Cuts the connection at the next commit, and new connections after it if `refuseAfter` is true. Default: false. */
  failNextCommit(fault: CommitFault, refuseAfter?: boolean): void;
  /** True until the fault of `failNextCommit` has happened. */
  readonly isArmed: boolean;
  /** Cuts all connections. */
  cutAll(): void;
  /** If true, cuts new connections at once. */
  isRefusing: boolean;
  /** Number of times that a client sent something after the server had answered. */
  roundTrips: number;
  close(): Promise<void>;
}

/** The message of the protocol for the simple query `COMMIT`. */
const COMMIT = Buffer.from("Q\0\0\0\x0BCOMMIT\0", "latin1");

export async function startProxy(target: string): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let fault: CommitFault | undefined;
  let refusesAfterFault = false;

  const server = createServer((client) => {
    if (proxy.isRefusing) {
      client.destroy();
      return;
    }
    const upstream = connect(Number(port), hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    let answered = true;
    client.on("data", (chunk) => {
      if (answered) proxy.roundTrips += 1;
      answered = false;
      if (fault === undefined || !Buffer.from(chunk).includes(COMMIT)) {
        upstream.write(chunk);
        return;
      }
      if (fault === "cut before the server gets it") client.destroy();
      else {
        upstream.removeAllListeners("data");
        upstream.once("data", () => client.destroy());
        upstream.write(chunk);
      }
      fault = undefined;
      if (refusesAfterFault) proxy.isRefusing = true;
    });
    upstream.on("data", (chunk) => {
      answered = true;
      client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const ownPort = typeof address === "object" && address !== null ? address.port : 0;

  const proxy: Proxy = {
    through(url) {
      const proxied = new URL(url);
      proxied.port = String(ownPort);
      return proxied.href;
    },
    failNextCommit(next, refuseAfter = false) {
      fault = next;
      refusesAfterFault = refuseAfter;
    },
    get isArmed() {
      return fault !== undefined;
    },
    cutAll() {
      for (const socket of sockets) socket.destroy();
    },
    isRefusing: false,
    roundTrips: 0,
    async close() {
      proxy.cutAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
