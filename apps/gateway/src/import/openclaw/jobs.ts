import { toAccountName, toAgentId } from "../names.ts";
import { type SourceSchedule, toFiveFields } from "../schedules.ts";
import { asRecord, asText, asTexts } from "../settings.ts";
import type { ReadOptions } from "../source.ts";
import { stripPrefix } from "./accounts.ts";
import type { Configuration } from "./configuration.ts";

type Owner = { readonly channel: string; readonly account: string; readonly peerId: string };

/** Converts the jobs of OpenClaw's scheduler. */
export function readJobs(
  jobs: readonly { readonly id: string; readonly job: Readonly<Record<string, unknown>> }[],
  configuration: Configuration,
  options: ReadOptions,
  lastOwner: Owner | undefined,
): readonly SourceSchedule[] {
  return jobs.map(({ id, job }): SourceSchedule => {
    const payload = asRecord(job["payload"]) ?? {};
    const kind = asText(payload["kind"]) ?? "";
    const agent = asText(job["agentId"]);
    const tools = payload["toolsAllow"];
    const delivery = asRecord(job["delivery"]);
    const text = asText(payload["message"]) ?? asText(payload["text"]) ?? JSON.stringify(payload);
    const isNarrow = Array.isArray(tools) && !(tools.length === 1 && tools[0] === "*");
    const { when, loss } = readWhen(
      asRecord(job["schedule"]) ?? {},
      configuration.timeZone ?? options.timeZone,
    );
    const to = findReceiver(job, delivery, configuration, options, lastOwner);
    return {
      id,
      agentId: agent === undefined ? configuration.defaultAgent : toAgentId(agent, options),
      text,
      when,
      skipped:
        asText(job["declarationKey"]) !== undefined
          ? "OpenClaw created it for itself."
          : job["enabled"] === false
            ? "It was off."
            : undefined,
      fault: getFault(kind, isNarrow, asText(delivery?.["mode"])),
      losses: [
        ...(loss === undefined ? [] : [loss]),
        ...["model", "thinking", "fallbacks"].flatMap((key) =>
          payload[key] === undefined ||
          (asTexts(payload[key]).length === 0 && typeof payload[key] !== "string")
            ? []
            : [`Its own ${key} is lost.`],
        ),
      ],
      to,
    };
  });
}

function getFault(kind: string, isNarrow: boolean, mode: string | undefined): string | undefined {
  if (kind !== "agentTurn" && kind !== "systemEvent")
    return `Schedules of the kind ${kind}. Write it as a text for the agent.`;
  if (isNarrow) return "It had fewer tools than its agent.";
  if (mode === "webhook") return "Delivery to a webhook.";
  return undefined;
}

function readWhen(
  schedule: Readonly<Record<string, unknown>>,
  zone: string,
): { readonly when: SourceSchedule["when"]; readonly loss?: string } {
  if (schedule["kind"] === "at") {
    const at =
      typeof schedule["at"] === "number"
        ? schedule["at"]
        : Date.parse(asText(schedule["at"]) ?? asText(schedule["atMs"]) ?? "");
    return { when: Number.isFinite(at) ? { kind: "at", at } : undefined };
  }
  if (schedule["kind"] === "every") {
    const everyMs = Number(schedule["everyMs"]);
    const from = Number(schedule["anchorMs"] ?? 0);
    return {
      when: everyMs > 0 ? { kind: "every", everyMs, from: Number.isFinite(from) ? from : 0 } : undefined,
    };
  }
  const expression = toFiveFields(asText(schedule["expr"]) ?? "");
  if (schedule["kind"] !== "cron" || expression === undefined) return { when: undefined };
  return {
    when: { kind: "cron", expression, zone: asText(schedule["tz"]) ?? zone },
    ...(Number(schedule["staggerMs"]) > 0
      ? { loss: "It is exact here, and was up to some minutes late." }
      : {}),
  };
}

/** Returns the owner whose direct conversation gets the results, because schedules run with an owner's rights. */
function findReceiver(
  job: Readonly<Record<string, unknown>>,
  delivery: Readonly<Record<string, unknown>> | undefined,
  { owners }: Configuration,
  options: ReadOptions,
  lastOwner: Owner | undefined,
): Owner | undefined {
  if (asText(delivery?.["mode"]) === "none") return undefined;
  const channel = asText(delivery?.["channel"]);
  const to = asText(delivery?.["to"]);
  if (channel !== undefined && channel !== "last" && to !== undefined) {
    const peerId = stripPrefix(to, channel);
    const account = toAccountName(channel, asText(delivery?.["accountId"]) ?? "default", options);
    return owners.includes(`${channel}:${peerId}`) ? { channel, account, peerId } : undefined;
  }
  const isToLast =
    channel === "last" || job["sessionTarget"] === "main" || job["sessionTarget"] === "current";
  if (!isToLast || lastOwner === undefined) return undefined;
  return { ...lastOwner, account: toAccountName(lastOwner.channel, lastOwner.account, options) };
}
