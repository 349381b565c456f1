import { realpath } from "node:fs/promises";
import { join } from "node:path";
import { hasContent, loadWorkspaceFiles, SILENT_TOKEN } from "@signalbox/prompt";
import type { FileLabels } from "@signalbox/tools";
import type { ActiveHours, Agent, Heartbeat } from "../configure/agents.ts";
import { getMachineTimeZone } from "../machine-time-zone.ts";
import type { TriggerLogger } from "./types.ts";

const NAME = "HEARTBEAT.md";
const MAX_BYTES = 16_000;
/** Matches a list item that is checked off. */
const DONE_ITEM = /^[ \t]*[-*+][ \t]+\[[xX]\].*$/gm;

/** The tasks of a heartbeat. */
export interface Checklist {
  readonly text: string;
  /** True if the file is longer than the limit. */
  readonly cut: boolean;
}

interface ChecklistPorts {
  readonly labels: Pick<FileLabels, "get">;
  readonly logger: TriggerLogger;
}

/** Reads `HEARTBEAT.md` in an agent's workspace. Returns undefined if the file contains no task or is not trusted. */
export async function readChecklist(
  { workspaceDir }: Pick<Agent, "workspaceDir">,
  { labels, logger }: ChecklistPorts,
): Promise<Checklist | undefined> {
  const loaded = await loadWorkspaceFiles(workspaceDir, { names: [NAME], maxBytes: MAX_BYTES });
  for (const { message } of loaded.problems) logger.warn({ dir: workspaceDir, file: NAME }, message);
  const [file] = loaded.files;
  if (file === undefined || !hasContent(file.text.replace(DONE_ITEM, ""))) return undefined;
  if (labels.get(join(await realpath(workspaceDir), NAME)) !== undefined) {
    const message =
      "the heartbeat is on hold: its file contains text that others wrote, and no owner has trusted it yet";
    logger.warn({ dir: workspaceDir, file: NAME }, message);
    return undefined;
  }
  return { text: file.text.trim(), cut: file.totalBytes !== undefined };
}

/** Returns true if a time is within the active hours. */
export function isActive(hours: ActiveHours | undefined, at: number): boolean {
  if (hours === undefined) return true;
  const { from, to, zone = getMachineTimeZone().name } = hours;
  const time = new Intl.DateTimeFormat("en-GB", {
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
    timeZone: zone,
  }).format(at);
  return from < to ? from <= time && time < to : from <= time || time < to;
}

/** Returns the prompt for a heartbeat. */
export function heartbeatText({ every }: Heartbeat, { text, cut }: Checklist): string {
  return [
    `Heartbeat: an automatic message, sent every ${every}.`,
    `Do what ${NAME} in your workspace says, as far as it is due now. Do not repeat what you have already said.`,
    `If there is nothing to report, answer ${SILENT_TOKEN} and nothing else.`,
    "",
    cut ? `${NAME}, of which this is the beginning:` : `${NAME}:`,
    text,
  ].join("\n");
}
