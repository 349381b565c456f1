import { createRequire } from "node:module";

/**
 * The vendor's SDK, loaded at the first call. It is one CommonJS file of six megabytes: `import()` would read it once
 * more for the names of its exports, and keep what that takes, some 15 MB, for good.
 */
export function loadSdk(): typeof import("@larksuiteoapi/node-sdk") {
  return createRequire(import.meta.url)("@larksuiteoapi/node-sdk");
}
