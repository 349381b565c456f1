import { fileURLToPath } from "node:url";

/** Files that the build places next to the compiled code. */
export const ASSETS: {
  readonly consoleDir: string;
  /** Folder of the repository's documentation. */
  readonly docsDir: string;
  readonly skillsDir: string;
  /** Entry file of the command line. */
  readonly program: string;
} = {
  consoleDir: fileURLToPath(new URL("./assets/console", import.meta.url)),
  docsDir: fileURLToPath(new URL("./assets/docs", import.meta.url)),
  program: fileURLToPath(new URL("./signalbox.js", import.meta.url)),
  skillsDir: fileURLToPath(new URL("./assets/skills", import.meta.url)),
};
