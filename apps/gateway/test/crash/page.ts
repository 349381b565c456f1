import { setTimeout as sleep } from "node:timers/promises";
import { type ChatMessage, ConversationHistory, type RunEnd } from "@signalbox/protocol";
import { nameOf, type Tag, textOf } from "./conversation.ts";
import type { PageAccess, Vendor } from "./vendor.ts";

const CONVERSATION = "conversation-of-the-crash";
const AGAIN_MS = 40;
/** How often the conversation is read, which grows with every message. */
const LOOK_MS = 300;
/** As long as a browser may wait for a gateway that was stopped. */
const WAIT_MS = 3_000;

/** The gateway's own page: what is asked there is repeated under its id until it is taken. */
export async function startPage({ token, agent, url }: PageAccess): Promise<Vendor> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  let shown: readonly ChatMessage[] = [];
  let ends: readonly RunEnd[] = [];
  /** Whoever writes goes away before they have their answer. */
  let goesAway = false;

  const idOf = (tag: Tag): string => `page_${nameOf(tag).replace(".", "_")}`;

  async function ask(
    path: string,
    init: RequestInit = {},
    withinMs = WAIT_MS,
  ): Promise<Response | undefined> {
    const to = url();
    if (to === undefined) return undefined;
    const request = { headers, ...init, signal: AbortSignal.timeout(withinMs) };
    return fetch(`${to}/api/conversations/${CONVERSATION}/${path}`, request).catch(() => undefined);
  }

  async function say(tag: Tag): Promise<boolean> {
    const body = JSON.stringify({ id: idOf(tag), agent, text: textOf(tag) });
    const withinMs = goesAway ? 2 : WAIT_MS;
    goesAway = false;
    const response = await ask("messages", { method: "POST", body }, withinMs);
    await response?.body?.cancel().catch(() => {});
    return response?.ok === true;
  }

  async function look(): Promise<void> {
    const response = await ask(`messages?agent=${agent}`);
    const history = ConversationHistory.safeParse(await response?.json().catch(() => undefined)).data;
    if (history !== undefined) ({ messages: shown, ends } = history);
  }

  let isOver = false;
  const looking = (async () => {
    while (!isOver) {
      await look();
      await sleep(LOOK_MS);
    }
  })();

  return {
    secrets: [],
    idOf,
    async deliver(tag) {
      while (!(await say(tag))) await sleep(AGAIN_MS);
    },
    posts(chatId) {
      const stopped = new Set(ends.filter(({ outcome }) => outcome === "aborted").map(({ runId }) => runId));
      return shown
        .filter(({ role, text }) => role === "assistant" && text !== "")
        .map(({ id, text, runId = "" }) => ({
          channel: "web",
          chatId,
          messageId: id,
          key: id,
          content: JSON.stringify({ text: stopped.has(runId) ? `${text} (stopped)` : text }),
          earlier: [],
          deleted: false,
        }));
    },
    look,
    fail() {
      goesAway = true;
    },
    heal() {
      goesAway = false;
    },
    async stop() {
      isOver = true;
      await looking;
    },
  };
}
