import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Launch } from "@signalbox/channel/process";

/** A process that runs many accounts, each over its own connection. */
export interface SharedProcess {
  start(): Promise<void>;
  readonly launch: Launch;
  stop(): Promise<void>;
}

/**
 * The conformance suite opens about a hundred accounts, and starting Node.js takes longer than most checks.
 */
export function sharedProcess(): SharedProcess {
  const folder = mkdtempSync(join(tmpdir(), "signalbox-accounts-"));
  const socket = join(folder, "socket");
  const server = fork(fileURLToPath(new URL("account-server.ts", import.meta.url)), [socket]);
  const listening = once(server, "message");
  return {
    async start() {
      await listening;
    },
    launch() {
      const line = connect(socket);
      const ended = new Promise<string>((resolve) => line.once("close", () => resolve("its line was cut")));
      return { line, printed: [], ended, kill: () => void line.destroy() };
    },
    async stop() {
      const gone = once(server, "exit");
      server.disconnect();
      await gone;
      rmSync(folder, { recursive: true });
    },
  };
}
