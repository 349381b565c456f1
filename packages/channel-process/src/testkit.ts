import { MessageChannel, type MessagePort } from "node:worker_threads";
import type { Launch } from "./account-process.ts";
import type { Port } from "./rpc.ts";
import { serveAccount } from "./serve-account.ts";

/**
 * A `launch` for `inOwnProcess` that serves each account in the current process, with the same messages. It starts much
 * faster than a child process, which matters for a conformance suite with a hundred accounts.
 */
export interface LocalLauncher {
  readonly launch: Launch;
  /** One function per launched account, in order. Each ends its account like a crash would. */
  readonly kills: readonly (() => void)[];
}

export function launchLocally(): LocalLauncher {
  const kills: (() => void)[] = [];
  return {
    kills,
    launch() {
      const { port1, port2 } = new MessageChannel();
      const end = serveAccount(portOf(port2));
      const ended = Promise.withResolvers<string>();
      const kill = (): void => {
        end();
        port1.close();
        ended.resolve("it was killed");
      };
      kills.push(kill);
      return { port: portOf(port1), output: [], ended: ended.promise, kill };
    },
  };
}

function portOf(port: MessagePort): Port {
  return {
    post: (message) => port.postMessage(message),
    onMessage: (listener) => void port.on("message", listener),
  };
}
