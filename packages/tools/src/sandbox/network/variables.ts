import { fileURLToPath } from "node:url";

/** On the loopback address of a sandbox, which nothing else is on. */
export const PROXY_PORT = 3128;

const PROXY = `http://127.0.0.1:${PROXY_PORT}`;

/** How programs are told of the proxy: most read one of these. */
export const PROXY_VARIABLES: Readonly<Record<string, string>> = {
  http_proxy: PROXY,
  https_proxy: PROXY,
  all_proxy: PROXY,
  HTTP_PROXY: PROXY,
  HTTPS_PROXY: PROXY,
  ALL_PROXY: PROXY,
  // Node.js from 24 on.
  NODE_USE_ENV_PROXY: "1",
};

/** Beside the built package, wherever this code has been bundled to. */
export function bridgeFile(): string {
  return fileURLToPath(new URL("sandbox/network/bridge-worker.js", import.meta.resolve("@signalbox/tools")));
}
