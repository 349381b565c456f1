import { mkdtemp, realpath, rm } from "node:fs/promises";
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import { connect, isIP, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Duplex, pipeline } from "node:stream";
import { reasonOf } from "@signalbox/agent-core";
import { isPublicAddress } from "../../web/address.ts";
import { type Resolve, systemResolve } from "../../web/resolve.ts";
import { isListed, parseAuthority, parseProxyUrl, type Target } from "./domains.ts";

/** The only connection from a sandboxed program to the network. */
export interface EgressProxy {
  /** Path of the Unix socket on which the proxy listens. */
  readonly socket: string;
  /** Closes the proxy and all of its connections. */
  close(): Promise<void>;
}

export interface DomainProxyOptions {
  /** See {@link isListed}. */
  readonly domains: readonly string[];
  readonly resolve?: Resolve;
  /** Returns true for IP addresses that may be reached. Default: addresses of public hosts. */
  readonly isOpen?: (address: string) => boolean;
}

export type OpenDomainProxy = (domains: readonly string[]) => Promise<EgressProxy>;

interface EgressProxyOptions {
  /**
   * Checks the destination of a connection and returns the addresses of its host.
   *
   * @throws RefusedError if the program may not connect to it
   */
  readonly check: (target: Target, signal: AbortSignal) => Promise<readonly string[]>;
  /** Maximum number of bytes that one connection may receive. Default: unlimited. */
  readonly maxBytes?: number;
}

const MAX_CONNECTIONS = 64;
const CONNECT_MS = 10_000;
/**
 * Hop-by-hop headers, which are not forwarded. Trailers are not forwarded either, so the header that announces them is
 * removed as well.
 */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
]);

/** Opens a proxy to the listed hosts. All addresses of a host must be public. See {@link openEgressProxy}. */
export function openDomainProxy(options: DomainProxyOptions): Promise<EgressProxy> {
  return openEgressProxy({ check: (target, signal) => checkDomain(options, target, signal) });
}

/**
 * Opens a proxy for HTTP requests and `CONNECT` tunnels. The name of each connection is resolved and checked once, and
 * the connection uses one of the checked addresses. A later change of the DNS record has no effect.
 */
export async function openEgressProxy(options: EgressProxyOptions): Promise<EgressProxy> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "signalbox-proxy-")));
  const socket = join(folder, "socket");
  const sockets = new Set<Duplex>();
  const reach: Reach = (target, signal) => reachTarget(options, target, signal);
  const server = createServer((incoming, response) => void forward(incoming, response, reach));
  server.maxConnections = MAX_CONNECTIONS;
  server.on("connection", (client) => void sockets.add(client.once("close", () => sockets.delete(client))));
  server.on("connect", (incoming, client) => void tunnel(incoming, client, reach));
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(socket, resolve);
  });
  return {
    socket,
    async close() {
      for (const client of sockets) client.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A refused connection. The message is written for the program. */
export class RefusedError extends Error {}

async function checkDomain(
  { domains, resolve = systemResolve, isOpen = isPublicAddress }: DomainProxyOptions,
  target: Target,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { host, port } = target;
  if (!isListed(domains, target))
    throw new RefusedError(`${host}:${port} is not among the hosts that commands may reach.`);
  const addresses = isIP(host) === 0 ? await resolve(host, signal) : [host];
  if (addresses.length === 0 || !addresses.every(isOpen))
    throw new RefusedError(
      `${host} does not resolve to a public address, so commands may not connect to it.`,
    );
  return addresses;
}

async function reachTarget(
  { check, maxBytes }: EgressProxyOptions,
  target: Target,
  signal: AbortSignal,
): Promise<Socket> {
  const { host, port } = target;
  const [address] = await check(target, signal);
  if (address === undefined) throw new RefusedError(`${host} has no address.`);
  signal.throwIfAborted();
  return new Promise((done, reject) => {
    const upstream = connect({ host: address, port, signal, timeout: CONNECT_MS });
    upstream.once("error", reject);
    upstream.once("timeout", () => upstream.destroy(new Error(`${host} does not respond.`)));
    upstream.once("connect", () => {
      upstream.setTimeout(0);
      upstream.off("error", reject);
      if (maxBytes !== undefined) limitBytes(upstream, maxBytes);
      done(upstream);
    });
  });
}

/** Closes a connection that receives more than a number of bytes. */
function limitBytes(upstream: Socket, maxBytes: number): void {
  upstream.on("data", () => {
    if (upstream.bytesRead > maxBytes)
      upstream.destroy(new Error(`The host sent more than ${maxBytes} bytes.`));
  });
}

/** Connects to a target. The connection is closed when the signal is aborted. */
type Reach = (target: Target, signal: AbortSignal) => Promise<Socket>;

/**
 * Returns a signal that is aborted when a client closes. A page can close any number of requests while their hosts are
 * looked up, and all browsers share the lookups.
 */
function endWith(client: Duplex | ServerResponse): AbortSignal {
  const ending = new AbortController();
  const end = (): void => ending.abort(new Error("the program has closed the connection"));
  if (client.destroyed) end();
  else client.once("close", end);
  return ending.signal;
}

/** Handles `CONNECT host:port`. */
async function tunnel(incoming: IncomingMessage, client: Duplex, reach: Reach): Promise<void> {
  client.on("error", () => client.destroy());
  try {
    const target = parseAuthority(incoming.url ?? "");
    if (target === undefined) throw new RefusedError("Connect to host:port.");
    const upstream = await reach(target, endWith(client));
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    upstream.on("error", () => client.destroy()).on("close", () => client.destroy());
    upstream.pipe(client).pipe(upstream);
  } catch (error) {
    const text = `${reasonOf(error)}\n`;
    const head = `HTTP/1.1 ${getStatus(error)}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n`;
    client.end(head + text);
  }
}

/** Handles a request with an absolute URL, which is the form in which proxies receive plain HTTP requests. */
async function forward(incoming: IncomingMessage, response: ServerResponse, reach: Reach): Promise<void> {
  try {
    const target = parseProxyUrl(incoming.url ?? "");
    if (target === undefined) throw new RefusedError("Use an absolute URL that begins with http://.");
    const upstream = await reach(target, endWith(response));
    const headers = { ...withoutHopHeaders(incoming.headers), host: target.url.host, connection: "close" };
    const path = `${target.url.pathname}${target.url.search}`;
    const forwarded = request({ method: incoming.method, path, headers, createConnection: () => upstream });
    forwarded.on("response", (answer) => sendBack(answer, response));
    forwarded.on("error", (error) => refuse(response, error));
    incoming.pipe(forwarded);
  } catch (error) {
    refuse(response, error);
  }
}

function sendBack(answer: IncomingMessage, response: ServerResponse): void {
  const { statusCode = 0 } = answer;
  try {
    if (statusCode < 200 || statusCode > 599)
      throw new Error(`The host responded with the invalid status ${statusCode}.`);
    response.writeHead(statusCode, withoutHopHeaders(answer.headers));
    // If the host truncates its response, the client also gets a truncated response.
    pipeline(answer, response, () => {});
  } catch (error) {
    // An exception in an event handler would end the process.
    refuse(response, error);
  }
}

function withoutHopHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name)));
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const [code] = getStatus(error).split(" ");
  response.writeHead(Number(code), { "content-type": "text/plain" }).end(`${reasonOf(error)}\n`);
}

function getStatus(error: unknown): string {
  return error instanceof RefusedError ? "403 Forbidden" : "502 Bad Gateway";
}
