import { fileURLToPath } from "node:url";

/** Folders that the build puts beside the compiled code. */
export const ASSETS: { readonly consoleDir: string; readonly skillsDir: string } = {
  consoleDir: fileURLToPath(new URL("./assets/console", import.meta.url)),
  skillsDir: fileURLToPath(new URL("./assets/skills", import.meta.url)),
};
