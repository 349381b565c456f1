import { createInterface } from "node:readline/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { Client, McpServerInfo } from "@signalbox/client";
import { GatewayError } from "@signalbox/home";
import { escapeInvisible } from "@signalbox/tools";
import type { CommonOptions } from "../common-options.ts";
import { print } from "../output.ts";
import { runningGateway } from "../running.ts";
import { printTable, time } from "../table.ts";

/** Interval at which the gateway is asked whether the person has signed in, in milliseconds. */
const POLL_MS = 500;

/**
 * `signalbox mcp login <server>`: prints the page on which to sign in, and waits. If the browser cannot reach the
 * gateway, the person can paste the address at which the browser arrived.
 */
export async function login(
  server: string,
  options: CommonOptions & { readonly issuer?: string },
): Promise<void> {
  const { client } = await runningGateway(options.home);
  const before = await getSignIn(client, server);
  const started = await client.mcpLogin(server, options.issuer);
  if (!started.ok) throw refuse(server, started);
  process.stderr.write(
    `Sign in at ${escapeInvisible(started.issuer)}, within 10 minutes:\n${escapeInvisible(started.url)}\n`,
  );
  const isTerminal = process.stdin.isTTY === true && options.json !== true;
  const stop = new AbortController();
  const asked = isTerminal ? askForAddress(client, server, stop.signal) : undefined;
  const waiting = waitForSignIn(client, server, { before, until: started.expiresAt, signal: stop.signal });
  try {
    await (asked === undefined ? waiting : Promise.race([waiting, asked]));
  } finally {
    stop.abort();
  }
  print(options.json, { server, ...(await getSignIn(client, server)) }, () => [`Signed in to ${server}.`]);
}

/** `signalbox mcp logout <server>`: removes the tokens and revokes them. */
export async function logout(server: string, options: CommonOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const result = await client.mcpLogout(server);
  print(options.json, result, () => [
    result.wasSignedIn ? `Signed out of ${server}.` : `There was no sign-in at ${server}.`,
    ...(result.wasSignedIn && !result.isRevoked
      ? ["The service did not confirm that it revoked the access. You can check your account there."]
      : []),
  ]);
}

/** `signalbox mcp status`: lists the servers of the running gateway with their sign-ins. */
export async function status(options: CommonOptions): Promise<void> {
  const { client } = await runningGateway(options.home);
  const servers = await client.mcpServers();
  printTable(options.json, servers, {
    none: "No MCP servers are configured. Add them under `mcp.servers`.",
    columns: {
      NAME: ({ name }) => name,
      STATE: ({ state, needsSignIn }) => (needsSignIn ? "sign-in needed" : state),
      "SIGN-IN": ({ signIn }) => describeSignIn(signIn),
      NOTES: ({ notes }) => escapeInvisible(notes.join("; ")),
    },
  });
}

function describeSignIn(signIn: McpServerInfo["signIn"]): string {
  if (signIn?.state !== "signed_in") return "";
  const { issuer = "", expiresAt, canRefresh } = signIn;
  const until = canRefresh === true || expiresAt === undefined ? "" : `, until ${time(expiresAt)}`;
  return `${escapeInvisible(issuer)}${until}`;
}

type Refusal = Extract<Awaited<ReturnType<Client["mcpLogin"]>>, { readonly ok: false }>;

function refuse(server: string, { code, message, issuer }: Refusal): GatewayError {
  const remedy =
    code === "foreign_issuer" && issuer !== undefined
      ? ` If you trust it, run \`signalbox mcp login ${server} --issuer ${escapeInvisible(issuer)}\`.`
      : "";
  return new GatewayError("failure", `${server}: ${escapeInvisible(message)}.${remedy}`);
}

async function getSignIn(client: Client, server: string): Promise<McpServerInfo["signIn"]> {
  return (await client.mcpServers()).find(({ name }) => name === server)?.signIn;
}

/** Waits until the sign-in of a server differs from an earlier state. */
async function waitForSignIn(
  client: Client,
  server: string,
  {
    before,
    until,
    signal,
  }: { readonly before: McpServerInfo["signIn"]; readonly until: number; readonly signal: AbortSignal },
): Promise<void> {
  while (Date.now() < until) {
    if (signal.aborted) return;
    await sleep(POLL_MS);
    const now = await getSignIn(client, server);
    if (now?.state === "signed_in" && JSON.stringify(now) !== JSON.stringify(before)) return;
  }
  throw new GatewayError("failure", `${server}: nobody signed in within 10 minutes.`);
}

async function askForAddress(client: Client, server: string, signal: AbortSignal): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const address = await terminal
      .question("If the browser cannot open the last page, paste its address here: ", { signal })
      .catch(() => undefined);
    if (address === undefined) return;
    const result = await client.mcpCallback(server, address.trim());
    if (!result.ok) throw refuse(server, result);
  } finally {
    terminal.close();
  }
}
