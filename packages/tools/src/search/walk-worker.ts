import { parentPort, workerData } from "node:worker_threads";
import type { Candidate } from "./candidate.ts";
import { searchByWalking } from "./walk.ts";

/** Number of candidates per message. Candidates are posted in groups, so that the host can stop the thread early. */
const GROUP = 200;

let group: Candidate[] = [];
for (const candidate of searchByWalking(workerData)) {
  group.push(candidate);
  if (group.length < GROUP) continue;
  parentPort?.postMessage(group);
  group = [];
}
parentPort?.postMessage(group);
