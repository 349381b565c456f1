import type { JsonValue } from "@signalbox/agent-core";
import { expect, it } from "vitest";
import { createSessionTaint } from "../index.ts";

function sessions() {
  let data: JsonValue | undefined;
  return {
    patch: async (_key: string, change: { readonly data: JsonValue }) => {
      data = JSON.parse(JSON.stringify(change.data));
    },
    set(value: JsonValue) {
      data = value;
    },
    of: (generation: number) => ({ key: "s", generation, data }),
  };
}

it("accumulates over the runs of a generation, and is empty in the next generation", async () => {
  const kept = sessions();
  await createSessionTaint(kept, kept.of(0)).add({ sources: ["web"], speakers: [] });
  const second = createSessionTaint(kept, kept.of(0));
  expect(second.earlier).toEqual({ sources: ["web"], speakers: [] });
  await second.add({ sources: ["file"], speakers: ["plain:mo"] });
  expect(createSessionTaint(kept, kept.of(0)).earlier).toEqual({
    sources: ["web", "file"],
    speakers: ["plain:mo"],
  });
  expect(createSessionTaint(kept, kept.of(1)).earlier).toEqual({ sources: [], speakers: [] });
});

it("is written by the next call after a failed write", async () => {
  const kept = sessions();
  let isFull = true;
  const patch: typeof kept.patch = async (...change) => {
    if (isFull) throw new Error("the disk is full");
    await kept.patch(...change);
  };
  const seen = { sources: ["web"], speakers: [] } as const;
  const taint = createSessionTaint({ ...kept, patch }, kept.of(0));
  await expect(taint.add(seen)).rejects.toThrow("the disk is full");
  isFull = false;
  await taint.add(seen);
  expect(createSessionTaint(kept, kept.of(0)).earlier).toEqual(seen);
});

it("treats unreadable data as taint", async () => {
  const kept = sessions();
  kept.set({ taint: { generation: 0, sources: ["web", "gossip", 7], speakers: ["plain:mo"] } });
  expect(createSessionTaint(kept, kept.of(0)).earlier).toEqual({
    sources: ["web", "other"],
    speakers: ["plain:mo"],
  });
  for (const damaged of [null, "damaged", { taint: "damaged" }]) {
    kept.set(damaged);
    expect(createSessionTaint(kept, kept.of(3)).earlier).toEqual({
      sources: ["other"],
      speakers: ["unknown"],
    });
  }
  kept.set({});
  expect(createSessionTaint(kept, kept.of(0)).earlier).toEqual({ sources: [], speakers: [] });
});
