import { randomBytes } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { formatProblem, type LoadedConfig, type Problem } from "@signalbox/config";
import { GatewayError } from "./errors.ts";
import type { Env, Home } from "./layout.ts";
import { textIfThere } from "./readable.ts";

/** The token that clients must present. */
export interface GatewayToken {
  readonly value: string;
  /** Made now, and kept nowhere yet. */
  readonly isNew: boolean;
}

/** The configured token, else the one kept in the home, else a new one of 256 bits. */
export function gatewayToken(loaded: LoadedConfig, home: Home, env: Env): GatewayToken {
  const value = effectiveToken(loaded, home, env);
  return value === undefined
    ? { value: randomBytes(32).toString("base64url"), isNew: true }
    : { value, isNew: false };
}

/** The token that a running gateway asks for; none where no gateway has made one yet. */
export function effectiveToken(loaded: LoadedConfig, home: Home, env: Env): string | undefined {
  return loaded.config.gateway.auth.token ?? tokenBesideConfig(home, env);
}

/** The same without what the configuration says. */
export function tokenBesideConfig(home: Home, env: Env): string | undefined {
  return environmentToken(env) ?? keptToken(home);
}

/**
 * The token that `SIGNALBOX_TOKEN` gives; an empty variable gives none.
 * @throws GatewayError where it could be guessed
 */
function environmentToken(env: Env): string | undefined {
  const token = env["SIGNALBOX_TOKEN"];
  if (!token) return undefined;
  if (token.length >= 16) return token;
  throw new GatewayError("config", "SIGNALBOX_TOKEN is shorter than 16 characters. Set a longer one.");
}

/**
 * The token of an earlier start; an empty file has none.
 * @throws GatewayError where it cannot be read, or is one that a person wrote and that could be guessed
 */
function keptToken({ tokenFile }: Home): string | undefined {
  const token = textIfThere(tokenFile)?.trim();
  if (token === undefined || token === "" || token.length >= 16) return token || undefined;
  const remedy = "Write a longer one, or remove the file to let the gateway create its own.";
  throw new GatewayError("config", `${tokenFile}: the token is shorter than 16 characters. ${remedy}`);
}

/** Keeps a token for later starts, readable by the owner of the home only. */
export function keepToken(home: Home, token: string): void {
  writeFileSync(home.tokenFile, `${token}\n`, { mode: 0o600 });
  chmodSync(home.tokenFile, 0o600);
}

/** Whoever listens for other machines must have chosen a token. */
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

/** @throws GatewayError if other machines could get in without a token that a person chose */
export function refuseOpenListening(loaded: LoadedConfig, env: Env): void {
  const problem = openListeningProblem(loaded, env);
  if (problem !== undefined) throw new GatewayError("config", formatProblem(problem));
}

/**
 * A guessable token keeps no one out, not even on the loopback interface.
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

/** Where a token comes from that the configuration does not have. */
export function unconfiguredToken(env: Env, home: Pick<Home, "tokenFile">): string {
  return environmentToken(env) === undefined ? `the token in ${home.tokenFile}` : "SIGNALBOX_TOKEN";
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
