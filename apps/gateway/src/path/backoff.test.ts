import { type OutboxId, parseId } from "@signalbox/store";
import { expect, it } from "vitest";
import { createBackoff } from "./backoff.ts";

it("doubles with each failure of one reply, up to five minutes, and begins anew with the next", () => {
  const id = parseId<OutboxId>("01ARZ3NDEKTSV4RRFFQ69G5FAV");
  const other = parseId<OutboxId>("01ARZ3NDEKTSV4RRFFQ69G5FAW");
  if (id === undefined || other === undefined) throw new Error("no id");
  const backoff = createBackoff(() => 1);
  expect([1, 2, 3].map(() => backoff.after(id))).toEqual([1_000, 2_000, 4_000]);
  expect(backoff.after(other)).toBe(1_000);
  for (let i = 0; i < 20; i++) backoff.after(id);
  expect(backoff.after(id)).toBe(300_000);
  backoff.forget(id);
  expect(backoff.after(id)).toBe(1_000);
  expect(createBackoff(() => 0).after(id)).toBe(500);
});
