import { readFileSync } from "node:fs";

/** The version of this package. */
export const VERSION: string = readVersion();

function readVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const version =
    manifest !== null && typeof manifest === "object" && "version" in manifest ? manifest.version : undefined;
  return typeof version === "string" ? version : "0.0.0";
}
