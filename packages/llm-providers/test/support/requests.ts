import type { Model } from "@signalbox/agent-core";
import type { Provider } from "../../src/provider/provider.ts";
import { wire } from "../../src/testkit/index.ts";
import type { Conversation } from "./conversations.ts";

/** Returns the body that `provider` sends for a conversation. The response is cut and not read. */
export async function bodyOf(
  provider: Provider,
  model: Model,
  conversation: Pick<Conversation, "context" | "options">,
  baseUrl = "https://vendor.test",
): Promise<unknown> {
  const line = wire({ pieces: [] });
  const stream = provider.connect({ apiKey: "test", baseUrl, fetch: line.fetch, now: () => 0 });
  for await (const event of stream(model, conversation.context, conversation.options)) {
    if (event.type === "error" && line.requests.length === 0) throw new Error(event.error.message);
  }
  const [request] = line.requests;
  if (request === undefined) throw new Error("no request was made");
  return JSON.parse(request.body);
}
