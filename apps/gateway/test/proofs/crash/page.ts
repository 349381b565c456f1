import { setTimeout as sleep } from "node:timers/promises";
import { type ChatMessage, ConversationHistory, type RunEnd } from "@signalbox/protocol";
import { nameOf, type Tag, textOf } from "./conversation.ts";
import { fileOf, upload, wrongFiles } from "./page-files.ts";
import { isAnswer, openLine } from "./page-line.ts";
import type { PageAccess, Vendor } from "./vendor.ts";

const AGAIN_MS = 40;
/** How often the conversation is read, which grows with every message. */
const LOOK_MS = 300;
/** As long as a browser may wait for a gateway that was stopped. */
const WAIT_MS = 3_000;
/** Time limit for the last frame and for the last look at the conversation, in milliseconds. */
const END_MS = 120_000;

/**
 * The gateway's own page: what is asked there is repeated under its id until it is taken, by requests and over a socket
 * in turn, some of it with a file; and what the socket told has to be what the conversation says in the end.
 */
export async function startPage(access: PageAccess): Promise<Vendor> {
  const { token, agent, url, inbox } = access;
  const conversation = `conversation-of-the-crash-with-${agent}`;
  const taken: Tag[] = [];
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
    return fetch(`${to}/api/${path}`, request).catch(() => undefined);
  }

  const sendPiece = (path: string, body: string) =>
    ask(path, {
      method: "PUT",
      body,
      headers: { ...headers, "content-type": "application/octet-stream" },
    });

  async function post(message: object): Promise<boolean> {
    const body = JSON.stringify({ agent, ...message });
    const withinMs = goesAway ? 2 : WAIT_MS;
    goesAway = false;
    const response = await ask(`conversations/${conversation}/messages`, { method: "POST", body }, withinMs);
    await response?.body?.cancel().catch(() => {});
    return response?.ok === true;
  }

  /** Reads the conversation. Returns false if no gateway answers in time. */
  async function look(): Promise<boolean> {
    const response = await ask(`conversations/${conversation}/messages?agent=${agent}`);
    const history = ConversationHistory.safeParse(await response?.json().catch(() => undefined)).data;
    if (history !== undefined) ({ messages: shown, ends } = history);
    return history !== undefined;
  }

  async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = performance.now() + END_MS;
    while (!isOver && !(await holds()) && performance.now() < deadline) await sleep(AGAIN_MS);
  }

  let isOver = false;
  const line = openLine(access, conversation, async () => {
    await until(look);
    return shown;
  });
  const answers = (): readonly ChatMessage[] => shown.filter(isAnswer);

  function wronglyTold(): string[] {
    const standing = new Set(answers().map(({ id }) => id));
    return [
      ...answers()
        .filter(({ id, text }) => line.told.get(id)?.text !== text)
        .map(({ id }) => `the socket of the page did not tell of ${id}`),
      ...[...line.told.keys()]
        .filter((id) => !standing.has(id))
        .map((id) => `the socket of the page told of ${id}, which is not there`),
    ];
  }

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
      const file = inbox === undefined ? undefined : fileOf(tag);
      if (file !== undefined) await upload(file, sendPiece);
      const attachments = file === undefined ? {} : { attachments: [file.attachment] };
      const message = { id: idOf(tag), text: textOf(tag), ...attachments };
      const send = tag.number % 2 === 0 ? line.send : post;
      while (!(await send(message))) await sleep(AGAIN_MS);
      taken.push(tag);
    },
    posts(chatId) {
      const stopped = new Set(ends.filter(({ outcome }) => outcome === "aborted").map(({ runId }) => runId));
      return answers().map(({ id, text, runId = "" }) => ({
        channel: "web",
        chatId,
        messageId: id,
        key: id,
        content: JSON.stringify({ text: stopped.has(runId) ? `${text} (stopped)` : text }),
        earlier: [],
        deleted: false,
      }));
    },
    async look() {
      await until(look);
      // The last frame may come after the last request.
      await until(() => answers().every(({ id }) => line.told.has(id)));
    },
    wrong: (isSetAside) => [
      ...(inbox === undefined ? [] : wrongFiles(taken, shown, inbox, isSetAside)),
      ...wronglyTold(),
    ],
    fail() {
      goesAway = true;
      line.cut();
    },
    heal() {
      goesAway = false;
    },
    async stop() {
      isOver = true;
      line.close();
      await looking;
    },
  };
}
