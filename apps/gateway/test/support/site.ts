import { createServer, type IncomingMessage, type RequestListener } from "node:http";

/** A web server of somebody else's, on a loopback port. */
export interface Site extends AsyncDisposable {
  readonly url: string;
  /** As `tools.web.allow` wants it. */
  readonly host: string;
  readonly requests: readonly IncomingMessage[];
}

export async function serve(handler: RequestListener): Promise<Site> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
  return {
    url: `http://${host}`,
    host,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
