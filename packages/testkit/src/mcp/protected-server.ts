import { type FakeServer, listen, type SeenRequest } from "../http.ts";

export interface FakeMcpServerOptions {
  /** URLs of its authorization servers, in order. */
  readonly authorizationServers: readonly string[];
  /** Returns the scope of a valid token, or undefined. */
  readonly check: (accessToken: string, resource: string) => string | undefined;
  /** Scope that calls of tools need. Default: none. */
  readonly callScope?: string;
  /** Replaces the `WWW-Authenticate` header of responses with status 401. */
  readonly challenge?: () => string;
  /** Changes the metadata of the protected resource. */
  readonly metadata?: (metadata: Readonly<Record<string, unknown>>) => unknown;
}

/** A fake MCP server over Streamable HTTP that accepts only requests with a valid token. */
export interface FakeMcpServer extends Pick<FakeServer, "stop" | "answerAt"> {
  /** The address for clients. */
  readonly url: string;
  readonly requests: readonly SeenRequest[];
}

const RESULTS: Readonly<Record<string, object>> = {
  "tools/list": { tools: [{ name: "whoami", inputSchema: { type: "object" } }] },
  "resources/list": {
    resources: [{ uri: "note://1", name: "first note", mimeType: "text/plain", description: "A note." }],
    nextCursor: "page-2",
  },
  "resources/templates/list": { resourceTemplates: [{ uriTemplate: "note://{id}", name: "a note" }] },
  "resources/read": { contents: [{ uri: "note://1", mimeType: "text/plain", text: "the text of the note" }] },
  "prompts/list": { prompts: [{ name: "greet", arguments: [{ name: "who", required: true }] }] },
  "prompts/get": { messages: [{ role: "user", content: { type: "text", text: "Greet Anna." } }] },
};

/**
 * Starts such a server, with the metadata of RFC 9728.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization
 */
export async function startFakeMcpServer(options: FakeMcpServerOptions): Promise<FakeMcpServer> {
  const requests: SeenRequest[] = [];
  let url = "";
  const server = await listen((request, response) => {
    requests.push(request);
    const send = (status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): void => {
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    };
    const metadataPath = "/.well-known/oauth-protected-resource/mcp";
    if (request.path === metadataPath) {
      const metadata = { resource: url, authorization_servers: options.authorizationServers };
      return send(200, options.metadata?.(metadata) ?? metadata);
    }
    if (request.path !== "/mcp") return send(404, { error: "not_found" });
    const token = /^Bearer (\S+)$/.exec(String(request.headers["authorization"] ?? ""))?.[1];
    const scope = token === undefined ? undefined : options.check(token, url);
    if (scope === undefined) {
      const usual = `Bearer resource_metadata="${new URL(metadataPath, url)}"`;
      return send(401, { error: "invalid_token" }, { "www-authenticate": options.challenge?.() ?? usual });
    }
    if (request.method !== "POST") return send(405, undefined);
    const { id, method, params } = JSON.parse(request.text);
    if (id === undefined) return send(202, undefined);
    const { callScope } = options;
    if (method === "tools/call" && callScope !== undefined && !scope.split(" ").includes(callScope)) {
      const challenge = `Bearer error="insufficient_scope", scope="${callScope}"`;
      return send(403, { error: "insufficient_scope" }, { "www-authenticate": challenge });
    }
    const results: Readonly<Record<string, object>> = {
      ...RESULTS,
      initialize: {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {}, resources: {}, prompts: {} },
        serverInfo: { name: "fake", version: "1" },
      },
      "tools/call": { content: [{ type: "text", text: `scope: ${scope}` }] },
    };
    const result = results[method];
    return result === undefined
      ? send(200, { jsonrpc: "2.0", id, error: { code: -32_601, message: "Method not found" } })
      : send(200, { jsonrpc: "2.0", id, result });
  });
  url = `${server.url}/mcp`;
  return { url, requests, stop: () => server.stop(), answerAt: server.answerAt };
}
