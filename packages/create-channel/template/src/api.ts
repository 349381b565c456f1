import {
  type ChannelContext,
  ChannelError,
  createRequests,
  encodePathSegment,
  type PlatformRequest,
  textAt,
} from "@signalbox/channel";
import type { Config } from "./config.ts";

/** The platform's HTTP API. Every method throws ChannelError and no other error. */
export interface Api {
  /** Sends a message and resolves with its id. The same key returns the same message. */
  post(
    conversation: string,
    text: string,
    options: { readonly key: string; readonly replyTo: string | undefined; readonly signal: AbortSignal },
  ): Promise<string>;
  put(messageId: string, text: string, signal: AbortSignal): Promise<void>;
  remove(messageId: string, signal: AbortSignal): Promise<void>;
}

export function createApi({
  config,
  clock,
  fetch,
}: Pick<ChannelContext<Config>, "config" | "clock" | "fetch">): Api {
  const requests = createRequests({
    platform: "__LABEL__",
    headers: () => ({ authorization: `Bearer ${config.token}` }),
    readError: ({ payload = {} }) => ({ reason: textAt(payload, "error") }),
    clock,
    fetch,
  });
  const request = (path: string, options: Omit<PlatformRequest, "url">) =>
    requests.json({ url: `${config.apiUrl}${path}`, ...options });

  return {
    async post(conversation, text, { key, replyTo, signal }) {
      const what = "sending a message";
      const answer = await request("/messages", { what, body: { conversation, text, key, replyTo }, signal });
      const id = textAt(answer, "id");
      if (id === undefined)
        throw new ChannelError("unknown_outcome", `__LABEL__: ${what}: the response contains no id`);
      return id;
    },
    async put(messageId, text, signal) {
      const path = `/messages/${encodePathSegment(messageId)}`;
      await request(path, { what: "editing a message", method: "PUT", body: { text }, signal });
    },
    async remove(messageId, signal) {
      const path = `/messages/${encodePathSegment(messageId)}`;
      await request(path, { what: "removing a message", method: "DELETE", signal });
    },
  };
}
