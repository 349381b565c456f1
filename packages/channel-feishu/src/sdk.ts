import { createRequire } from "node:module";
import type { Logger } from "@larksuiteoapi/node-sdk";
import { missingPackage } from "@signalbox/channel";

/**
 * The vendor's SDK, loaded at the first call. It is one CommonJS file of six megabytes: `import()` would read it once
 * more for the names of its exports, and keep what that takes, some 15 MB, for good.
 */
export function loadSdk(): typeof import("@larksuiteoapi/node-sdk") {
  try {
    return createRequire(import.meta.url)("@larksuiteoapi/node-sdk");
  } catch (error) {
    throw missingPackage(error, "@larksuiteoapi/node-sdk") ?? error;
  }
}

/**
 * For the SDK's own log lines: they go to standard output and carry credentials, and what matters of them comes as an
 * error. Its log level cannot silence it: `fatal` is 0, which it takes for none given.
 */
export const silent: Logger = {
  error: () => {},
  warn: () => {},
  info: () => {},
  debug: () => {},
  trace: () => {},
};

/** Loads the SDK and makes a client: the first one takes longer than all later ones, as it has a class for each API. */
export function prepareSdk(): void {
  const lark = loadSdk();
  new lark.Client({ appId: "none", appSecret: "none", logger: silent });
}
