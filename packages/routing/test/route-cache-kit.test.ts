import { describe, it } from "vitest";
import { MemoryRouteCache } from "../src/index.ts";
import { runRouteCacheConformance } from "../src/testkit/index.ts";

runRouteCacheConformance({ test: { describe, it }, open: () => new MemoryRouteCache() });
