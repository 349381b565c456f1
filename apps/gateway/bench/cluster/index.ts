// `npm run bench -- cluster`: gateways that share a PostgreSQL database, each in a process of its own, next to one on
// SQLite in the same run, against zero-latency fake servers in this process. Usage: node bench/cluster/index.ts
// [throughput] [takeover] [sessions], by default all of them.
import { availableParallelism } from "node:os";
import { type DatabaseServer, startDatabaseServer } from "../../test/proofs/cluster/database.ts";
import { verdict } from "../report.ts";
import { measureManySessions } from "./many-sessions.ts";
import { measureTakeover } from "./takeover.ts";
import { measureThroughput } from "./throughput.ts";

const PARTS: Readonly<Record<string, (server: DatabaseServer) => Promise<void>>> = {
  throughput: measureThroughput,
  takeover: measureTakeover,
  sessions: measureManySessions,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PARTS, name));
if (unknown.length > 0) {
  console.error(`There is no part ${unknown.join(", ")}. The parts are ${Object.keys(PARTS).join(", ")}.`);
  process.exit(64);
}
const server = await startDatabaseServer();
if (typeof server === "string") {
  console.log(`skipped: ${server}`);
  process.exit();
}
console.log(
  `Gateways, database, fake servers and clients share ${availableParallelism()} processor cores, so compare the CPU time of a message.`,
);
try {
  for (const [name, part] of Object.entries(PARTS))
    if (wanted.length === 0 || wanted.includes(name)) await part(server);
} finally {
  await server.stop();
}
verdict();
