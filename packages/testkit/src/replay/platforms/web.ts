import { randomUUID } from "node:crypto";
import { isRaw, type Raw } from "../../raw.ts";
import type { PlatformCall } from "../performance.ts";
import type { PlatformEvent, Scenario } from "../scenario.ts";
import type { StartPlatform } from "./platform.ts";

/** The gateway's web page. Messages go in over its API, and answers arrive as server-sent events. */
export const startWebPlatform: StartPlatform = async (scenario) => {
  const agent = firstAgent(scenario);
  const watched = new Map<string, Promise<readonly PlatformCall[]>>();
  return {
    env: {},
    async post(event, { url, token }) {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const { chatId = "page" } = event;
      const at = `${url}/api/conversations/${encodeURIComponent(chatId)}`;
      if (!watched.has(chatId)) {
        const stream = await fetch(`${at}/events?agent=${encodeURIComponent(agent)}`, { headers });
        watched.set(chatId, answersIn(stream, chatId));
      }
      const sent = event.body ?? bodyOf(event, agent);
      const response = await fetch(`${at}/messages`, {
        method: "POST",
        headers,
        body: JSON.stringify(sent),
      });
      await response.text();
      return { sent, status: response.status };
    },
    sent: async () => (await Promise.all(watched.values())).flat(),
    stop: async () => {},
  };
};

function firstAgent({ config }: Scenario): string {
  const { agents } = config;
  const list = isRaw(agents) && Array.isArray(agents["list"]) ? agents["list"].filter(isRaw) : [];
  return String(list[0]?.["id"] ?? "main");
}

function bodyOf({ messageId = randomUUID(), text = "" }: PlatformEvent, agent: string): Raw {
  return { id: messageId, agent, text };
}

/** Returns the answers in a stream, until the gateway ends it. */
async function answersIn(stream: Response, conversation: string): Promise<readonly PlatformCall[]> {
  const path = `/api/conversations/${conversation}/events`;
  const text = await stream.text().catch(() => "");
  return framesIn(text).flatMap(({ type, message }): PlatformCall[] => {
    if (type !== "message" || !isRaw(message) || message["role"] !== "assistant") return [];
    return [{ channel: "web", method: "GET", path, body: String(message["text"]) }];
  });
}

function framesIn(text: string): readonly Raw[] {
  const frames = [...text.matchAll(/^data: ?(.+)$/gm)].map(([, data = ""]): unknown => JSON.parse(data));
  return frames.filter(isRaw);
}
