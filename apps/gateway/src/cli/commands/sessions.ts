import type { AgentMessage, Block } from "@signalbox/agent-core";
import { GatewayError, getNodeId, locateHome, lockHome, takeLease } from "@signalbox/home";
import type { Session } from "@signalbox/store";
import type { CommonOptions } from "../common-options.ts";
import { type HomeStore, withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { isHeld } from "../running.ts";
import { printTable, time } from "../table.ts";

const LEASE_MS = 30_000;
const ALL = { limit: Number.MAX_SAFE_INTEGER };

/** `signalbox sessions list` */
export async function list(options: CommonOptions): Promise<void> {
  const rows = await withStore(options, "read", (store) => store.sessions.list(ALL));
  printTable(options.json, rows, {
    none: "No conversations yet.",
    columns: {
      "LAST ACTIVE": ({ updatedAt }) => time(updatedAt),
      TITLE: ({ title }) => title ?? "",
      MESSAGES: ({ messageCount }) => String(messageCount),
      TOKENS: ({ totals }) => String(totals.inputTokens + totals.outputTokens),
      "COST (USD)": ({ totals }) => (totals.costMicros > 0 ? (totals.costMicros / 1e6).toFixed(4) : ""),
      SESSION: ({ key }) => key,
    },
  });
}

/** `signalbox sessions show <session>`: prints a session's settings and its latest messages. */
export async function show(key: string, options: CommonOptions & { readonly limit: number }): Promise<void> {
  const { session, messages } = await withStore(options, "read", async (store) => {
    const named = await findSession(store, key);
    const latest = await store.sessions.transcript(named.key, { limit: options.limit });
    return { session: named, messages: latest.toReversed() };
  });
  const { agentId, channel, account, kind, peer, title, model, thinking, queueMode, createdAt, updatedAt } =
    session;
  print(options.json, { ...session, messages }, () => [
    `${session.key}${title === undefined ? "" : `, "${title}"`}`,
    `agent ${agentId}, ${channel}/${account}, ${kind} ${peer}`,
    `since ${time(createdAt)}, last active ${time(updatedAt)}, restarts: ${session.generation}`,
    ...(model === undefined ? [] : [`model ${model}`]),
    ...(thinking === undefined ? [] : [`thinking ${thinking}`]),
    ...(queueMode === undefined ? [] : [`queue mode ${queueMode}`]),
    "",
    ...messages.flatMap(({ at, message }) => [
      `${time(at)}  ${message.role}`,
      ...cut(getText(message))
        .split("\n")
        .map((line) => `    ${line}`.trimEnd()),
    ]),
  ]);
}

/** Maximum length of a message, in characters. `--json` prints all of it. */
const MESSAGE_CHARS = 4_000;

function cut(text: string): string {
  if (text.length <= MESSAGE_CHARS) return text;
  return `${text.slice(0, MESSAGE_CHARS)}\n… (${text.length - MESSAGE_CHARS} more characters; --json prints all)`;
}

/** `signalbox sessions rename <session> <title>` */
export async function rename(key: string, title: string, options: CommonOptions): Promise<void> {
  const session = await withStore(options, "share", async (store) => {
    const named = await findSession(store, key);
    return store.sessions.patch(named.key, { title });
  });
  print(options.json, { key: session.key, title }, () => [`Renamed ${session.key} to "${title}".`]);
}

/** `signalbox sessions reset <session>`: starts a new history. The transcript keeps the old one. */
export async function reset(key: string, options: CommonOptions): Promise<void> {
  const home = locateHome(options.home, process.env);
  if (isHeld(options.home))
    throw new GatewayError(
      "held",
      "A gateway is running on this home and may be answering there. Send /new in the conversation itself, or stop the gateway first.",
    );
  const lock = lockHome(home);
  try {
    const session = await withStore(options, "share", async (store) => {
      const named = await findSession(store, key);
      const lease = await takeLease(store, getNodeId(home), LEASE_MS);
      return store.sessions.reset(named.key, lease).finally(() => store.leases.release(lease));
    });
    print(options.json, { key: session.key }, () => [`${session.key} starts over with its next message.`]);
  } finally {
    lock.release();
  }
}

/**
 * Finds a session by its key or by a unique suffix of it.
 *
 * @throws GatewayError
 */
async function findSession(store: HomeStore, key: string): Promise<Session> {
  const exact = await store.sessions.get(key);
  if (exact !== undefined) return exact;
  const rows = await store.sessions.list(ALL);
  const [row, ...more] = rows.filter((session) => session.key.endsWith(key) || session.title === key);
  if (row !== undefined && more.length === 0) return row;
  throw new GatewayError(
    "failure",
    row === undefined
      ? `There is no session ${key}. \`signalbox sessions\` lists all sessions.`
      : `${key} names ${more.length + 1} sessions: ${[row, ...more].map((each) => each.key).join(", ")}.`,
  );
}

function getText(message: AgentMessage): string {
  if ("summary" in message) return message.summary;
  if (!("content" in message)) return "";
  const { content } = message;
  if (typeof content === "string") return content;
  return content.map(describeBlock).join(" ");
}

function describeBlock(block: Block): string {
  if ("text" in block) return block.text;
  return block.type === "toolCall" ? `[calls ${block.name}]` : `[${block.type}]`;
}
