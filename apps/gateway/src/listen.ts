import type { LoadedConfig } from "@signalbox/config";
import { GatewayError } from "@signalbox/home";
import {
  type Auth,
  createAuth,
  type GatewayService,
  type HttpServer,
  ServerError,
  startServer,
} from "@signalbox/server";
import { readResponse } from "./configure/read-response.ts";
import type { GatewayContext } from "./context.ts";

/** Creates the checks of tokens, sessions and sign-ins. They follow changes of the configuration. */
export function createGatewayAuth(ctx: GatewayContext): Auth {
  const { options, store, audit, config, publicAddress, logger, now } = ctx;
  return createAuth({
    token: options.token.value,
    store: store.access,
    kv: store.kv,
    now,
    logger,
    settings: () => config.current().settings.gateway.auth,
    publicUrl: () => publicAddress.resolve("/"),
    onSignIn: (event) => audit.signIn(event),
  });
}

/**
 * Starts the HTTP server at the configured address.
 *
 * @throws GatewayError if the address is in use or not allowed
 */
export async function listen(ctx: GatewayContext, service: GatewayService, auth: Auth): Promise<HttpServer> {
  const { options, config, metrics, logger, now } = ctx;
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
      auth,
      hooks: () => {
        const { secrets, agents } = config.current();
        return { hooks: secrets.hooks, defaultAgent: agents.defaultId };
      },
      onRefused: (door, status) => metrics.refused(door, status),
    });
  } catch (error) {
    if (!(error instanceof ServerError)) throw error;
    throw toGatewayError(loaded, error, error.code === "address_in_use" && (await isGateway(host, port)));
  }
}

/** Time limit for the answer of a program at the address, in milliseconds. */
const PROBE_MS = 1_000;
/** Maximum size of that answer, in bytes. */
const MAX_PROBE_BYTES = 10_000;

/** Returns true if a gateway of Signalbox answers at an address. */
async function isGateway(host: string, port: number): Promise<boolean> {
  const reachable =
    host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "[::1]" : host.includes(":") ? `[${host}]` : host;
  try {
    const response = await fetch(`http://${reachable}:${port}/api/status`, {
      redirect: "error",
      signal: AbortSignal.timeout(PROBE_MS),
    });
    return (
      response.status === 401 && /signalbox/i.test(String(await readResponse(response, MAX_PROBE_BYTES)))
    );
  } catch {
    return false;
  }
}

/** Adds the configuration keys and the remedy to the error. */
function toGatewayError(
  { file }: LoadedConfig,
  { code, message }: ServerError,
  isOtherGateway: boolean,
): GatewayError {
  const text = isOtherGateway
    ? `gateway.port: ${message.replace("another program", "another Signalbox gateway, on another home")}. Stop it, or set another port in this file.`
    : code === "address_in_use"
      ? `gateway.port: ${message}. Stop that program, or set another port in this file.`
      : `gateway.host, gateway.port: ${message}. Use an address of this machine and a port above 1023.`;
  return new GatewayError("unavailable", `${file}: ${text}`);
}
