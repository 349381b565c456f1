import { parentPort, workerData } from "node:worker_threads";
import { doTextWork } from "./text-work.ts";

parentPort?.postMessage(await doTextWork(workerData));
