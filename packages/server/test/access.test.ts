import { describe, it } from "vitest";
import { createMemoryAccess } from "../src/index.ts";
import { accessConformance } from "../src/testkit/index.ts";

describe("tokens and sessions in memory", () => {
  accessConformance(it, async () => createMemoryAccess());
});
