import { duplexPair } from "node:stream";
import { type Launch, serveAccount } from "../src/process/index.ts";

/** What stands in for processes of accounts: each runs here, at the other end of a line in memory. */
export function launchedHere(): { readonly launch: Launch; readonly kills: readonly (() => void)[] } {
  const kills: (() => void)[] = [];
  return {
    kills,
    launch() {
      const [line, served] = duplexPair();
      serveAccount(served, () => {});
      const ended = new Promise<string>((resolve) => line.once("close", () => resolve("it was killed")));
      const kill = () => void line.destroy();
      kills.push(kill);
      return { line, printed: [], ended, kill };
    },
  };
}
