/**
 * Reads one hostile file with the tools of the given sources and prints what it cost. A process of its own for each, so
 * that the memory of one does not count for another.
 */
import { pathToFileURL } from "node:url";
import { HOSTILE_FILES } from "./files.ts";

const [entry = "", name = "", timeoutMs = ""] = process.argv.slice(2);
const file = HOSTILE_FILES.find((one) => one.name === name);
if (file === undefined) throw new Error(`there is no file ${name}`);
const { extractDocumentText } = await import(pathToFileURL(entry).href);
const bytes = file.create();
const before = process.memoryUsage().rss;
let peak = before;
const watch = setInterval(() => {
  peak = Math.max(peak, process.memoryUsage().rss);
}, 5);
const started = performance.now();
const read = await extractDocumentText(bytes, file.mimeType, { timeoutMs: Number(timeoutMs) });
const ms = performance.now() - started;
clearInterval(watch);
console.log(JSON.stringify({ ms, memory: peak - before, text: read?.text ?? "" }));
