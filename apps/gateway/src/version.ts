import { readFileSync } from "node:fs";

/** The version of this package. `0.0.0` in a checkout. */
export const VERSION: string = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
).version;
