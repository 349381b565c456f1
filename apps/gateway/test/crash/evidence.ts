import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "@signalbox/store";
import type { GatewayBodies } from "../../src/store.ts";
import { isRaw, type Tag } from "./conversation.ts";
import type { Mode, World } from "./world.ts";

/** What the stand-ins, the database and the disk say of a world that has come to rest. Plain data, to be judged. */
export interface Evidence {
  readonly mode: Mode;
  /** Every message whose event was acknowledged, in the order in which that happened. */
  readonly acknowledged: readonly Tag[];
  /** Messages of a group that speak to nobody, by their ids. */
  readonly unaddressed: readonly string[];
  /** Messages that were changed, and those that were deleted. */
  readonly edits: readonly Change[];
  readonly deletions: readonly Change[];
  /** Answers to events that were neither an acknowledgement nor a refusal to try later. */
  readonly odd: readonly string[];
  readonly inbox: readonly InboxFact[];
  readonly outbox: readonly OutboxFact[];
  /** Runs without an end. */
  readonly runsActive: number;
  /** What the database's own check found. */
  readonly damage: readonly string[];
  /** What the model was asked. */
  readonly requests: readonly { readonly body: unknown; readonly status: number; readonly text: string }[];
  /** What the bot sent, in order. */
  readonly posts: readonly Post[];
  /** The lines that commands have written, one for each time one ran. */
  readonly ran: readonly string[];
  /** Messages whose file is there. */
  readonly notes: ReadonlySet<string>;
  /** What every process wrote to its log, and what must stand in none of it nor in anything that went out. */
  readonly logs: readonly string[];
  readonly secrets: readonly string[];
}

/** What a person did to a message of theirs. */
export interface Change {
  readonly name: string;
  /** When the gateway had acknowledged it, in milliseconds since the epoch. */
  readonly at: number;
}

export interface InboxFact {
  readonly kind: string;
  readonly eventId: string;
  readonly messageId: string;
  readonly state: string;
  readonly rule?: string | undefined;
  /** How often it was replaced by a later version. */
  readonly revision: number;
  /** When it had its end, in milliseconds since the epoch. */
  readonly settledAt?: number | undefined;
}

export interface OutboxFact {
  readonly state: string;
  readonly channel: string;
  /** The message it answers. */
  readonly replyTo?: string | undefined;
  /** The text of each part; undefined where a part is none. */
  readonly texts: readonly (string | undefined)[];
  readonly receipts: readonly { readonly part: number; readonly messageId: unknown }[];
}

/** A message of the bot at a platform. */
export interface Post {
  readonly channel: string;
  readonly chatId: string;
  readonly messageId: string;
  /** As it reads now. */
  readonly content: string;
  /** As it read before. */
  readonly earlier: readonly string[];
  /** The idempotency key it came under. */
  readonly key?: string | undefined;
  /** The message it answers. */
  readonly replyTo?: string | undefined;
  readonly deleted: boolean;
}

const ALL = 1_000_000;
const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

/** Collects it all. The gateway must have ended. */
export async function gather(world: World): Promise<Evidence> {
  const store = await openStore<GatewayBodies>({ path: join(world.home, "signalbox.db") });
  try {
    const inbox = await store.inbox.list({ limit: ALL });
    const outbox = await store.outbox.list({ states: STATES, limit: ALL });
    const { runsActive } = await store.maintenance.stats();
    const { ok, problems } = await store.admin.integrity();
    const { acknowledged, unaddressed, edits, deletions, odd } = world.platform;
    const { mode, secrets } = world;
    return {
      ...{ mode, acknowledged, unaddressed, edits, deletions, odd, secrets },
      logs: world.logs(),
      inbox: inbox.map(({ kind, eventId, messageId = "", state, detail, revision, settledAt }) => ({
        ...{ kind, eventId, messageId, state, revision, settledAt },
        rule: detail?.rule,
      })),
      outbox: outbox.map(({ state, channel, payload, receipts }) => ({
        ...{ state, channel },
        replyTo: payload.replyTo,
        texts: payload.parts.map((part) => ("text" in part ? part.text : undefined)),
        receipts: receipts.map(({ part, receipt }) => ({
          part,
          messageId: isRaw(receipt) ? receipt["messageId"] : undefined,
        })),
      })),
      runsActive,
      damage: ok ? [] : problems,
      requests: world.anthropic.requests.map(({ body, status, text }) => ({ body, status, text })),
      posts: postsOf(world),
      ran: linesOf(join(world.workspace, "effects.log")),
      notes: notesIn(join(world.workspace, "notes")),
    };
  } finally {
    await store.close();
  }
}

function postsOf({ feishu, relays }: World): Post[] {
  const there = feishu.sent.map(({ messageId, chatId, content, edits, uuid, parentId, deleted }) => ({
    channel: "feishu",
    ...{ messageId, chatId, deleted },
    content: edits.at(-1) ?? content,
    earlier: edits.length === 0 ? [] : [content, ...edits.slice(0, -1)],
    key: uuid,
    replyTo: parentId,
  }));
  return [...there, ...relays.posts];
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

function notesIn(folder: string): Set<string> {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return new Set(files.map((name) => name.replace(/\.txt$/, "")));
}
