import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { GatewayStore } from "../../../src/store.ts";
import { comingBackIn, nameOf } from "./conversation.ts";
import type { Evidence, Post } from "./evidence.ts";
import { chatOf, messageId } from "./platform.ts";
import { isRaw } from "./seen.ts";
import type { World } from "./world.ts";

const ALL = 1_000_000;
/** Behind the name of the bot, where its platform has one. */
const BY_ITSELF = /^(.*\/)?(schedule|subagent):/;
const STATES = ["pending", "sending", "sent", "uncertain", "dead", "expired"] as const;

/** The parts of a world that are judged. */
export type JudgedWorld = Pick<
  World,
  | "anthropic"
  | "breaks"
  | "feishu"
  | "logs"
  | "mode"
  | "openStore"
  | "platform"
  | "relays"
  | "secrets"
  | "vendors"
  | "wasTurned"
  | "workspaces"
>;

/** Collects what is to be judged of a world. Its gateways must have ended. */
export async function gather(world: JudgedWorld): Promise<Evidence> {
  const store: GatewayStore = await world.openStore();
  try {
    const inbox = await store.inbox.list({ limit: ALL });
    const outbox = await store.outbox.list({ states: STATES, limit: ALL });
    const { runsActive } = await store.maintenance.stats();
    const damage = (await store.admin?.integrity())?.problems ?? [];
    const { acknowledged, unaddressed, edits, deletions, odd } = world.platform;
    const { mode, secrets } = world;
    const setAside = new Set(
      inbox.flatMap(({ messageId: id, detail }) => (detail?.rule === "poison" ? [id] : [])),
    );
    const wrong = [...world.vendors.values()].flatMap(
      (vendor) => vendor.wrong?.((tag) => setAside.has(vendor.idOf(tag))) ?? [],
    );
    const names = namesOf(world);
    return {
      mode,
      wasTurned: world.wasTurned(),
      acknowledged,
      unaddressed,
      edits,
      deletions,
      odd: [...odd, ...wrong],
      secrets,
      logs: world.logs(),
      inbox: inbox.map(({ kind, eventId, messageId: id = "", state, detail, revision, settledAt }) => ({
        kind,
        eventId,
        messageId: names.get(id) ?? id,
        state,
        revision,
        settledAt,
        rule: detail?.rule,
      })),
      comingBack: inbox.flatMap(({ eventId, state, detail, payload }) =>
        BY_ITSELF.test(eventId)
          ? comingBackIn(payload.event.text).map((back) => ({ ...back, eventId, state, rule: detail?.rule }))
          : [],
      ),
      outbox: outbox.map(({ state, channel, payload, receipts, updatedAt }) => ({
        state,
        channel,
        forgottenDraft: findForgotten(payload.draft, updatedAt),
        replyTo: payload.replyTo,
        isNotice: payload.notice,
        texts: payload.parts.map((part) => ("text" in part ? part.text : undefined)),
        receipts: receipts.map(({ part, receipt }) => ({
          part,
          messageId: isRaw(receipt) ? receipt["messageId"] : undefined,
        })),
      })),
      runsActive,
      damage,
      requests: world.anthropic.requests.map(({ body, status, text }) => ({ body, status, text })),
      posts: postsOf(world),
      breaks: world.breaks(),
      ran: world.workspaces.flatMap((folder) => linesOf(join(folder, "effects.log"))),
      notes: new Set(world.workspaces.flatMap((folder) => notesIn(join(folder, "notes")))),
    };
  } finally {
    await store.close();
  }
}

/** Maximum difference between the clocks of a node and of the database, in milliseconds. */
const SKEW_MS = 10_000;

/**
 * Returns the key of a draft that nobody could find: its process died before it stored the id, and the reply waited for
 * longer than the platform knows the key.
 */
function findForgotten(
  draft:
    | { readonly key: string; readonly until: number; readonly messageId?: string | undefined }
    | undefined,
  sentAt: number,
): string | undefined {
  const isFound = draft === undefined || draft.messageId !== undefined || sentAt < draft.until - SKEW_MS;
  return isFound ? undefined : draft.key;
}

/** How the proof calls the messages of people, by what their platforms call them. */
function namesOf({ platform, vendors }: JudgedWorld): ReadonlyMap<string, string> {
  const named = platform.acknowledged.map(
    (tag) => [vendors.get(tag.session)?.idOf(tag) ?? messageId(nameOf(tag)), messageId(nameOf(tag))] as const,
  );
  return new Map(named);
}

function postsOf({ feishu, relays, vendors }: JudgedWorld): Post[] {
  const there = feishu.sent.map(({ messageId, chatId, content, edits, uuid, parentId, deleted }) => ({
    channel: "feishu",
    messageId,
    chatId,
    deleted,
    content: edits.at(-1) ?? content,
    earlier: edits.length === 0 ? [] : [content, ...edits.slice(0, -1)],
    key: uuid,
    replyTo: parentId,
  }));
  const elsewhere = [...vendors].flatMap(([session, vendor]) => vendor.posts(chatOf(session)));
  return [...there, ...relays.posts, ...elsewhere];
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
}

function notesIn(folder: string): string[] {
  const files = existsSync(folder) ? readdirSync(folder) : [];
  return files.map((name) => name.replace(/\.txt$/, ""));
}
