// Stops itself in the middle of a transaction that appends a message, and prints the outcome after it was continued.
import { isStoreError } from "@signalbox/store/errors";
import { openPostgresStore } from "../../src/index.ts";

const [url = "", sessionKey = "", name = "", epoch = "0"] = process.argv.slice(2);
let isArmed = false;

const store = await openPostgresStore({
  url,
  access: "share",
  timeouts: { idleInTransactionMs: 2_000 },
  // The store reads this clock in every transaction, after the server has taken the locks.
  clock() {
    if (isArmed) process.kill(process.pid, "SIGSTOP");
    isArmed = false;
    return Date.now();
  },
});
isArmed = true;
const outcome = await store.sessions
  .append(sessionKey, ["late"], { name, epoch: Number(epoch) })
  .then(() => "appended")
  .catch((error: unknown) => (isStoreError(error) ? error.code : String(error)));
console.log(outcome);
await store.close();
