import { describe, it } from "vitest";
import { createMemoryAccess } from "../src/index.ts";
import { accessConformance } from "../src/testkit/index.ts";

describe("createMemoryAccess", () => {
  accessConformance(it, async () => createMemoryAccess());
});
