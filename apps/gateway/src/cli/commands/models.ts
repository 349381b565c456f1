import { createServer } from "node:http";
import { createInterface } from "node:readline/promises";
import { GatewayError, openVault } from "@signalbox/home";
import {
  CALLBACK_PATH,
  CALLBACK_PORTS,
  CHATGPT_URL,
  type ChatGptSignIn,
  createChatGptSignIn,
  SubscriptionError,
  type SubscriptionTokens,
} from "../../configure/subscriptions/chatgpt.ts";
import { openSubscriptions, type SubscriptionStore } from "../../configure/subscriptions/credentials.ts";
import { MAY_END } from "../../configure/subscriptions/problems.ts";
import type { CommonOptions } from "../common-options.ts";
import { configuredHome } from "../configured-home.ts";
import { print } from "../output.ts";

/** Time limit for a sign-in, in milliseconds. */
const SIGN_IN_MS = 600_000;

/** `signalbox models login <provider>`: signs in with a subscription, in a browser. */
export async function login(provider: string, options: CommonOptions): Promise<void> {
  const { baseUrl, store } = openProvider(provider, options);
  process.stderr.write(`${MAY_END}: give each agent a fallback that does not need it.\n`);
  const isTerminal = process.stdin.isTTY === true && options.json !== true;
  const tokens = await signInWithBrowser(createChatGptSignIn(), {
    ports: CALLBACK_PORTS,
    show: (url) => void process.stderr.write(`Sign in within 10 minutes:\n${url}\n`),
    ask: isTerminal ? askForAddress : undefined,
    signal: AbortSignal.timeout(SIGN_IN_MS),
  });
  await store.lock(provider, () => store.set(provider, { ...tokens, baseUrl }));
  print(options.json, { provider, signedIn: true }, () => [`Signed in: ${provider}.`]);
}

/** `signalbox models logout <provider>`: removes the tokens and revokes them. */
export async function logout(provider: string, options: CommonOptions): Promise<void> {
  const { baseUrl, store } = openProvider(provider, options);
  const result = await signOut(createChatGptSignIn(), { provider, baseUrl, store });
  print(options.json, { provider, ...result }, () => [
    result.wasSignedIn ? `Signed out: ${provider}.` : `Nobody was signed in: ${provider}.`,
    ...(result.wasSignedIn && !result.isRevoked
      ? ["The vendor did not confirm that it revoked the access. You can check your account there."]
      : []),
  ]);
}

export async function signOut(
  signIn: ChatGptSignIn,
  {
    provider,
    baseUrl,
    store,
  }: { readonly provider: string; readonly baseUrl: string; readonly store: SubscriptionStore },
): Promise<{ readonly wasSignedIn: boolean; readonly isRevoked: boolean }> {
  return store.lock(provider, async () => {
    const credentials = await store.get(provider, baseUrl);
    await store.set(provider, undefined);
    const isRevoked = credentials !== undefined && (await signIn.revoke(credentials));
    return { wasSignedIn: credentials !== undefined, isRevoked };
  });
}

interface BrowserSignIn {
  /** Ports of the redirect URI. The first free one is used. */
  readonly ports: readonly number[];
  readonly show: (url: string) => void;
  /** Asks for the address at which the browser arrived. Absent without a terminal. */
  readonly ask?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
  readonly signal: AbortSignal;
}

/**
 * Waits until the browser returns to this machine, or until the person pastes the address at which it arrived.
 *
 * @throws GatewayError if the sign-in fails
 */
export async function signInWithBrowser(
  signIn: ChatGptSignIn,
  { ports, show, ask, signal }: BrowserSignIn,
): Promise<SubscriptionTokens> {
  const stop = new AbortController();
  const listener = await listenForCallback(ports, AbortSignal.any([signal, stop.signal]));
  const port = listener?.port ?? ports[0];
  if (port === undefined || (listener === undefined && ask === undefined))
    throw new GatewayError("failure", `The ports ${ports.join(" and ")} are in use. Run this in a terminal.`);
  try {
    const started = await signIn.start(port);
    show(started.url);
    const pasted = ask?.(AbortSignal.any([signal, stop.signal])).then(parseAddress);
    const callback = await Promise.race([listener?.callback, pasted].filter((each) => each !== undefined));
    return await started.finish(callback);
  } catch (error) {
    if (signal.aborted) throw new GatewayError("failure", "Nobody signed in within 10 minutes.");
    if (error instanceof SubscriptionError) throw new GatewayError("failure", `${error.message}.`);
    throw error;
  } finally {
    stop.abort();
  }
}

/** Listens on the first free port of loopback. Returns undefined if none is free. */
async function listenForCallback(
  ports: readonly number[],
  signal: AbortSignal,
): Promise<{ readonly port: number; readonly callback: Promise<URL> } | undefined> {
  for (const wanted of ports) {
    const server = createServer();
    const port = await new Promise<number | undefined>((resolve) => {
      server.once("error", () => resolve(undefined));
      server.listen(wanted, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" ? address?.port : undefined);
      });
    });
    if (port === undefined) continue;
    const callback = new Promise<URL>((resolve, reject) => {
      server.on("request", (request, response) => {
        const url = URL.parse(request.url ?? "", `http://localhost:${port}`);
        const isCallback = url?.pathname === CALLBACK_PATH;
        response.writeHead(isCallback ? 200 : 404, { "content-type": "text/plain", connection: "close" });
        response.end(isCallback ? "You can close this page and return to the terminal." : "");
        if (isCallback) resolve(url);
      });
      signal.addEventListener("abort", () => {
        server.close();
        reject(new GatewayError("failure", "The sign-in was cancelled."));
      });
    });
    // The paste may end the sign-in first.
    callback.catch(() => undefined);
    return { port, callback };
  }
  return undefined;
}

function parseAddress(text: string | undefined): URL {
  const url = URL.parse(text?.trim() ?? "");
  if (url === null)
    throw new GatewayError("usage", "This is no address. Paste the whole address from the browser.");
  return url;
}

async function askForAddress(signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question("If the browser cannot open the last page, paste its address here: ", {
      signal,
    });
  } finally {
    terminal.close();
  }
}

function openProvider(provider: string, options: CommonOptions) {
  const { home, loaded } = configuredHome(options);
  const configured = loaded.config.models.providers[provider];
  if (configured?.subscription === undefined)
    throw new GatewayError(
      "usage",
      `models.providers.${provider} has no \`subscription\`. Set it to chatgpt in the configuration.`,
    );
  return {
    baseUrl: configured.baseUrl ?? CHATGPT_URL,
    store: openSubscriptions(home, openVault(loaded, process.env)),
  };
}
