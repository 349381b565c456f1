import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { createResolve } from "./resolve.ts";

it("runs at most two lookups at a time, also if the name server does not respond", async () => {
  const asked = new Map<string, (addresses: string[]) => void>();
  const resolve = createResolve((host) => new Promise((answer) => asked.set(host, answer)));
  const never = new AbortController().signal;
  const impatient = new AbortController();
  const a = resolve("a", impatient.signal);
  const [b, d] = [resolve("b", never), resolve("d", never)];
  const gone = resolve("c", impatient.signal);
  await setImmediate();
  expect([...asked.keys()]).toEqual(["a", "b"]);
  impatient.abort(new Error("gone"));
  await expect(gone).rejects.toThrow("gone");
  await setImmediate();
  // The caller has stopped waiting, but the lookup still occupies its thread.
  expect([...asked.keys()]).toEqual(["a", "b"]);
  asked.get("a")?.(["1.1.1.1"]);
  await a;
  await setImmediate();
  expect([...asked.keys()]).toEqual(["a", "b", "d"]);
  asked.get("b")?.(["2.2.2.2"]);
  asked.get("d")?.(["4.4.4.4"]);
  expect(await Promise.all([b, d])).toEqual([["2.2.2.2"], ["4.4.4.4"]]);
});

it("continues after a name that does not exist", async () => {
  const resolve = createResolve((host) =>
    host === "there" ? Promise.resolve(["1.1.1.1"]) : Promise.reject(new Error("ENOTFOUND")),
  );
  const signal = new AbortController().signal;
  const lost = ["x", "y", "z"].map((host) => resolve(host, signal));
  expect((await Promise.allSettled(lost)).map(({ status }) => status)).toEqual(Array(3).fill("rejected"));
  expect(await resolve("there", signal)).toEqual(["1.1.1.1"]);
});
