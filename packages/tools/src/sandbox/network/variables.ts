import { fileURLToPath } from "node:url";

/** Port on the sandbox's loopback address, where nothing else listens. */
export const PROXY_PORT = 3128;

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;

/** Environment variables that make programs use the proxy. Most programs read at least one of them. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  http_proxy: PROXY,
  https_proxy: PROXY,
  all_proxy: PROXY,
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  ALL_PROXY: PROXY,
  // Read by Node.js 24 and later.
  NODE_USE_ENV_PROXY: "1",
};

/** Returns the path of the file in the built package, because this code may be bundled elsewhere. */
export function getBridgeFile(): string {
  return fileURLToPath(new URL("sandbox/network/bridge-worker.js", import.meta.resolve("@signalbox/tools")));
}
