import type * as Mcp from "@signalbox/mcp";
import {
  type FakeAuthorizationServer,
  type FakeAuthorizationServerOptions,
  type FakeMcpServer,
  startFakeAuthorizationServer,
  startFakeMcpServer,
} from "@signalbox/testkit/mcp";
import { createGuardedRequest } from "@signalbox/tools";

/** A hostile MCP server or authorization server that tries to get a code, a token or a request of the gateway. */
export interface SignInAttack {
  readonly name: string;
  /** @returns the damage, if the attack succeeds */
  attempt(mcp: typeof Mcp): Promise<string | undefined>;
}

interface WorldOptions {
  readonly authorization?: FakeAuthorizationServerOptions;
  readonly mcp?: Partial<Parameters<typeof startFakeMcpServer>[0]>;
  /** Private hosts that the operator allows, in addition to the server itself. Default: the authorization server. */
  readonly allow?: readonly string[];
  readonly alsoAllow?: readonly string[];
}

/** Runs `work` with a gateway's sign-in against fake servers on loopback. */
async function withWorld(
  mcp: typeof Mcp,
  options: WorldOptions,
  work: (world: {
    readonly servers: Mcp.McpServers;
    readonly authority: FakeAuthorizationServer;
    readonly server: FakeMcpServer;
  }) => Promise<string | undefined>,
): Promise<string | undefined> {
  const authority = await startFakeAuthorizationServer(options.authorization);
  const server = await startFakeMcpServer({
    authorizationServers: [authority.url],
    check: authority.check,
    ...options.mcp,
  });
  const { allow = [new URL(authority.url).host], alsoAllow = [] } = options;
  const servers = mcp.createMcpServers({
    version: "1.0.0",
    servers: { web: { url: server.url } },
    signIn: {
      fetch: (url, init, serverUrl) =>
        createGuardedRequest({ allow: [...allow, ...alsoAllow, new URL(serverUrl).host] })(url, init),
    },
  });
  try {
    return await work({ servers, authority, server });
  } finally {
    await servers.close();
    await Promise.all([authority.stop(), server.stop()]);
  }
}

/** Returns the damage if a sign-in can start although it must not. */
function startsWith(name: string, options: WorldOptions): SignInAttack {
  return {
    name,
    attempt: (mcp) =>
      withWorld(mcp, options, async ({ servers, authority }) => {
        const started = await servers.signIn.start("web").catch(() => undefined);
        if (started !== undefined) return `the owner is sent to ${started.url}`;
        const posted = authority.requests.filter(({ method }) => method === "POST");
        return posted.length > 0 ? `the gateway posted to ${posted[0]?.path}` : undefined;
      }),
  };
}

const changed = (change: object): WorldOptions => ({
  authorization: { metadata: (usual) => ({ ...usual, ...change }) },
});

export const SIGN_IN_ATTACKS: readonly SignInAttack[] = [
  startsWith("a foreign authorization server", { authorization: { host: "localhost" } }),
  startsWith("an issuer that differs", changed({ issuer: "https://login.example.org" })),
  startsWith("a token endpoint without encryption", changed({ token_endpoint: "http://192.0.2.7/token" })),
  startsWith("a page that is a file", changed({ authorization_endpoint: "file:///etc/passwd" })),
  startsWith("giant metadata", changed({ filler: "x".repeat(500_000) })),
  startsWith("an authorization server at a private address", { allow: [] }),
  startsWith("metadata of another resource", {
    mcp: { metadata: (usual) => ({ ...usual, resource: "https://bank.example.org/mcp" }) },
  }),
  {
    name: "metadata of the resource at a private address",
    async attempt(mcp) {
      const inside = await startFakeAuthorizationServer();
      try {
        const challenge = () => `Bearer resource_metadata="${inside.url}/admin"`;
        const alsoAllow = [new URL(inside.url).host];
        return await withWorld(mcp, { mcp: { challenge }, alsoAllow }, async ({ servers }) => {
          await servers.signIn.start("web").catch(() => undefined);
          return inside.requests.length > 0 ? `the gateway requested ${inside.requests[0]?.path}` : undefined;
        });
      } finally {
        await inside.stop();
      }
    },
  },
  {
    name: "mix-up: the code of another authorization server",
    attempt: (mcp) =>
      withWorld(mcp, {}, async ({ servers, authority }) => {
        const back = await authority.approve((await servers.signIn.start("web")).url);
        back.searchParams.set("iss", "https://evil.example.org");
        await servers.signIn.finish(back).catch(() => undefined);
        return authority.tokenRequests("authorization_code") > 0 ? "the code was exchanged" : undefined;
      }),
  },
  {
    name: "a forged state",
    attempt: (mcp) =>
      withWorld(mcp, {}, async ({ servers, authority }) => {
        const back = await authority.approve((await servers.signIn.start("web")).url);
        back.searchParams.set("state", "forged");
        await servers.signIn.finish(back).catch(() => undefined);
        return authority.activeGrants() > 0 && authority.tokenRequests("authorization_code") > 0
          ? "the code was exchanged"
          : undefined;
      }),
  },
  {
    name: "a state that is used twice",
    attempt: (mcp) =>
      withWorld(mcp, {}, async ({ servers, authority }) => {
        const back = await authority.approve((await servers.signIn.start("web")).url);
        await servers.signIn.finish(back);
        await servers.signIn.finish(back).catch(() => undefined);
        return authority.tokenRequests("authorization_code") > 1 ? "the code was sent twice" : undefined;
      }),
  },
  {
    name: "endless refresh",
    attempt: (mcp) =>
      withWorld(mcp, {}, async ({ servers, authority, server }) => {
        await servers.signIn.finish(await authority.approve((await servers.signIn.start("web")).url));
        const tools = await servers.tools(() => true);
        server.answerAt("/mcp", () => new Response("", { status: 401 }));
        const call = tools.find(({ name }) => name === "mcp__web__whoami");
        const context = { signal: AbortSignal.timeout(20_000), resultChars: 1_000, update: () => {} };
        for (let count = 0; count < 12; count++)
          await call
            ?.execute({ id: "1", name: "mcp__web__whoami", args: {} }, context)
            .catch(() => undefined);
        const refreshes = authority.tokenRequests("refresh_token");
        return refreshes > 3 ? `the gateway refreshed ${refreshes} times` : undefined;
      }),
  },
];
