import { createRedactor } from "@signalbox/redaction";
import { createLogger } from "@signalbox/telemetry/logger";
import { expect, it } from "vitest";
import { type Loadable, warmUp } from "./warm-up.ts";

function setUp() {
  const loaded: string[] = [];
  const stop = new AbortController();
  const part = (name: string, load: () => Promise<unknown> = async () => {}): Loadable => ({
    name,
    load() {
      loaded.push(name);
      return load();
    },
  });
  const ports = { signal: stop.signal, logger: createLogger("silent", createRedactor([])) };
  return { loaded, stop, part, ports };
}

it("loads one part after the other, also behind one that cannot be loaded", async () => {
  const { loaded, part, ports } = setUp();
  const parts = [part("models", () => Promise.reject(new Error("it is not installed"))), part("tools")];
  await warmUp({ ...ports, parts, busy: () => false });
  expect(loaded).toEqual(["models", "tools"]);
});

it("waits while people do, and ends with the gateway", async () => {
  const { loaded, stop, part, ports } = setUp();
  let looks = 0;
  const busy = () => {
    looks += 1;
    if (looks === 3) stop.abort();
    return true;
  };
  await warmUp({ ...ports, parts: [part("models")], busy });
  expect([loaded, looks]).toEqual([[], 3]);
});
