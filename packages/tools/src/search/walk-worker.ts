import { parentPort, workerData } from "node:worker_threads";
import type { Candidate } from "./candidate.ts";
import { searchByWalking } from "./walk.ts";

/** Candidates go over in groups, so that a host that has enough can end the thread soon. */
const GROUP = 200;

let group: Candidate[] = [];
for (const candidate of searchByWalking(workerData)) {
  group.push(candidate);
  if (group.length < GROUP) continue;
  parentPort?.postMessage(group);
  group = [];
}
parentPort?.postMessage(group);
