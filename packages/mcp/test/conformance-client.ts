/**
 * The program that the conformance runner starts: connects to the server at the address given, signs in if the server
 * asks for it, and uses each of its tools.
 */
import { createMcpServers } from "../src/index.ts";

const url = process.argv.at(-1) ?? "";
const registered = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}");
const oauth =
  registered.client_id === undefined
    ? undefined
    : { clientId: registered.client_id, clientSecret: registered.client_secret };
const servers = createMcpServers({
  servers: { tested: { url, ...(oauth === undefined ? {} : { oauth }) } },
  version: "1.0.0",
  signIn: { redirectUrl: () => "http://127.0.0.1:4747/oauth/mcp/callback" },
});

/** The runner's authorization servers send the browser back at once. */
async function signIn(): Promise<void> {
  const { url: page } = await servers.signIn.start("tested");
  const response = await fetch(page, { redirect: "manual" });
  await servers.signIn.finish(new URL(response.headers.get("location") ?? ""));
}

async function useTools(): Promise<void> {
  for (const tool of await servers.tools(() => true)) {
    const args = tool.name.endsWith("add_numbers") ? { a: 5, b: 3 } : {};
    const signal = AbortSignal.timeout(20_000);
    await tool.execute({ id: "1", name: tool.name, args }, { signal, resultChars: 16_000, update: () => {} });
  }
}

const MAX_SIGN_INS = 3;
for (let signIns = 0; ; signIns++) {
  const failure = await useTools().then(
    () => undefined,
    (error: Error) => error,
  );
  const needsSignIn =
    servers.status().some((server) => server.needsSignIn) || failure?.name === "SignInNeededError";
  if (!needsSignIn) break;
  if (signIns === MAX_SIGN_INS) throw failure ?? new Error("the server asks for a sign-in again and again");
  await signIn();
}
await servers.close();
