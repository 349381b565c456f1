import { parentPort, workerData } from "node:worker_threads";
import { pdfText } from "./pdf.ts";

parentPort?.postMessage(await pdfText(workerData));
