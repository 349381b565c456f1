import { parentPort, workerData } from "node:worker_threads";
import { workOut } from "./text-work.ts";

parentPort?.postMessage(await workOut(workerData));
