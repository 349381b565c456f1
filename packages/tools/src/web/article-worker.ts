import { parentPort, workerData } from "node:worker_threads";
import { articleOf } from "./article.ts";

parentPort?.postMessage(articleOf(workerData));
