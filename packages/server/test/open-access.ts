import { openStore } from "@signalbox/store";
import type { AccessStore } from "@signalbox/store/types";
import { onTestFinished } from "vitest";

/** Opens an empty access store in memory; the test closes it. */
export async function openAccess(): Promise<AccessStore> {
  const store = await openStore({ path: ":memory:", limits: { commitSpacingMs: 0 } });
  onTestFinished(() => store.close());
  return store.access;
}
