import type { LoadedConfig } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import {
  createAuth,
  type GatewayService,
  type HttpServer,
  ServerError,
  startServer,
} from "@signalbox/server";
import type { Parts } from "./surroundings.ts";

/**
 * Listens where the configuration says.
 * @throws GatewayError where the address is taken or not allowed
 */
export async function listen(
  { options, opened, surroundings, configuration, now }: Parts,
  service: GatewayService,
): Promise<HttpServer> {
  const { loaded, logger, consoleDir: pageDir } = options;
  const { host, port } = loaded.config.gateway;
  const { store, audit } = opened;
  try {
    return await startServer({
      host,
      port,
      allowedHosts: () => configuration.config().gateway.allowedHosts,
      service,
      pageDir,
      logger,
      now,
      auth: createAuth({
        token: options.token.value,
        store: store.access,
        now,
        onSignIn: (event) => audit.signIn(event),
      }),
      hooks: configuration.derived(({ resolved }) => ({
        hooks: resolved.secrets.hooks,
        defaultAgent: resolved.agents.defaultId,
      })),
      onRefused: (door, status) => surroundings.metrics.refused(door, status),
    });
  } catch (error) {
    throw error instanceof ServerError ? inWordsOf(loaded, error) : error;
  }
}

/** What the operator can do about it. */
function inWordsOf({ file }: LoadedConfig, { code, message }: ServerError): GatewayError {
  const said =
    code === "address_in_use"
      ? `gateway.port: ${message}. Stop that program, or set another port in this file.`
      : `gateway.host, gateway.port: ${message}. Use an address of this machine and a port above 1023.`;
  return new GatewayError("unavailable", `${file}: ${said}`);
}
