import { expect, it } from "vitest";
import { createQueueModes } from "./queue-modes.ts";

/** A session store shared by several processes. */
function sessionsInMemory() {
  const chosen = new Map<string, string | undefined>([["s", undefined]]);
  const read = (key: string) => {
    const queueMode = chosen.get(key);
    return queueMode === undefined ? {} : { queueMode };
  };
  return {
    get: async (key: string) => (chosen.has(key) ? read(key) : undefined),
    async patch(key: string, { queueMode }: { readonly queueMode: string | null }) {
      chosen.set(key, queueMode ?? undefined);
      return read(key);
    },
  };
}

it("reads the mode that another process chose, and ignores unknown modes", async () => {
  const sessions = sessionsInMemory();
  const [ours, others] = [createQueueModes(sessions), createQueueModes(sessions)];
  await others.set("s", "collect");
  expect(ours.get("s")).toBeUndefined();
  await ours.read("s");
  expect(ours.get("s")).toBe("collect");
  await others.set("s", undefined);
  await ours.read("s");
  expect(ours.get("s")).toBeUndefined();
  await sessions.patch("s", { queueMode: "no mode of ours" });
  await ours.read("s");
  expect(ours.get("s")).toBeUndefined();
  await ours.read("none");
  expect(ours.get("none")).toBeUndefined();
});
