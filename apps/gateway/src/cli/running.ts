import { existsSync } from "node:fs";
import { type Client, createClient } from "@signalbox/client";
import { readHomeHolder } from "@signalbox/store";
import { EXIT, GatewayError } from "../errors.ts";
import { locateHome } from "../home.ts";
import { effectiveToken, readConfig } from "../settings.ts";

/** What a running gateway writes beside its lock: where it listens. */
export interface Running {
  readonly url: string;
  readonly pid: number;
}

/**
 * A client of the gateway that runs on this home.
 * @throws GatewayError where none runs
 */
export async function runningGateway(
  homeOption: string | undefined,
): Promise<{ client: Client; running: Running }> {
  const home = locateHome(homeOption, process.env);
  const found = existsSync(home.dir) ? readHomeHolder(home.dir) : undefined;
  const holder = found === "unknown" ? undefined : found;
  const details = holder?.details;
  const url = isRecord(details) && typeof details["url"] === "string" ? details["url"] : undefined;
  if (holder && url !== undefined && (await answers(url))) {
    const token = effectiveToken(readConfig(home, process.env), home, process.env);
    return { client: createClient({ baseUrl: url, token }), running: { url, pid: holder.pid } };
  }
  throw new GatewayError(
    EXIT.unavailable,
    `No gateway runs on ${home.dir}. Start one with \`signalbox start\`.`,
  );
}

async function answers(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2_000) });
    return response.ok;
  } catch {
    return false;
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
