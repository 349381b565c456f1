import { fileURLToPath } from "node:url";

/** What the build puts beside the compiled code. */
export const ASSETS: {
  readonly consoleDir: string;
  readonly skillsDir: string;
  /** What Node.js runs as `signalbox`. */
  readonly program: string;
} = {
  consoleDir: fileURLToPath(new URL("./assets/console", import.meta.url)),
  program: fileURLToPath(new URL("./signalbox.js", import.meta.url)),
  skillsDir: fileURLToPath(new URL("./assets/skills", import.meta.url)),
};
