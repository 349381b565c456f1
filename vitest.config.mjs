import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import { root, workspaceMembers } from "./scripts/workspace.mjs";

const members = workspaceMembers().map(({ folder, manifest }) => {
  const own = join(folder, "vitest.config.ts");
  return {
    root: folder,
    extends: existsSync(own) ? own : false,
    test: { name: manifest.name, setupFiles: [join(root, "scripts", "seed.mjs")] },
  };
});

export default defineConfig({
  test: { projects: [...members, { test: { name: "repository", include: ["scripts/**/*.test.mjs"] } }] },
});
