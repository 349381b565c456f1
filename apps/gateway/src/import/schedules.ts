import { formatSessionKey } from "@signalbox/routing";
import { createPagePlace } from "../triggers/page-place.ts";
import type { Place } from "../triggers/trigger.ts";
import type { Item } from "./item.ts";
import type { ScheduleImport } from "./source.ts";

/** A schedule of another system. */
export interface SourceSchedule {
  readonly id: string;
  readonly agentId: string;
  readonly text: string;
  readonly when:
    | { readonly kind: "at"; readonly at: number }
    | { readonly kind: "every"; readonly everyMs: number; readonly from: number }
    | { readonly kind: "cron"; readonly expression: string; readonly zone: string | undefined }
    | undefined;
  /** Reason for not importing it, because there is no equivalent. */
  readonly fault?: string | undefined;
  /** Reason for not importing it, because it needs no import. */
  readonly skipped?: string | undefined;
  /** Parts that are lost. */
  readonly losses: readonly string[];
  /** The owner whose direct conversation gets the results. Absent: the web page. */
  readonly to?: { readonly channel: string; readonly account: string; readonly peerId: string } | undefined;
}

/** Shortest interval of schedules here, in milliseconds. */
const MIN_INTERVAL_MS = 60_000;
/** Maximum number of schedules of one conversation. */
const MAX_PER_CONVERSATION = 50;

/** Converts schedules. Each one runs with the rights of the owner in whose conversation it is. */
export function convertSchedules(
  schedules: readonly SourceSchedule[],
  options: { readonly now: number; readonly dmScope: string; readonly skipMissed: boolean },
): { readonly imports: readonly ScheduleImport[]; readonly items: readonly Item[] } {
  const imports: ScheduleImport[] = [];
  const items: Item[] = [];
  const perConversation = new Map<string, number>();
  for (const schedule of schedules) {
    const { id, when, agentId, text, to } = schedule;
    const leaveOut = (why: string, state: Item["state"] = "unsupported"): void =>
      void items.push({ part: "schedules", id, state, why: `${why} Its text: ${text}` });
    if (schedule.skipped !== undefined) leaveOut(schedule.skipped, "skipped");
    else if (schedule.fault !== undefined) leaveOut(schedule.fault);
    else if (when === undefined) leaveOut("Its time cannot be read.");
    else if (when.kind === "at" && when.at <= options.now) leaveOut("It is over.", "skipped");
    else {
      const destination = to === undefined ? undefined : createOwnerPlace(agentId, to, options.dmScope);
      const { sessionKey, place } = destination ?? createPagePlace(agentId, "schedules");
      const count = (perConversation.get(sessionKey) ?? 0) + 1;
      perConversation.set(sessionKey, count);
      if (count > MAX_PER_CONVERSATION) {
        leaveOut(`A conversation can have at most ${MAX_PER_CONVERSATION} schedules.`);
        continue;
      }
      const isTooOften = when.kind === "every" && when.everyMs < MIN_INTERVAL_MS;
      const losses = [
        ...schedule.losses,
        ...(isTooOften ? ["It runs at most once a minute here."] : []),
        ...(destination === undefined
          ? [
              "Its results go to the web page: only an owner's direct conversation on Telegram can receive them.",
            ]
          : []),
      ];
      imports.push({
        kind: "schedule",
        id,
        scheduleId: `import-${id}`,
        when:
          when.kind === "every"
            ? { ...when, everyMs: Math.max(when.everyMs, MIN_INTERVAL_MS) }
            : when.kind === "cron"
              ? {
                  kind: "cron",
                  expression: when.expression,
                  ...(when.zone === undefined ? {} : { zone: when.zone }),
                }
              : when,
        missed: options.skipMissed ? "skip" : "once",
        agentId,
        text,
        sessionKey,
        place,
        loss: losses.length === 0 ? undefined : losses.join(" "),
      });
    }
  }
  return { imports, items };
}

/** Returns the direct conversation of an agent with an owner. */
function createOwnerPlace(
  agentId: string,
  { channel, account, peerId }: NonNullable<SourceSchedule["to"]>,
  dmScope: string,
): { readonly sessionKey: string; readonly place: Place } | undefined {
  // Only Telegram's address follows from the person's id. Others need the id of a direct channel.
  if (channel !== "telegram") return undefined;
  const sessionKey = formatSessionKey(
    dmScope === "main"
      ? { kind: "main", agentId }
      : dmScope === "per-peer"
        ? { kind: "direct", agentId, peerId }
        : dmScope === "per-account-channel-peer"
          ? { kind: "direct", agentId, channel, account, peerId }
          : { kind: "direct", agentId, channel, peerId },
  );
  return {
    sessionKey,
    place: {
      channel,
      account,
      address: `telegram:${peerId}`,
      conversation: { id: peerId, kind: "direct" },
      sender: { id: peerId, isBot: false, isSelf: false },
    },
  };
}

/** Returns a cron expression with five fields, or undefined if it depends on seconds. */
export function toFiveFields(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length === 5) return fields.join(" ");
  return fields.length === 6 && fields[0] === "0" ? fields.slice(1).join(" ") : undefined;
}
