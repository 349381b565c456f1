import { tmpdir } from "node:os";
import { onTestFinished } from "vitest";
import { createAuth, type GatewayService, startServer } from "../src/index.ts";

export const TOKEN = "a-token-of-the-tests-0123456789";

const quiet = (): void => {};

/** A server over a service, until the test is over. */
export async function openServer(service: GatewayService, port = 0) {
  const auth = await createAuth({
    token: TOKEN,
    revocations: { list: async () => [], add: async () => {} },
  });
  const server = await startServer({
    ...{ host: "127.0.0.1", port, allowedHosts: [], service, auth },
    hooks: {
      hooks: { build: { text: "The build {{state}}", secret: "the-secret-of-the-hook" } },
      defaultAgent: "second",
    },
    pageDir: tmpdir(),
    logger: { debug: quiet, warn: quiet, error: quiet },
  });
  onTestFinished(() => server.stop(0));
  return server;
}
