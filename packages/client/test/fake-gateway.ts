/** A fake gateway: a part of the HTTP API, and a WebSocket whose replies each test scripts. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  type ClientFrame,
  parseClientFrame,
  SESSION_KEY_HEADER,
  type ServerFrame,
  sessionKeyOffered,
} from "@signalbox/protocol";
import { type WebSocket, WebSocketServer } from "ws";

export const TOKEN = "right-token";

/** Key of a browser session. The fake does not check the cookie, because `fetch` of Node.js stores none. */
export const SESSION_KEY = "key-of-the-session";

export const AGENT = { id: "coder", name: "代码助手", model: "demo/demo", demo: true };

export const READY: ServerFrame = {
  type: "ready",
  protocol: 1,
  user: { id: "owner", name: "Owner" },
  agents: [AGENT],
  demo: true,
};

/** A WebSocket, for the script of a test. */
export interface Viewer {
  /** Counts from 1. */
  number: number;
  send(...frames: ServerFrame[]): void;
  sendRaw(text: string): void;
  close(code?: number): void;
  /** Terminates the socket without a close frame. */
  cut(): void;
}

export interface FakeGateway {
  url: string;
  /** Every frame received, over all connections. */
  received: ClientFrame[];
  requests: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[];
  /** Creates the body of the response by path. A function may also send the response itself. */
  answers: Map<string, (response: ServerResponse) => unknown>;
  /** Called with each received frame. */
  script: (frame: ClientFrame, viewer: Viewer) => void;
  greet: (viewer: Viewer) => void;
  token: string;
  stop(): Promise<void>;
}

export async function startFakeGateway(options: { maxPayload?: number } = {}): Promise<FakeGateway> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true, ...options });
  const fake: FakeGateway = {
    url: "",
    received: [],
    requests: [],
    answers: new Map(),
    script: () => {},
    greet: (viewer) => viewer.send(READY),
    token: TOKEN,
    stop: async () => {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  const known = ({ headers }: IncomingMessage) =>
    headers.authorization === `Bearer ${fake.token}` ||
    headers[SESSION_KEY_HEADER] === SESSION_KEY ||
    sessionKeyOffered(headers["sec-websocket-protocol"]) === SESSION_KEY;
  server.on("request", async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const path = request.url ?? "";
    fake.requests.push({ method: request.method ?? "", path, headers: request.headers, body });
    const send = (status: number, value?: unknown) =>
      response
        .writeHead(status, { "content-type": "application/json" })
        .end(value === undefined ? undefined : JSON.stringify(value));
    if (path === "/api/login") {
      if (body === JSON.stringify({ token: fake.token })) return send(200, { sessionKey: SESSION_KEY });
      return send(401, { error: { code: "unauthorized", message: "Wrong token.", remedy: "Look it up." } });
    }
    if (!known(request)) return send(401, { error: { code: "unauthorized", message: "No token." } });
    if (path === "/api/logout") return send(200, {});
    if (path === "/api/me" && !fake.answers.has(path))
      return send(200, { user: { id: "owner", name: "Owner" }, agents: [AGENT], demo: true, version: "1" });
    const answer = fake.answers.get(path);
    if (answer === undefined) return send(404, { error: { code: "not_found", message: "No such thing." } });
    const value = answer(response);
    if (!response.headersSent) send(200, value);
  });
  let number = 0;
  server.on("upgrade", (request, socket, head) => {
    if (!known(request) || request.url !== "/ws") {
      socket.end("HTTP/1.1 401 Unauthorized\r\nconnection: close\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (connection) => {
      number += 1;
      converse(fake, connection, number);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  fake.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return fake;
}

function converse(fake: FakeGateway, connection: WebSocket, number: number): void {
  const viewer: Viewer = {
    number,
    send: (...frames) => {
      for (const frame of frames) connection.send(JSON.stringify(frame));
    },
    sendRaw: (text) => connection.send(text),
    close: (code) => connection.close(code),
    cut: () => connection.terminate(),
  };
  connection.on("error", () => {});
  connection.on("message", (data) => {
    const parsed = parseClientFrame(String(data));
    if (!parsed.ok) throw new Error(`the client sent an invalid frame: ${String(data)}`);
    fake.received.push(parsed.frame);
    fake.script(parsed.frame, viewer);
  });
  fake.greet(viewer);
}
