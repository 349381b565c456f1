import { defineConfig } from "vitest/config";

// Commands are started and files flushed; on a busy machine that takes its time.
export default defineConfig({ test: { testTimeout: 60_000 } });
