import type { LoadedConfig } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import {
  createAuth,
  type GatewayService,
  type HttpServer,
  ServerError,
  startServer,
} from "@signalbox/server";
import type { GatewayContext } from "./context.ts";

/**
 * Starts the HTTP server at the configured address.
 *
 * @throws GatewayError if the address is in use or not allowed
 */
export async function listen(ctx: GatewayContext, service: GatewayService): Promise<HttpServer> {
  const { options, store, audit, config, metrics, logger, now } = ctx;
  const { loaded, consoleDir: pageDir } = options;
  const { host, port } = loaded.config.gateway;
  try {
    return await startServer({
      host,
      port,
      allowedHosts: () => config.current().settings.gateway.allowedHosts,
      service,
      pageDir,
      logger,
      now,
      auth: createAuth({
        token: options.token.value,
        store: store.access,
        kv: store.kv,
        now,
        onSignIn: (event) => audit.signIn(event),
      }),
      hooks: () => {
        const { secrets, agents } = config.current();
        return { hooks: secrets.hooks, defaultAgent: agents.defaultId };
      },
      onRefused: (door, status) => metrics.refused(door, status),
    });
  } catch (error) {
    throw error instanceof ServerError ? toGatewayError(loaded, error) : error;
  }
}

/** Adds the configuration keys and the remedy to the error. */
function toGatewayError({ file }: LoadedConfig, { code, message }: ServerError): GatewayError {
  const text =
    code === "address_in_use"
      ? `gateway.port: ${message}. Stop that program, or set another port in this file.`
      : `gateway.host, gateway.port: ${message}. Use an address of this machine and a port above 1023.`;
  return new GatewayError("unavailable", `${file}: ${text}`);
}
