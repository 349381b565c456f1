import { existsSync, lstatSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { reasonOf } from "@signalbox/agent-core";
import type { Home } from "@signalbox/home";
import { createPairingCode } from "@signalbox/routing";
import type { AnyStore } from "@signalbox/store";
import { openSkillPins } from "../configure/skill-pins.ts";
import { createScheduledTaskStore } from "../triggers/scheduled-triggers.ts";
import { nextDue } from "../triggers/schedules/when.ts";
import { copyWhole, hashFile, isRealPlace, sha256, writeWhole } from "./home-files.ts";
import type { Item, Part } from "./item.ts";
import type {
  ConversationImport,
  FileImport,
  Import,
  PersonImport,
  ScheduleImport,
  SkillImport,
  SourceHome,
} from "./source.ts";

/** A home into which another one is imported. */
export interface Target {
  readonly home: Home;
  /** Absent before the first start of the gateway, while a plan is made. */
  readonly store: AnyStore | undefined;
  readonly now: number;
  /** Parts whose existing items are replaced. */
  readonly force: ReadonlySet<Part>;
  /** False for a plan, which changes nothing. */
  readonly apply: boolean;
  /** Ending of files of the source that are put beside other ones. */
  readonly suffix: string;
}

/** Namespace of the records of earlier imports. */
const RECORDS = "import";

/**
 * Imports everything but the configuration, or plans to. Each import is complete or absent, and one that was made
 * earlier is not repeated.
 */
export async function applyImports(source: SourceHome, target: Target): Promise<readonly Item[]> {
  const items: Item[] = [];
  const files = new Map<string, Item>();
  const records = createRecords(source, target);
  const peers = target.store === undefined ? [] : await target.store.pairing.peers();
  const schedules =
    target.store === undefined ? [] : await createScheduledTaskStore(target.store.kv, () => {}).list();
  for (const each of source.imports) {
    switch (each.kind) {
      case "file": {
        // Several files of the source can become one file here.
        const earlier = files.get(each.to);
        const item =
          earlier === undefined
            ? await importFile(each, target, records)
            : { ...earlier, id: each.id, part: each.part, ...lossOf(each, earlier) };
        files.set(each.to, earlier ?? item);
        items.push(item);
        break;
      }
      case "skill":
        items.push(await importSkill(each, target, records));
        break;
      case "session":
        items.push(await importConversation(each, target, records));
        break;
      case "person":
        items.push(
          await importPerson(
            each,
            target,
            records,
            peers.some(
              (peer) =>
                peer.channel === each.channel && peer.account === each.account && peer.peerId === each.peerId,
            ),
          ),
        );
        break;
      case "schedule":
        items.push(
          await importSchedule(
            each,
            target,
            records,
            schedules.some(({ id }) => id === each.scheduleId),
          ),
        );
        break;
      case "setting":
        break;
    }
  }
  return items;
}

function lossOf({ loss }: FileImport, earlier: Item): Partial<Item> {
  return loss !== undefined && earlier.state === "imported" ? { state: "changed", why: loss } : {};
}

/** Results of earlier imports. */
export interface Records {
  get(kind: Import["kind"], id: string): Promise<string | undefined>;
  set(kind: Import["kind"], id: string, value: string): Promise<void>;
}

export function createRecords({ system }: Pick<SourceHome, "system">, { store, apply }: Target): Records {
  const key = (kind: string, id: string): string => `${system} ${kind} ${id}`;
  return {
    async get(kind, id) {
      const value = await store?.kv.get(RECORDS, key(kind, id));
      return typeof value === "string" ? value : undefined;
    },
    async set(kind, id, value) {
      if (apply) await store?.kv.set(RECORDS, key(kind, id), value);
    },
  };
}

const done = (loss: string | undefined): Pick<Item, "state" | "why"> =>
  loss === undefined ? { state: "imported" } : { state: "changed", why: loss };

const EARLIER = "It was imported earlier.";

async function importFile(file: FileImport, target: Target, records: Records): Promise<Item> {
  const { id, part, to, content, loss } = file;
  const item = { part, id, to };
  const path = join(target.home.dir, to);
  const hash = "text" in content ? sha256(Buffer.from(content.text)) : hashFile(content.path);
  const write = (place: string, mode: number): void =>
    "text" in content ? writeWhole(place, content.text, mode) : copyWhole(content.path, place, mode);
  const record = await records.get("file", to);
  if (!isRealPlace(target.home.dir, to))
    return { ...item, state: "conflict", why: "A link here leads out of the folder." };
  if (existsSync(path)) {
    const present = hashFile(path);
    if (present === hash) {
      await records.set("file", to, hash);
      return { ...item, state: "skipped", why: record === undefined ? "The same file is here." : EARLIER };
    }
    const isOurs = record === present;
    if (!isOurs && !target.force.has(part)) {
      if (record === hash) return { ...item, state: "skipped", why: "It was changed here since the import." };
      const beside = `${path}.${target.suffix}`;
      if (target.apply && !existsSync(beside)) write(beside, 0o600);
      return {
        ...item,
        state: "conflict",
        why: `Another file is here. Theirs is beside it as ${to}.${target.suffix}.`,
      };
    }
  } else if (record !== undefined && !target.force.has(part)) {
    return { ...item, state: "skipped", why: "It was removed here since the import." };
  }
  if (target.apply) {
    write(path, "path" in content ? lstatSync(content.path).mode & 0o700 : 0o600);
    await records.set("file", to, hash);
  }
  return { ...item, ...done(loss) };
}

async function importSkill(skill: SkillImport, target: Target, records: Records): Promise<Item> {
  const { id, files, to, loss } = skill;
  const item: Pick<Item, "part" | "id" | "to"> = { part: "skills", id, to };
  const isInPlace = isAbsolute(to);
  const dir = isInPlace ? to : join(target.home.dir, to);
  const hash = sha256(Buffer.from(JSON.stringify([...files].map(([path, file]) => [path, hashFile(file)]))));
  const record = await records.get("skill", to);
  if (!isInPlace && ![...files.keys()].every((path) => isRealPlace(target.home.dir, `${to}/${path}`)))
    return { ...item, state: "conflict", why: "A link here leads out of the folder." };
  if (record !== undefined && !target.force.has("skills"))
    return {
      ...item,
      state: "skipped",
      why: record === hash ? EARLIER : "It has changed in the source since the import. Use --force skills.",
    };
  const isPresent = existsSync(join(dir, "SKILL.md"));
  if (!isInPlace && isPresent && !target.force.has("skills") && !isSame(dir, files))
    return { ...item, state: "conflict", why: "Another skill of this name is here." };
  if (target.apply && target.store !== undefined) {
    // The record of an empty approval makes every file a change, so that the skill waits for an owner.
    await openSkillPins(target.store.kv, target.home).put({
      dir,
      pin: { digest: "", files: {} },
      texts: {},
      by: "nobody",
      at: target.now,
    });
    for (const [path, file] of isInPlace ? [] : files)
      copyWhole(file, join(dir, path), lstatSync(file).mode & 0o700);
    await records.set("skill", to, hash);
  }
  return {
    ...item,
    state: "changed",
    why: [
      "It waits for an approval: `signalbox skills changes` shows it, and how to approve it.",
      ...(loss === undefined ? [] : [loss]),
    ].join(" "),
  };
}

function isSame(dir: string, files: ReadonlyMap<string, string>): boolean {
  return [...files].every(
    ([path, file]) => existsSync(join(dir, path)) && hashFile(join(dir, path)) === hashFile(file),
  );
}

async function importConversation(
  { id, load }: ConversationImport,
  { home, store, apply, force }: Target,
  records: Records,
): Promise<Item> {
  const item = { part: "sessions", id } as const;
  let loaded: ReturnType<ConversationImport["load"]>;
  try {
    loaded = load();
  } catch (error) {
    return { ...item, state: "unsupported", why: reasonOf(error) };
  }
  const { session, lastEvent, losses, files } = loaded;
  const to = session.seed.key;
  if (session.generations.length === 0)
    return { ...item, to, state: "skipped", why: "It contains no messages." };
  const record = (await records.get("session", id))?.split(" ") ?? [];
  // An import that has begun is recorded as `pending`, its newest event, and the last messages before and after it.
  const isPending = record[0] === "pending";
  const [recordedEvent, recordedSeq, writtenSeq] = isPending ? record.slice(1) : record;
  const present = await store?.sessions.get(to);
  if (present !== undefined && present.lastSeq > 0) {
    const isWritten = writtenSeq === String(present.lastSeq) && writtenSeq !== recordedSeq;
    if (isPending && recordedEvent === lastEvent && isWritten) {
      // The program ended after the conversation was written, and before this was recorded.
      await records.set("session", id, `${lastEvent} ${present.lastSeq}`);
      return { ...item, to, state: "skipped", why: EARLIER };
    }
    if (!isPending && recordedEvent === lastEvent) return { ...item, to, state: "skipped", why: EARLIER };
    const isUntouched = [recordedSeq, writtenSeq].includes(String(present.lastSeq));
    if (!isUntouched && !force.has("sessions"))
      return {
        ...item,
        to,
        state: "conflict",
        why: "Another conversation has this place here, or it was continued here.",
      };
  } else if (recordedEvent !== undefined && !isPending && !force.has("sessions")) {
    return { ...item, to, state: "skipped", why: "It was removed here since the import." };
  }
  if (store !== undefined && store.admin === undefined)
    return {
      ...item,
      to,
      state: "unsupported",
      why: "Conversations can only be imported into an SQLite file, or into a PostgreSQL database that no gateway has used.",
    };
  if (![...files.keys()].every((path) => isRealPlace(home.dir, path)))
    return { ...item, to, state: "conflict", why: "A link here leads out of the folder." };
  if (apply && store?.admin !== undefined) {
    for (const [path, file] of files) copyWhole(file, join(home.dir, path), 0o600);
    const messages = session.generations.reduce((sum, { entries }) => sum + entries.length, 0);
    await records.set("session", id, `pending ${lastEvent} ${present?.lastSeq ?? 0} ${messages}`);
    const result = await store.admin.importSession(session, present?.lastSeq);
    if (result.outcome === "exists") return { ...item, to, state: "conflict", why: "A run uses it." };
    await records.set("session", id, `${lastEvent} ${result.lastSeq}`);
  }
  return { ...item, to, ...done(losses.length === 0 ? undefined : losses.join(" ")) };
}

async function importPerson(
  { id, channel, account, peerId }: PersonImport,
  { store, apply }: Target,
  records: Records,
  isPaired: boolean,
): Promise<Item> {
  const item = { part: "people", id, to: `${channel}:${account}:${peerId}` } as const;
  const record = await records.get("person", item.to);
  if (isPaired) {
    await records.set("person", item.to, "paired");
    return { ...item, state: "skipped", why: record === undefined ? "The person is paired here." : EARLIER };
  }
  if (record !== undefined)
    return { ...item, state: "skipped", why: "The pairing was revoked here since the import." };
  if (apply && store !== undefined) {
    const code = createPairingCode();
    const outcome = await store.pairing.request({ channel, account, peerId, code });
    if (outcome === "full" || outcome === "pending")
      return { ...item, state: "conflict", why: "Requests to pair are open. Decide them first." };
    if (outcome === "created") await store.pairing.approve({ code, approvedBy: "import", channel, account });
    await records.set("person", item.to, "paired");
  }
  return { ...item, state: "imported" };
}

async function importSchedule(
  schedule: ScheduleImport,
  { store, apply, now, force }: Target,
  records: Records,
  isPresent: boolean,
): Promise<Item> {
  const { id, scheduleId, when, missed, agentId, text, sessionKey, place, loss } = schedule;
  const item = { part: "schedules", id, to: scheduleId } as const;
  const record = await records.get("schedule", id);
  if (isPresent) {
    await records.set("schedule", id, "imported");
    return { ...item, state: "skipped", why: EARLIER };
  }
  if (record !== undefined && !force.has("schedules"))
    return { ...item, state: "skipped", why: "It is over, or was removed here since the import." };
  const nextAt = findFirstTime(when, now);
  if (nextAt === undefined)
    return { ...item, state: "unsupported", why: "Its time cannot be read, or is over." };
  if (apply && store !== undefined) {
    const { channel, account, conversation } = place;
    await store.sessions.ensure({
      key: sessionKey,
      agentId,
      channel,
      account,
      peer: conversation.id,
      kind: conversation.kind,
    });
    const tasks = createScheduledTaskStore(store.kv, () => {});
    await tasks.put({ id: scheduleId, when, missed, nextAt, task: { agentId, sessionKey, text, place } });
    await records.set("schedule", id, "imported");
  }
  return { ...item, ...done(loss) };
}

/** Returns the first due time, or undefined if a cron expression or its zone is invalid. */
function findFirstTime(when: ScheduleImport["when"], now: number): number | undefined {
  try {
    return nextDue(when, now);
  } catch {
    return undefined;
  }
}
