import type { HookConfig, LoadedConfig } from "@signalbox/config";
import {
  type AccessStore,
  createAuth,
  type Door,
  type GatewayService,
  type HttpServer,
  ServerError,
  type SignInEvent,
  startServer,
} from "@signalbox/server";
import { EXIT, GatewayError } from "../errors.ts";
import type { Logger } from "../log.ts";

export interface ListenOptions {
  readonly loaded: LoadedConfig;
  readonly service: GatewayService;
  readonly token: string;
  /** Tokens of clients, and sessions of browsers. */
  readonly access: AccessStore;
  readonly hooks: Readonly<Record<string, HookConfig>>;
  readonly defaultAgent: string;
  /** The built console. */
  readonly pageDir: string;
  readonly logger: Logger;
  readonly now: () => number;
  /** Told of each request that is refused. */
  readonly onRefused: (door: Door, status: number) => void;
  /** Told of each browser that signs in or out. */
  readonly onSignIn: (event: SignInEvent) => void;
}

/**
 * Listens where the configuration says.
 * @throws GatewayError where the address is taken or not allowed
 */
export async function listen(options: ListenOptions): Promise<HttpServer> {
  const { loaded, token, access, hooks, defaultAgent, onSignIn, now } = options;
  const { host, port, allowedHosts } = loaded.config.gateway;
  const { service, pageDir, logger, onRefused } = options;
  try {
    return await startServer({
      ...{ host, port, allowedHosts, service, pageDir, logger, onRefused, now },
      auth: createAuth({ token, store: access, now, onSignIn }),
      hooks: { hooks, defaultAgent },
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
