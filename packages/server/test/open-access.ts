import { openStore } from "@signalbox/store";
import type { Store } from "@signalbox/store/types";
import { onTestFinished } from "vitest";

/** Opens an empty store in memory with tokens, sessions and sign-in links; the test closes it. */
export async function openAccess(): Promise<Pick<Store, "access" | "kv">> {
  const store = await openStore({ path: ":memory:", limits: { commitSpacingMs: 0 } });
  onTestFinished(() => store.close());
  return store;
}
