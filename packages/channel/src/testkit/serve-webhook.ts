import { createServer } from "node:http";
import type { Channel } from "../contract/definition.ts";

export interface WebhookServer {
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * Starts an HTTP server that forwards requests to the webhook of a channel, with their path and query. For fake
 * platforms that post events or send challenges.
 */
export async function serveWebhook(channel: Pick<Channel, "webhook">): Promise<WebhookServer> {
  const server = createServer(async (incoming, response) => {
    const { method = "POST" } = incoming;
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
    const headers = new Headers();
    for (const [name, value] of Object.entries(incoming.headers)) headers.set(name, String(value));
    const body = method === "GET" || method === "HEAD" ? {} : { body: Buffer.concat(chunks) };
    const request = new Request(new URL(incoming.url ?? "/", "http://gateway"), { method, headers, ...body });
    const reply = (await channel.webhook?.(request)) ?? new Response(null, { status: 404 });
    response.writeHead(reply.status, Object.fromEntries(reply.headers));
    response.end(Buffer.from(await reply.arrayBuffer()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
