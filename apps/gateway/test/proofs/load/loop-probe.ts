// Loaded into a gateway (`--import`): how long its event loop was held at most since it was last asked, which SIGUSR2
// does. What counts is the time between two turns of the loop without the time in which the kernel let others have the
// processor: a neighbour on the same machine holds nothing of ours.
import { openSync, readSync, renameSync, writeFileSync } from "node:fs";

const file = process.env["SIGNALBOX_LOOP_PROBE"] ?? "";
/** Of the main thread: nanoseconds on a processor, nanoseconds it waited for one, and how often. proc(5), schedstat. */
const schedule = openSync("/proc/self/schedstat", "r");
const bytes = Buffer.alloc(128);

function waitedMs(): number {
  const length = readSync(schedule, bytes, 0, bytes.length, 0);
  return Number(bytes.toString("latin1", 0, length).split(" ")[1]) / 1e6;
}

let last = { at: performance.now(), waited: waitedMs() };
let longestMs = 0;
let asked = 0;
setInterval(() => {
  const now = { at: performance.now(), waited: waitedMs() };
  longestMs = Math.max(longestMs, now.at - last.at - (now.waited - last.waited));
  last = now;
}, 1).unref();
process.on("SIGUSR2", () => {
  asked += 1;
  writeFileSync(`${file}.new`, JSON.stringify({ asked, longestMs }));
  renameSync(`${file}.new`, file);
  longestMs = 0;
});
