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
import { isListed, readAddress, readAuthority, type Target } from "./domains.ts";

/** The one way from a command to the network. */
export interface DomainProxy {
  /** Path of the Unix socket that it listens on. */
  readonly socket: string;
  /** Ends it, with every connection that goes through it. */
  close(): Promise<void>;
}

export interface DomainProxyOptions {
  /** See {@link isListed}. */
  readonly domains: readonly string[];
  readonly resolve?: Resolve;
  /** Which addresses may be connected to; default those of public hosts. */
  readonly isOpen?: (address: string) => boolean;
}

export type OpenDomainProxy = (domains: readonly string[]) => Promise<DomainProxy>;

const MAX_CONNECTIONS = 64;
const CONNECT_MS = 10_000;
/** Of one hop alone, and not for whoever is behind the proxy. No trailers are passed on, so none are announced. */
const HOP_HEADERS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "upgrade",
]);

/**
 * A proxy for HTTP and for what connects through it, to the hosts of a list alone. A name is resolved here, once, every
 * address of it has to be that of a public host, and the connection goes to that address: what the name stands for a
 * moment later bears on nothing.
 */
export async function openDomainProxy(options: DomainProxyOptions): Promise<DomainProxy> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "signalbox-proxy-")));
  const socket = join(folder, "socket");
  const ending = new AbortController();
  const sockets = new Set<Duplex>();
  const reach = (target: Target): Promise<Socket> => reachTarget(options, target, ending.signal);
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
      ending.abort(new Error("the command is over"));
      for (const client of sockets) client.destroy();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Why a command may not go somewhere. */
class Refused extends Error {}

async function reachTarget(
  { domains, resolve = systemResolve, isOpen = isPublicAddress }: DomainProxyOptions,
  target: Target,
  signal: AbortSignal,
): Promise<Socket> {
  const { host, port } = target;
  if (!isListed(domains, target))
    throw new Refused(`${host}:${port} is not among the hosts that commands may reach.`);
  const addresses = isIP(host) === 0 ? await resolve(host, signal) : [host];
  const [address] = addresses;
  if (address === undefined || !addresses.every(isOpen))
    throw new Refused(`${host} is not at a public address, so commands may not reach it.`);
  signal.throwIfAborted();
  return new Promise((done, reject) => {
    const upstream = connect({ host: address, port, signal, timeout: CONNECT_MS });
    upstream.once("error", reject);
    upstream.once("timeout", () => upstream.destroy(new Error(`${host} does not answer.`)));
    upstream.once("connect", () => {
      upstream.setTimeout(0);
      upstream.off("error", reject);
      done(upstream);
    });
  });
}

type Reach = (target: Target) => Promise<Socket>;

/** `CONNECT host:port`: bytes to and fro. */
async function tunnel(incoming: IncomingMessage, client: Duplex, reach: Reach): Promise<void> {
  client.on("error", () => client.destroy());
  try {
    const target = readAuthority(incoming.url ?? "");
    if (target === undefined) throw new Refused("Connect to host:port.");
    const upstream = await reach(target);
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    upstream.on("error", () => client.destroy()).on("close", () => client.destroy());
    client.on("close", () => upstream.destroy());
    upstream.pipe(client).pipe(upstream);
  } catch (error) {
    const text = `${reasonOf(error)}\n`;
    const head = `HTTP/1.1 ${statusOf(error)}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n`;
    client.end(head + text);
  }
}

/** A request with the whole address in it, as proxies for plain HTTP are asked. */
async function forward(incoming: IncomingMessage, response: ServerResponse, reach: Reach): Promise<void> {
  try {
    const target = readAddress(incoming.url ?? "");
    if (target === undefined) throw new Refused("Ask for a whole address that begins with http://.");
    const upstream = await reach(target);
    if (response.destroyed) return void upstream.destroy();
    response.on("close", () => upstream.destroy());
    const headers = { ...passedOn(incoming.headers), host: target.url.host, connection: "close" };
    const path = `${target.url.pathname}${target.url.search}`;
    const onward = request({ method: incoming.method, path, headers, createConnection: () => upstream });
    onward.on("response", (answer) => passBack(answer, response));
    onward.on("error", (error) => refuse(response, error));
    incoming.pipe(onward);
  } catch (error) {
    refuse(response, error);
  }
}

function passBack(answer: IncomingMessage, response: ServerResponse): void {
  const { statusCode = 0 } = answer;
  try {
    if (statusCode < 200 || statusCode > 599)
      throw new Error(`The host's status ${statusCode} means nothing.`);
    response.writeHead(statusCode, passedOn(answer.headers));
    // What breaks off there breaks off here.
    pipeline(answer, response, () => {});
  } catch (error) {
    // Thrown to the event's emitter, it would end the process.
    refuse(response, error);
  }
}

function passedOn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_HEADERS.has(name)));
}

function refuse(response: ServerResponse, error: unknown): void {
  if (response.headersSent) return void response.destroy();
  const [code] = statusOf(error).split(" ");
  response.writeHead(Number(code), { "content-type": "text/plain" }).end(`${reasonOf(error)}\n`);
}

function statusOf(error: unknown): string {
  return error instanceof Refused ? "403 Forbidden" : "502 Bad Gateway";
}
