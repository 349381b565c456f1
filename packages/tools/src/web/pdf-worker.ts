import { parentPort, workerData } from "node:worker_threads";
import { extractPdfText } from "./pdf.ts";

parentPort?.postMessage(await extractPdfText(workerData));
