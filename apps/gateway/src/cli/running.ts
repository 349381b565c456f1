import { existsSync } from "node:fs";
import { type Client, createClient } from "@signalbox/client";
import { ConfigError } from "@signalbox/config";
import {
  effectiveToken,
  GatewayError,
  type Home,
  isThere,
  locateHome,
  readConfig,
  tokenBesideConfig,
} from "@signalbox/home";
import { readHomeHolder } from "@signalbox/store";
import { formatCommand } from "./format-command.ts";

/** Sends a request to the gateway that is running on a home. Returns the response. */
export type Tell = (path: string) => Promise<unknown>;

/** Contents of the file next to the lock, including the URL of the running gateway. */
export interface Running {
  readonly url: string;
  readonly pid: number;
}

/**
 * Creates a client for the gateway that is running on this home.
 *
 * @throws GatewayError if no gateway is running, if it does not respond within 10 s, or if the configuration is invalid
 */
export async function runningGateway(
  homeOption: string | undefined,
): Promise<{ client: Client; running: Running; tell: Tell }> {
  const home = locateHome(homeOption, process.env);
  const lockHolder = isThere(home.dir) ? readHomeHolder(home.dir) : undefined;
  const holder = lockHolder === "unknown" ? undefined : lockHolder;
  const details = holder?.details;
  const url = isRecord(details) && typeof details["url"] === "string" ? details["url"] : undefined;
  const token = holder && tokenToAskBy(home, holder.pid);
  if (holder === undefined || url === undefined || token === undefined)
    throw new GatewayError(
      "unavailable",
      `No gateway is running on ${home.dir}. Start one with ${formatCommand(home, "start")}.`,
    );
  if (!(await answers(url)))
    throw new GatewayError(
      "unavailable",
      `The gateway on ${home.dir}, process ${holder.pid}, does not respond at ${url}. Check its log, or restart it.`,
    );
  return {
    client: createClient({ baseUrl: url, token }),
    running: { url, pid: holder.pid },
    tell: (path) => tell(url, path, token),
  };
}

/**
 * Reads the token, which may be in the configuration. If the configuration is now invalid, the gateway still uses the
 * last valid one.
 */
function tokenToAskBy(home: Home, pid: number): string | undefined {
  try {
    return effectiveToken(readConfig(home, process.env), home, process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const token = tokenBesideConfig(home, process.env);
    if (token !== undefined) return token;
    const goesOn = `Process ${pid} is using this home with the configuration it last read; it cannot be queried while the file is broken.`;
    throw new GatewayError("config", `${error.message}\n${goesOn}`, { cause: error });
  }
}

/** Reasons for which a running gateway accepts no messages, by the code in the response of `/readyz`. */
const REFUSALS: Readonly<Record<string, string>> = {
  disk_full: "its disk is full",
  locked: "another process keeps its database locked",
  unreachable: "its database server cannot be reached",
};

/** Returns the reason for which the running gateway accepts no messages, or undefined if it accepts them. */
export async function readRefusal({ url }: Pick<Running, "url">): Promise<string | undefined> {
  const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000), redirect: "error" });
  if (response.ok) return undefined;
  const body: unknown = await response.json().catch(() => undefined);
  const code = isRecord(body) && typeof body["code"] === "string" ? body["code"] : undefined;
  if (code === undefined) return "it is stopping";
  return REFUSALS[code] ?? `its database fails (${code})`;
}

/** Returns true if a gateway holds the home's lock, whether or not it is reachable. */
export function isHeld(homeOption: string | undefined): boolean {
  const home = locateHome(homeOption, process.env);
  return existsSync(home.dir) && readHomeHolder(home.dir) !== undefined;
}

/** Sends a request without a time limit, because the operation may take long on a large database. */
async function tell(url: string, path: string, token: string): Promise<unknown> {
  const response = await fetch(`${url}/api/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
    redirect: "error",
  });
  if (response.ok) return response.status === 204 ? undefined : await response.json();
  const reason = await readRefusal({ url }).catch(() => undefined);
  const explained = reason === undefined ? "" : `: ${reason}`;
  throw new GatewayError(
    "failure",
    `The gateway at ${url} answered ${response.status} to ${path}${explained}.`,
  );
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(10_000) });
    return response.ok;
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
