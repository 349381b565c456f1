import type { LoadedConfig } from "@signalbox/config";
import {
  createAuth,
  type GatewayService,
  type HttpServer,
  ServerError,
  startServer,
} from "@signalbox/server";
import type { KvStore } from "@signalbox/store";
import { EXIT, GatewayError } from "./errors.ts";
import type { Logger } from "./log.ts";

export interface ListenOptions {
  readonly loaded: LoadedConfig;
  readonly service: GatewayService;
  readonly token: string;
  readonly kv: KvStore;
  readonly defaultAgent: string;
  /** The built console. */
  readonly pageDir: string;
  readonly logger: Logger;
  readonly now: () => number;
}

/** Sessions of browsers that were ended, in the store. */
const ENDED_SESSIONS = "server/ended-sessions";

/**
 * Listens where the configuration says.
 * @throws GatewayError where the address is taken or not allowed
 */
export async function listen(options: ListenOptions): Promise<HttpServer> {
  const { loaded, kv, now } = options;
  const { gateway, hooks } = loaded.config;
  const revocations = {
    list: async () => (await kv.list(ENDED_SESSIONS)).map(({ key }) => key),
    add: (id: string, ttlMs: number) => kv.set(ENDED_SESSIONS, id, true, ttlMs),
  };
  try {
    return await startServer({
      host: gateway.host,
      port: gateway.port,
      allowedHosts: gateway.allowedHosts,
      service: options.service,
      auth: await createAuth({ token: options.token, revocations, now }),
      hooks: { hooks, defaultAgent: options.defaultAgent },
      pageDir: options.pageDir,
      logger: options.logger,
      now,
    });
  } catch (error) {
    throw error instanceof ServerError ? inWordsOf(loaded, error) : error;
  }
}

/** What the operator can do about it. */
function inWordsOf({ file }: LoadedConfig, { code, message }: ServerError): GatewayError {
  const said =
    code === "address_in_use"
      ? `gateway.port: ${message}. Set another gateway.port, or stop that program.`
      : `gateway.host, gateway.port: ${message}. Use an address of this machine and a port above 1023.`;
  return new GatewayError(EXIT.unavailable, `${file}: ${said}`);
}
