import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { startWhatsApp } from "@signalbox/testkit/whatsapp";
import { expect, it } from "vitest";
import { BUILT, credentials } from "./harness.ts";

/** Creates and starts accounts in a process of its own, and prints the shortest time and the memory of one account. */
const PROBE = `
const [module, url, settings] = process.argv.slice(1);
const { whatsapp } = await import(module);
const { value: config } = await whatsapp.config["~standard"].validate(JSON.parse(settings));
const quiet = () => {};
const never = new AbortController().signal;
const clock = { now: Date.now, delay: async () => {} };
const cache = { get: async () => undefined, set: async () => {} };
const state = { ...cache, delete: async () => {} };
const logger = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const context = { config, account: "main", logger, emit: async () => "accepted", fetch, clock, cache, state, signal: never };
async function startOne() {
  const before = performance.now();
  const channel = await whatsapp.create(context);
  await channel.start(never);
  return [performance.now() - before, channel];
}
// The first account loads Node's own fetch.
await startOne();
gc();
const heap = process.memoryUsage().heapUsed;
const started = [];
for (let count = 0; count < 20; count += 1) started.push(await startOne());
gc();
const bytes = (process.memoryUsage().heapUsed - heap) / started.length;
// Other programs may use the processor.
const ms = Math.min(...started.map(([ms]) => ms));
process.stdout.write(JSON.stringify({ ms, bytes }));
`;

it("creates and starts an account within 30 ms and 2 MB", async () => {
  const fakeServer = await startWhatsApp(credentials);
  try {
    const { url, phoneNumberId } = fakeServer;
    const settings = JSON.stringify({ ...credentials, phoneNumberId, apiBaseUrl: url });
    const { stdout } = await promisify(execFile)(process.execPath, [
      ...["--expose-gc", "--input-type=module", "--eval", PROBE],
      ...[BUILT, url, settings],
    ]);
    const { ms, bytes } = JSON.parse(stdout);
    expect(ms).toBeLessThan(30);
    expect(bytes).toBeLessThan(2_000_000);
  } finally {
    await fakeServer.stop();
  }
});
