import { createServer } from "node:http";
import { createInterface } from "node:readline/promises";
import { GatewayError } from "@signalbox/home";
import {
  CALLBACK_PATH,
  type ChatGptSignIn,
  type SubscriptionTokens,
} from "../../configure/subscriptions/chatgpt.ts";
import { SubscriptionError } from "../../configure/subscriptions/errors.ts";

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

/** Asks at the terminal for the address at which the browser arrived. */
export async function askForAddress(signal: AbortSignal): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question("If the browser cannot open the last page, paste its address here: ", {
      signal,
    });
  } finally {
    terminal.close();
  }
}
