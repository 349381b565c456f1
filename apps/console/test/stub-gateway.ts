/**
 * A fake gateway. It serves the built page with the gateway's content security policy, enforces the cookie and origin
 * rules, and implements the protocol. Each test decides what the agent replies and what the API returns.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import {
  type AgentInfo,
  type ChatMessage,
  CLOSE_UNAUTHORIZED,
  type ClientFrame,
  type ConversationInfo,
  type ErrorBody,
  type Me,
  parseClientFrame,
  SESSION_KEY_HEADER,
  type SendFrame,
  type ServerFrame,
  type SignInMethods,
  sessionKeyOffered,
} from "@signalbox/protocol";
import { type WebSocket, WebSocketServer } from "ws";
import { OWNERS, type OwnersView, ownerRoutes } from "./data/owners.ts";
import { findRoute, Refusal, type Routes } from "./routes.ts";

export const TOKEN = "4f1c0ffee-the-right-token";
/** Secret of a sign-in link, valid once. */
export const LINK_SECRET = "a-secret-of-a-sign-in-link";

const POLICY =
  "default-src 'self'; style-src 'self'; img-src 'self' data:; media-src data:; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

export interface StubGateway {
  url: string;
  /** Folder of the built page. */
  folder: string;
  /** The user who signs in. */
  user: Me["user"];
  agents: AgentInfo[];
  /** True if answers can be spoken. */
  speech: boolean;
  conversations: ConversationInfo[];
  messages: Map<string, ChatMessage[]>;
  /** Data of the owners' pages. */
  owners: OwnersView;
  /** Responses of `/api` for owners. Tests may add to them. */
  routes: Routes;
  /** Requests that change something, in order. */
  changes: { path: string; body: unknown }[];
  received: ClientFrame[];
  /** Uploaded files by the path of their pieces. */
  uploads: Map<string, number>;
  refusesUploads: boolean;
  /** Called with each accepted message. */
  answer: (send: SendFrame, stub: StubGateway) => void;
  /** Returns a problem to refuse a message. */
  refuse: (send: SendFrame) => { code: string; message: string; remedy?: string } | undefined;
  /** Refuses new connections while true. */
  down: boolean;
  methods: SignInMethods;
  /** Address to which a sign-in at the OpenID provider leads. */
  providerUrl: string;
  /** Sends frames to every open page and stores finished messages. */
  say(...frames: ServerFrame[]): void;
  cut(): void;
  endSessions(): void;
  /** Closes all connections and restores the initial state. Browsers stay signed in. */
  reset(): void;
  stop(): Promise<void>;
}

export async function startStubGateway(folder: string): Promise<StubGateway> {
  const server = createServer();
  const sockets = new WebSocketServer({ noServer: true });
  /** Session keys by cookie. */
  const sessions = new Map<string, string>();
  let linkUsed = false;
  const accepted = new Map<string, string>();
  const stub: StubGateway = {
    url: "",
    ...createState(folder),
    say: (...frames) => {
      for (const frame of frames) {
        if (frame.type === "message") keep(stub, frame.conversation, frame.message);
        for (const socket of sockets.clients) socket.send(JSON.stringify(frame));
      }
    },
    cut: () => {
      for (const socket of sockets.clients) socket.terminate();
    },
    endSessions: () => {
      sessions.clear();
      for (const socket of sockets.clients) socket.close(CLOSE_UNAUTHORIZED);
    },
    reset: () => {
      stub.cut();
      accepted.clear();
      linkUsed = false;
      Object.assign(stub, createState(folder));
      stub.routes = { ...ownerRoutes(() => stub.owners), ...conversationRoutes(stub) };
    },
    stop: async () => {
      stub.cut();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  stub.reset();
  const me = (): Omit<Me, "version"> => ({
    user: stub.user,
    agents: stub.agents,
    demo: stub.agents.some(({ demo }) => demo),
  });
  const isKnown = ({ headers }: IncomingMessage, key: unknown) => {
    const cookie = /(?:^|; )signalbox=(\w+)/.exec(headers.cookie ?? "")?.[1] ?? "";
    return key !== undefined && sessions.get(cookie) === key;
  };

  server.on("request", async (request, response) => {
    const path = new URL(request.url ?? "/", stub.url).pathname;
    if (!path.startsWith("/api/")) return page(stub.folder, path, response);
    let body = "";
    for await (const chunk of request) body += chunk;
    if (request.method === "POST") {
      const isOwn = request.headers.origin === stub.url;
      const isJson = request.headers["content-type"] === "application/json";
      if (!isOwn || !isJson) return refuse(response, 403, "forbidden", "Not from here.");
    }
    if (path === "/api/login") {
      const isLink = !linkUsed && body === JSON.stringify({ token: LINK_SECRET });
      if (isLink) linkUsed = true;
      if (!isLink && body !== JSON.stringify({ token: TOKEN })) {
        const remedy = "Send the gateway's token as `Authorization: Bearer …`, or sign in with it.";
        return refuse(response, 401, "unauthorized", "The token is missing or wrong.", remedy);
      }
      const id = randomBytes(16).toString("hex");
      const sessionKey = randomBytes(16).toString("hex");
      sessions.set(id, sessionKey);
      response.setHeader("set-cookie", `signalbox=${id}; HttpOnly; SameSite=Strict; Path=/`);
      return json(response, 200, { sessionKey });
    }
    if (path === "/api/sign-in-methods") return json(response, 200, stub.methods);
    if (path === "/api/login/oidc") return json(response, 200, { url: stub.providerUrl });
    if (!isKnown(request, request.headers[SESSION_KEY_HEADER]))
      return refuse(response, 401, "unauthorized", "Sign in first.");
    if (path === "/api/logout") {
      sessions.clear();
      return json(response, 200, {});
    }
    if (path === "/api/me") return json(response, 200, { ...me(), version: "0.1.0", speech: stub.speech });
    const url = new URL(request.url ?? "/", stub.url);
    if (request.method === "PUT") return upload(stub, url, body.length, response);
    await answerRoute(stub, request.method ?? "GET", url, body, response);
  });

  server.on("upgrade", (request, socket, head) => {
    const key = sessionKeyOffered(request.headers["sec-websocket-protocol"]);
    const isAllowed = !stub.down && isKnown(request, key) && request.headers.origin === stub.url;
    if (!isAllowed || request.url !== "/ws") {
      socket.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, socket, head, (connection) => {
      connection.on("message", (data) => take(String(data), connection));
      tell(connection, { type: "ready", protocol: 1, ...me() });
    });
  });

  function take(data: string, connection: WebSocket): void {
    const parsed = parseClientFrame(data);
    if (!parsed.ok) throw new Error(`the page sent an invalid frame: ${data}`);
    const { frame } = parsed;
    stub.received.push(frame);
    if (frame.type === "ping") tell(connection, { type: "pong" });
    if (frame.type === "watch") tell(connection, { type: "activity", activity: stub.owners.activity });
    if (frame.type === "subscribe")
      tell(connection, { type: "subscribed", conversation: frame.conversation, busy: false });
    if (frame.type !== "send") return;
    const { id, conversation, agent, text, attachments } = frame;
    const problem = stub.refuse(frame);
    if (problem !== undefined) {
      tell(connection, { type: "error", id, conversation, ...problem });
      return;
    }
    const before = accepted.get(id);
    const messageId = before ?? `m-${id}`;
    accepted.set(id, messageId);
    tell(connection, {
      type: "accepted",
      id,
      conversation,
      messageId,
      duplicate: before !== undefined,
    });
    if (before !== undefined) return;
    if (!stub.conversations.some((each) => each.id === conversation))
      stub.conversations.unshift({
        id: conversation,
        agent,
        title: text.slice(0, 60),
        updatedAt: Date.now(),
      });
    stub.say({
      type: "message",
      conversation,
      message: { id: messageId, role: "user", text, at: Date.now(), ...(attachments && { attachments }) },
    });
    stub.answer(frame, stub);
  }

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  stub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return stub;
}

/** Returns the initial state of a gateway, which tests can change. */
function createState(folder: string) {
  return {
    folder,
    agents: [
      { id: "coder", name: "代码助手", model: "demo/demo", demo: true },
      { id: "writer", name: "Writer", model: "anthropic/claude-sonnet-4-6", demo: false },
    ],
    user: { id: "owner", name: "Owner" },
    conversations: [],
    messages: new Map(),
    owners: structuredClone(OWNERS.empty),
    routes: {},
    speech: false,
    changes: [],
    received: [],
    uploads: new Map(),
    refusesUploads: false,
    answer: () => {},
    refuse: () => undefined,
    down: false,
    methods: { token: true, proxy: false },
    providerUrl: "",
  } satisfies Omit<StubGateway, "url" | "say" | "cut" | "endSessions" | "reset" | "stop">;
}

/** The routes of the chat. */
function conversationRoutes(stub: StubGateway): Routes {
  return {
    "GET /api/conversations": () => stub.conversations,
    "GET /api/conversations/*/messages": ({ params: [id = ""] }) => {
      const messages = stub.messages.get(id);
      if (messages === undefined) throw new Refusal(404, "not_found", "There is no such thing.");
      return { messages, ends: [] };
    },
    "POST /api/conversations/*/rename": ({ params: [id], body }) => {
      const { title } = body as { title: string };
      stub.conversations = stub.conversations.map((each) => (each.id === id ? { ...each, title } : each));
    },
    "POST /api/conversations/*/remove": ({ params: [id] }) => {
      stub.conversations = stub.conversations.filter((each) => each.id !== id);
    },
  };
}

async function answerRoute(
  stub: StubGateway,
  method: string,
  url: URL,
  body: string,
  response: ServerResponse,
): Promise<void> {
  const parsed: unknown = body === "" ? undefined : JSON.parse(body);
  if (method !== "GET") stub.changes.push({ path: url.pathname, body: parsed });
  const found = findRoute(stub.routes, method, url.pathname);
  try {
    if (found === undefined) throw new Refusal(404, "not_found", "There is no such thing.");
    const { route, params } = found;
    const result: unknown = typeof route === "function" ? await route({ url, params, body: parsed }) : route;
    if (result === undefined && method === "GET")
      throw new Refusal(404, "not_found", "There is no such thing.");
    if (result === undefined) response.writeHead(204).end();
    else json(response, 200, result);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refuse(response, error.status, error.code, error.message, error.remedy);
  }
}

/** Stores a piece of a file if it continues the pieces before it. */
function upload(
  stub: StubGateway,
  { pathname, searchParams }: URL,
  bytes: number,
  response: ServerResponse,
): void {
  const there = stub.uploads.get(pathname) ?? 0;
  if (stub.refusesUploads) {
    refuse(response, 413, "too_large", "The file is larger than the gateway takes.");
  } else if (Number(searchParams.get("at")) === there) {
    stub.uploads.set(pathname, there + bytes);
    json(response, 200, { bytes: there + bytes });
  } else json(response, 409, { bytes: there });
}

function tell(connection: WebSocket, frame: ServerFrame): void {
  connection.send(JSON.stringify(frame));
}

function keep(stub: StubGateway, conversation: string, message: ChatMessage): void {
  const messages = stub.messages.get(conversation) ?? [];
  stub.messages.set(conversation, [...messages.filter(({ id }) => id !== message.id), message]);
}

async function page(folder: string, path: string, response: ServerResponse): Promise<void> {
  const file = normalize(join(folder, path === "/" ? "index.html" : path));
  const content = file.startsWith(folder) ? await readFile(file).catch(() => undefined) : undefined;
  if (content === undefined) return void response.writeHead(404).end();
  const type = TYPES[extname(file)] ?? "application/octet-stream";
  response.writeHead(200, {
    "content-type": type,
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    // The names of the assets contain a hash of their content.
    ...(path.startsWith("/assets/") && { "cache-control": "public, max-age=31536000, immutable" }),
  });
  response.end(content);
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function refuse(
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
  remedy?: string,
): void {
  const body: ErrorBody = { error: { code, message, ...(remedy !== undefined && { remedy }) } };
  json(response, status, body);
}
