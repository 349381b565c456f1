import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** How the server answers a request with a session id that it does not recognize. */
export type LostSession =
  | { readonly status: number; readonly body: string }
  | {
      readonly rpcError: { readonly code: number; readonly message: string };
      /** Default: the id of the request. */
      readonly id?: string | null;
    };

export interface FakeHttpServerOptions {
  readonly lostSession?: LostSession;
  readonly isStream?: boolean;
  /** Default: the type of the content. */
  readonly contentType?: string;
  /** Replaces results by method. */
  readonly results?: Readonly<Record<string, object>>;
  /** Changes whole messages. */
  readonly envelope?: object;
  readonly beforeList?: () => Promise<void>;
  /** Forgets the first session right after the handshake. */
  readonly forgetsFirst?: boolean;
}

const NO_SESSION: LostSession = { status: 404, body: "Session not found" };

/** Starts a server over Streamable HTTP that can forget its sessions. It closes when the test ends. */
export async function startFakeHttpServer({
  lostSession = NO_SESSION,
  isStream = false,
  contentType = isStream ? "text/event-stream" : "application/json",
  results = {},
  envelope = {},
  beforeList = async () => {},
  forgetsFirst = false,
}: FakeHttpServerOptions = {}) {
  let session = 0;
  const ended: unknown[] = [];
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    if (request.method === "DELETE") ended.push(request.headers["mcp-session-id"]);
    if (request.method !== "POST") return void response.writeHead(405).end();
    const { id, method, params } = JSON.parse(await text(request));
    const answer = (body: object): void => {
      const message = JSON.stringify({ jsonrpc: "2.0", id, ...envelope, ...body });
      response.writeHead(200, { "content-type": contentType, "mcp-session-id": `session-${session}` });
      response.end(isStream ? `event: message\ndata: ${message}\n\n` : message);
    };
    if (method === "initialize") session += 1;
    else if (request.headers["mcp-session-id"] !== `session-${session}`) {
      if ("rpcError" in lostSession)
        return answer({
          error: lostSession.rpcError,
          ...(lostSession.id === undefined ? {} : { id: lostSession.id }),
        });
      return void response.writeHead(lostSession.status).end(lostSession.body);
    }
    if (id === undefined) {
      if (forgetsFirst && session === 1) session += 1;
      return void response.writeHead(202).end();
    }
    if (method === "tools/list") await beforeList();
    if (method === "tools/call") calls.push(`session ${session}`);
    const usual: Readonly<Record<string, object>> = {
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "fake", version: "1" },
      },
      "tools/list": { tools: [{ name: "count", inputSchema: { type: "object" } }] },
      "tools/call": { content: [{ type: "text", text: `session ${session}` }] },
    };
    answer({ result: { ...usual[method], ...results[method] } });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    /** The sessions that the client has ended. */
    ended,
    calls,
    /** Forgets the session, as a restart does. */
    forget() {
      session += 1;
    },
  };
}
