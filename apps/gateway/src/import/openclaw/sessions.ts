import type { ImportedGeneration } from "@signalbox/store";
import { createAttachmentFiles } from "../attachments.ts";
import { KEPT_ON_PAGE } from "../chats.ts";
import { toConversation } from "../conversations.ts";
import type { Item } from "../item.ts";
import type { ImportedTaint } from "../messages.ts";
import { toAccountName, toAgentId } from "../names.ts";
import { IMPORTED_PAGE, placeOnOwnersPage, type SessionPlace } from "../places.ts";
import { asRecord, asText } from "../settings.ts";
import type { ConversationImport, LoadedConversation, ReadOptions } from "../source.ts";
import { stripPrefix } from "./accounts.ts";
import type { Configuration } from "./configuration.ts";
import { convertEvents, type TranscriptEvent } from "./events.ts";
import { convertKey } from "./keys.ts";
import type { SessionWindow, SourceSession } from "./transcripts.ts";

/** Origins of sessions in which people talk. */
const CONVERSATIONS = new Set(["channel", "operator", "run", "talk", undefined]);

interface SessionFacts {
  readonly configuration: Configuration;
  readonly links: ReadonlyMap<string, string>;
  readonly options: ReadOptions;
  readonly channels: readonly string[];
  /** Folders that may contain attachments. */
  readonly folders: readonly string[];
  /** Folders in which attachments are found by their names alone. */
  readonly mediaFolders: readonly string[];
  readonly locate: (path: string) => string;
}

type Person = { readonly channel: string; readonly account: string; readonly peerId: string };

/** Returns the people who wrote in main conversations, as `channel:id`. */
export function findMainPeople(sessions: readonly SourceSession[]): ReadonlySet<string> {
  const people = new Set<string>();
  for (const session of sessions) {
    if (!/^agent:[^:]+:main$/.test(session.key)) continue;
    for (const window of session.windows)
      for (const event of window.events()) {
        const id = asText(asRecord(asRecord(event["message"])?.["__openclaw"])?.["senderId"]);
        if (id !== undefined) people.add(`${channelOf(event, window) ?? ""}:${id}`);
      }
  }
  return people;
}

function channelOf(event: TranscriptEvent, window: SessionWindow): string | undefined {
  const facts = asRecord(asRecord(event["message"])?.["__openclaw"]);
  return asText(asRecord(facts?.["transport"])?.["channel"]) ?? window.channel;
}

/** Returns the groups with conversations, by channel. */
export function listGroups(sessions: readonly SourceSession[]): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, Set<string>>();
  for (const { key } of sessions) {
    const [, channel, rest = ""] = /^agent:[^:]+:([^:]+)(?::[^:]+)?:(?:group|channel):(.+)$/.exec(key) ?? [];
    if (channel === undefined) continue;
    const id = stripPrefix(rest.split(/:(?:topic|thread):/, 1)[0] ?? "", channel);
    groups.set(channel, (groups.get(channel) ?? new Set()).add(id));
  }
  return groups;
}

/** Converts the sessions of all agents. Several sessions that have the same place here are joined in order of time. */
export function convertSessions(
  sessions: ReadonlyMap<string, readonly SourceSession[]>,
  facts: SessionFacts,
): { readonly imports: readonly ConversationImport[]; readonly items: readonly Item[] } {
  const items: Item[] = [];
  const places = new Map<string, { readonly place: SessionPlace; readonly sessions: SourceSession[] }>();
  const { options } = facts;
  for (const session of [...sessions.values()].flat()) {
    const leaveOut = (state: Item["state"], why: string): void =>
      void items.push({ part: "sessions", id: session.key, state, why });
    const isOfGateway = !CONVERSATIONS.has(session.createdVia);
    if (isOfGateway && !options.all)
      leaveOut("skipped", `It belongs to the gateway itself (${session.createdVia}). --all keeps it.`);
    else if (options.since !== undefined && session.updatedAt < options.since)
      leaveOut("skipped", "It was not active in the chosen time.");
    else if (session.windows.length === 0) leaveOut("skipped", "It contains no messages.");
    else {
      const converted = isOfGateway
        ? "It belongs to the gateway itself."
        : convertKey(session.key, createKeyFacts(session, facts), options);
      const isKept = isOfGateway || options.keepUnsupported;
      const place = typeof converted === "string" && isKept ? placeOnPage(session.key, options) : converted;
      if (place === undefined) leaveOut("unsupported", "Its key names no agent.");
      else if (typeof place === "string") leaveOut("unsupported", `${place} --keep-unsupported keeps it.`);
      else {
        const present = places.get(place.key) ?? { place, sessions: [] };
        present.sessions.push(session);
        places.set(place.key, present);
        if (session.leftBranches > 0)
          items.push({
            part: "sessions",
            id: `${session.key} (branches)`,
            state: "skipped",
            why: `${session.leftBranches} branches that were left.`,
          });
      }
    }
  }
  const imports: ConversationImport[] = [];
  for (const { place, sessions: joined } of places.values()) {
    const [first, ...others] = joined.toSorted((a, b) => a.createdAt - b.createdAt);
    if (first === undefined) continue;
    imports.push({ kind: "session", id: first.key, load: () => load(place, [first, ...others], facts) });
    for (const { key } of others)
      items.push({
        part: "sessions",
        id: key,
        state: "changed",
        why: "It continues another conversation with the same person.",
        to: place.key,
      });
  }
  return { imports, items };
}

/** Returns a conversation of owners on the web page for a session that cannot continue here. */
function placeOnPage(key: string, options: ReadOptions): SessionPlace | undefined {
  const [prefix, theirs = ""] = key.split(":");
  if (prefix !== "agent" || theirs === "") return undefined;
  return placeOnOwnersPage(toAgentId(theirs, options), key);
}

function createKeyFacts(session: SourceSession, { configuration, links, channels, options }: SessionFacts) {
  const owner = /^agent:[^:]+:main$/.test(session.key)
    ? findOnlyPerson(session, configuration, options)
    : findRoute(session, options);
  return {
    account: session.windows.findLast(({ account }) => account !== undefined)?.account,
    owner,
    dmScope: configuration.dmScope,
    links,
    channels,
  };
}

/** Returns the person of a main conversation if it has only one, or if only owners wrote in it. */
function findOnlyPerson(
  session: SourceSession,
  { owners }: Configuration,
  options: ReadOptions,
): Person | undefined {
  const people = findMainPeople([session]);
  const isOfOwners = [...people].every((person) => owners.includes(person));
  if (people.size > 1 && !isOfOwners) return undefined;
  const route = findRoute(session, options);
  if (route !== undefined && (people.size === 0 || people.has(`${route.channel}:${route.peerId}`)))
    return route;
  const [only] = people;
  const [channel = "", peerId = ""] = only?.split(/:(.*)/s) ?? [];
  return only === undefined
    ? undefined
    : { channel, account: toAccountName(channel, "default", options), peerId };
}

/** Returns the place to which the session last delivered an answer. */
function findRoute({ entry }: SourceSession, options: ReadOptions): Person | undefined {
  const route = asRecord(asRecord(entry["delivery"])?.["route"]);
  const channel = asText(route?.["channel"]) ?? asText(entry["lastChannel"]);
  const to = asText(asRecord(route?.["target"])?.["to"]) ?? asText(entry["lastTo"]);
  const account = asText(route?.["accountId"]) ?? asText(entry["lastAccountId"]) ?? "default";
  if (channel === undefined || to === undefined) return undefined;
  return { channel, account: toAccountName(channel, account, options), peerId: stripPrefix(to, channel) };
}

function load(
  place: SessionPlace,
  sessions: readonly SourceSession[],
  facts: SessionFacts,
): LoadedConversation {
  const { configuration, options, folders, mediaFolders, locate } = facts;
  const losses = new Set<string>();
  const attachments = createAttachmentFiles({
    sessionKey: place.key,
    workspace: options.inPlace ? undefined : `workspaces/${place.agentId}`,
    folders,
    mediaFolders,
    locate,
  });
  const generations: ImportedGeneration[] = [];
  let taint: ImportedTaint = { sources: new Set(), speakers: new Set() };
  let lastEvent = "";
  let updatedAt = 0;
  const oldest = options.now - options.hiddenMessagesMs;
  for (const [index, session] of sessions.entries()) {
    const isLastSession = index === sessions.length - 1;
    const windows = session.windows.filter(
      (window, at) => window.lastAt >= oldest || (isLastSession && at === session.windows.length - 1),
    );
    if (windows.length < session.windows.length)
      losses.add(
        "Parts that ended before the retention limit of hidden messages (retention.hiddenMessagesDays).",
      );
    const converted = convertEvents(
      windows.map((window) => ({ startedAt: window.startedAt, events: window.events() })),
      {
        channel: place.channel === "web" ? session.windows.at(-1)?.channel : place.channel,
        owners: configuration.owners,
        isMain: /^agent:[^:]+:main$/.test(session.key),
        hasExternalContent: windows.some((window) => window.hasExternalContent),
        attachments,
      },
    );
    generations.push(...converted.generations);
    for (const loss of converted.losses) losses.add(loss);
    if (converted.generations.length > 0) taint = converted.taint;
    lastEvent = converted.lastEvent || lastEvent;
    updatedAt = Math.max(updatedAt, converted.lastAt, session.updatedAt);
  }
  const isPage = place.channel === "web" && place.peer.startsWith(IMPORTED_PAGE);
  if (isPage && place.peer !== `${IMPORTED_PAGE}main`) losses.add(KEPT_ON_PAGE);
  if (isPage) {
    taint.sources.add("history");
    taint.speakers.add("unknown");
  }
  return toConversation(place, {
    title: sessions.at(-1)?.title ?? (isPage ? sessions[0]?.key : undefined),
    createdAt: sessions[0]?.createdAt ?? 0,
    updatedAt,
    generations,
    taint,
    lastEvent,
    losses,
    files: attachments.files,
  });
}
