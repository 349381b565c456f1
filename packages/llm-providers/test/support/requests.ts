import type { Model } from "@signalbox/agent-core";
import type { Provider } from "../../src/provider.ts";
import type { Conversation } from "./conversations.ts";
import { answering } from "./replay.ts";

/** The body `provider` sends for a conversation. The answer is cut off; it is not looked at. */
export async function bodyOf(
  provider: Provider,
  model: Model,
  conversation: Conversation,
  baseUrl: string,
): Promise<unknown> {
  const fetch = answering(new Uint8Array());
  const stream = provider.connect({ apiKey: "test", baseUrl, fetch, now: () => 0 });
  for await (const event of stream(model, conversation.context, conversation.options)) {
    if (event.type === "error" && fetch.bodies.length === 0) throw new Error(event.error.message);
  }
  const [body] = fetch.bodies;
  if (body === undefined) throw new Error("no request was made");
  return JSON.parse(body);
}
