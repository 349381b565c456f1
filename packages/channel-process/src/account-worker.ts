/** The program of an account's process. */
import { serveAccount } from "./serve-account.ts";

// Terminals and service managers signal all processes of a group. The gateway stops this one after its pending
// operations are done.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => {});
process.once("disconnect", () => process.exit(0));
serveAccount({
  post: (message) => void process.send?.(message, undefined, undefined, () => {}),
  onMessage: (listener) => void process.on("message", listener),
});
