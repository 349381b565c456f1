import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { offeredProtocols, SESSION_KEY_HEADER } from "@signalbox/protocol";
import { WebSocket } from "ws";
import { TOKEN } from "./harness.ts";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** A request exactly as written: the path untouched, any Host and Origin. */
export function ask(
  url: string,
  path: string,
  options: { method?: string; headers?: Readonly<Record<string, string>>; body?: string } = {},
): Promise<Answer> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { method = "GET", headers = {}, body } = options;
  const sent = httpRequest({ hostname, port, path, method, headers, agent: false }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (part: string) => {
      text += part;
    });
    response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, text }));
  });
  sent.on("error", reject);
  sent.end(body);
  return promise;
}

/** How an upgrade ends: `open`, or the status it is refused with. */
export function upgrade(url: string, headers: Readonly<Record<string, string>>): Promise<"open" | number> {
  const { promise, resolve, reject } = Promise.withResolvers<"open" | number>();
  const key = headers[SESSION_KEY_HEADER];
  const offered = key === undefined ? [] : offeredProtocols(key);
  const socket = new WebSocket(`${url.replace("http", "ws")}/ws`, offered, { headers });
  socket.on("open", () => {
    socket.terminate();
    resolve("open");
  });
  socket.on("unexpected-response", (request, response) => {
    request.destroy();
    resolve(response.statusCode ?? 0);
  });
  socket.on("error", (error) => {
    if (!/Unexpected server response|socket hang up/.test(error.message)) reject(error);
  });
  return promise;
}

export const bearer = { authorization: `Bearer ${TOKEN}` };
export const json = { "content-type": "application/json" };
