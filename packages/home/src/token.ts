import { randomBytes } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { formatProblem, type LoadedConfig, type Problem } from "@signalbox/config";
import { GatewayError } from "./errors.ts";
import type { Env, Home } from "./layout.ts";
import { textIfThere } from "./readable.ts";

/** The token that clients must present. */
export interface GatewayToken {
  readonly value: string;
  /** True if it was created now and is not stored yet. */
  readonly isNew: boolean;
}

/** Returns the configured token, else the one stored in the home, else a new one of 256 bits. */
export function gatewayToken(loaded: LoadedConfig, home: Home, env: Env): GatewayToken {
  const value = effectiveToken(loaded, home, env);
  return value === undefined
    ? { value: randomBytes(32).toString("base64url"), isNew: true }
    : { value, isNew: false };
}

/** Returns the token that a running gateway requires, if a gateway created one already. */
export function effectiveToken(loaded: LoadedConfig, home: Home, env: Env): string | undefined {
  return loaded.config.gateway.auth.token ?? tokenBesideConfig(home, env);
}

/** Returns the token of the environment or the home, ignoring the configuration. */
export function tokenBesideConfig(home: Home, env: Env): string | undefined {
  return environmentToken(env) ?? readStoredToken(home);
}

/**
 * Returns the token in `SIGNALBOX_TOKEN`, unless it is empty.
 *
 * @throws GatewayError if it is too short
 */
function environmentToken(env: Env): string | undefined {
  const token = env["SIGNALBOX_TOKEN"];
  if (!token) return undefined;
  if (token.length >= 16) return token;
  throw new GatewayError("config", "SIGNALBOX_TOKEN is shorter than 16 characters. Set a longer one.");
}

/**
 * Returns the token stored in the home, unless the file is empty.
 *
 * @throws GatewayError if the file cannot be read, or if its token is too short
 */
function readStoredToken({ tokenFile }: Home): string | undefined {
  const token = textIfThere(tokenFile)?.trim();
  if (token === undefined || token === "" || token.length >= 16) return token || undefined;
  const remedy = "Write a longer one, or remove the file to let the gateway create its own.";
  throw new GatewayError("config", `${tokenFile}: the token is shorter than 16 characters. ${remedy}`);
}

/** Stores a token for later starts, readable by the owner of the home only. */
export function storeToken(home: Home, token: string): void {
  writeFileSync(home.tokenFile, `${token}\n`, { mode: 0o600 });
  chmodSync(home.tokenFile, 0o600);
}

/** Returns a problem if other machines can reach the gateway and no token is configured. */
export function openListeningProblem(loaded: LoadedConfig, env: Env): Problem | undefined {
  const { host, auth } = loaded.config.gateway;
  if (isLoopback(host) || auth.token !== undefined || environmentToken(env) !== undefined) return undefined;
  return loaded.problem(["gateway", "host"], {
    severity: "error",
    message: `${host} can be reached from other machines, but no token is set`,
    remedy: "Set gateway.auth.token or SIGNALBOX_TOKEN, or listen on 127.0.0.1.",
    disables: "the gateway",
  });
}

/** @throws GatewayError if other machines can reach the gateway and no token is configured */
export function refuseOpenListening(loaded: LoadedConfig, env: Env): void {
  const problem = openListeningProblem(loaded, env);
  if (problem !== undefined) throw new GatewayError("config", formatProblem(problem));
}

/**
 * Refuses a token that is easy to guess, even on the loopback interface.
 *
 * @throws GatewayError
 */
export function refuseGuessableToken(
  guessable: boolean,
  { file, config }: LoadedConfig,
  env: Env,
  home: Home,
): void {
  if (!guessable) return;
  const which =
    config.gateway.auth.token === undefined ? unconfiguredToken(env, home) : `${file}: gateway.auth.token`;
  throw new GatewayError(
    "config",
    `${which} is easy to guess: it consists of words, patterns or repetitions. Create one with \`openssl rand -base64 32\`, or remove it to let the gateway create its own.`,
  );
}

/** Names the source of a token that is not in the configuration, for messages. */
export function unconfiguredToken(env: Env, home: Pick<Home, "tokenFile">): string {
  return environmentToken(env) === undefined ? `the token in ${home.tokenFile}` : "SIGNALBOX_TOKEN";
}

/** Returns true if the address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
