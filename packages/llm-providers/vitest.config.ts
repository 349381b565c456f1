import { defineConfig } from "vitest/config";

// Some tests cut a recording thousands of times, which takes seconds where other work has the processor.
export default defineConfig({ test: { testTimeout: 60_000 } });
