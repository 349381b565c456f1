import { parentPort, workerData } from "node:worker_threads";
import { extractArticle } from "./article.ts";

parentPort?.postMessage(extractArticle(workerData));
