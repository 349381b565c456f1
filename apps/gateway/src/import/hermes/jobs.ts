import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseRecord } from "../records.ts";
import { type SourceSchedule, toFiveFields } from "../schedules.ts";
import { asRecord, asText, asTexts } from "../settings.ts";
import type { ReadOptions } from "../source.ts";
import { ACCOUNT, type Configuration } from "./configuration.ts";

/** Reads the jobs of Hermes's scheduler. */
export function readJobs(
  dir: string,
  agentId: string,
  { owners, timeZone }: Configuration,
  options: ReadOptions,
): readonly SourceSchedule[] {
  const file = join(dir, "cron", "jobs.json");
  if (!existsSync(file)) return [];
  const text = readFileSync(file, "utf8");
  const list = text.trimStart().startsWith("[")
    ? parseRecord(`{"jobs":${text}}`)["jobs"]
    : parseRecord(text)["jobs"];
  return (Array.isArray(list) ? list : []).map((each, index): SourceSchedule => {
    const job = asRecord(each) ?? {};
    const schedule = asRecord(job["schedule"]) ?? {};
    const origin = asRecord(job["origin"]);
    const deliver = asText(job["deliver"]) ?? "origin";
    const [channel, peerId] =
      deliver === "origin" ? [asText(origin?.["platform"]), asText(origin?.["chat_id"])] : deliver.split(":");
    const isOwners = channel !== undefined && peerId !== undefined && owners.includes(`${channel}:${peerId}`);
    const skills = asTexts(job["skills"]);
    const left = Number(asRecord(job["repeat"])?.["times"] ?? 0);
    const minutes = Number(schedule["interval"] ?? schedule["minutes"]);
    const expression = toFiveFields(asText(schedule["expr"]) ?? asText(schedule["cron"]) ?? "");
    const at = Date.parse(asText(schedule["run_at"]) ?? "");
    const when: SourceSchedule["when"] =
      schedule["kind"] === "once" && Number.isFinite(at)
        ? { kind: "at", at }
        : schedule["kind"] === "interval" && minutes > 0
          ? { kind: "every", everyMs: minutes * 60_000, from: 0 }
          : schedule["kind"] === "cron" && expression !== undefined
            ? { kind: "cron", expression, zone: timeZone ?? options.timeZone }
            : undefined;
    const prompt = asText(job["prompt"]) ?? "";
    return {
      id: asText(job["id"]) ?? `cron[${index}]`,
      agentId,
      text: [...skills.map((skill) => `Use the skill ${skill}.`), prompt].join("\n"),
      when,
      skipped: job["enabled"] === false || job["state"] === "paused" ? "It was off." : undefined,
      fault:
        prompt === ""
          ? "It has no text for the agent."
          : job["script"] != null || job["no_agent"] === true
            ? "It runs a script."
            : schedule["kind"] !== "once" && left > 0
              ? "It ends after a number of runs."
              : asTexts(job["enabled_toolsets"]).length > 0
                ? "It had fewer tools than its agent."
                : undefined,
      losses: [job["model"], job["provider"]].some((value) => asText(value) !== undefined)
        ? ["Its own model is lost."]
        : [],
      to: isOwners
        ? { channel, account: options.accounts[`${channel}/${ACCOUNT}`] ?? ACCOUNT, peerId }
        : undefined,
    };
  });
}
