import { openStore } from "@signalbox/store";
import type { RouteCacheStore } from "@signalbox/store/types";
import { onTestFinished } from "vitest";

/** Opens an empty route cache in memory; the test closes it. */
export async function openRouteCache(): Promise<RouteCacheStore> {
  const store = await openStore({ path: ":memory:", limits: { commitSpacingMs: 0 } });
  onTestFinished(() => store.close());
  return store.routes;
}
