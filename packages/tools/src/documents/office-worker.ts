import { parentPort, workerData } from "node:worker_threads";
import { extractOfficeText } from "./office.ts";

parentPort?.postMessage(extractOfficeText(workerData));
