import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { REFUSED } from "./conversation.ts";
import type { Post } from "./evidence.ts";
import type { Random } from "./random.ts";

/** The platforms behind the relay channels. */
export interface RelayPlatform {
  readonly url: string;
  readonly token: string;
  /** What they were sent, in order. */
  readonly posts: readonly Post[];
  /** From now on nothing goes wrong any more. */
  heal(): void;
  stop(): Promise<void>;
}

interface Said {
  readonly chat: string;
  readonly key: string;
  readonly text: string;
  readonly replyTo?: string;
}

const FAULTS_OF_A_KEY = 2;
const TOKEN = "token-of-the-relay-0123456789";

/**
 * Takes messages. Some requests are refused for the moment, fail before or after they did what was asked, or are
 * answered late; the rest of what the platforms do differs by name as the channels say it does.
 */
export async function startRelays(random: Random): Promise<RelayPlatform> {
  const posts: Post[] = [];
  let healthy = false;
  /** How often each key met a fault: what fails again and again is waited for ever longer. */
  const failed = new Map<string, number>();

  const send = (channel: string, { chat, key, text: said, replyTo }: Said): Post => {
    const known =
      channel === "keyed" ? posts.find((one) => one.channel === channel && one.key === key) : undefined;
    if (known) return known;
    const post: Post = {
      channel,
      chatId: chat,
      messageId: `${channel}-${posts.length + 1}`,
      content: JSON.stringify({ text: said }),
      earlier: [],
      key,
      replyTo,
      deleted: false,
    };
    posts.push(post);
    return post;
  };

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const [, channel = "", what] = (request.url ?? "").split("/");
    const end = (status: number, body = ""): void => void response.writeHead(status).end(body);
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return end(401);
    const said = JSON.parse(await text(request)) as Said;
    if (what === "find") {
      const found = posts.find((one) => one.channel === channel && one.key === said.key);
      return found ? end(200, found.messageId) : end(404);
    }
    if (said.text.includes(REFUSED)) return end(403);
    const before = failed.get(said.key) ?? 0;
    const fault =
      healthy || before >= FAULTS_OF_A_KEY || !random.chance(channel === "blunt" ? 0.3 : 0.15)
        ? "none"
        : random.pick(["rate", "later", "broken", "cut", "slow"]);
    if (fault !== "none") failed.set(said.key, before + 1);
    if (fault === "rate") return end(429, String(random.int(20, 200)));
    if (fault === "later") return end(503);
    if (fault === "broken") return end(500);
    const { messageId } = send(channel, said);
    if (fault === "cut") return void response.destroy();
    if (fault === "slow") setTimeout(() => end(200, messageId), random.int(200, 1_200)).unref();
    else end(200, messageId);
  };

  const server = createServer((request, response) => {
    // A process that dies in the middle of its request is part of it.
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    token: TOKEN,
    posts,
    heal() {
      healthy = true;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
