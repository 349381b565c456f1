import { existsSync, statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { findExposedFiles, folderFault, type Home, restrictHome } from "@signalbox/home";
import { getMachineTimeZone, TIME_ZONE_REMEDY } from "../../machine-time-zone.ts";
import type { Finding } from "./finding.ts";

/** Below this, writes fail. */
const NONE_FREE_BYTES = 20_000_000;
const LEAST_FREE_BYTES = 1_000_000_000;
/** Tolerated difference between the clock and the database's modification time, in milliseconds. */
const CLOCK_SLACK_MS = 120_000;

/** Checks the machine and the home's folder, but not the contents of the folder. */
export async function checkMachine(home: Home, now: () => number): Promise<Finding[]> {
  return [
    { part: "node", state: "ok", detail: `Node.js ${process.versions.node}` },
    folder(home),
    ...permissions(home),
    await disk(home),
    clock(home, now),
    timeZone(),
  ];
}

function folder({ dir }: Home): Finding {
  const fault = folderFault(dir);
  if (fault !== undefined)
    return {
      part: "home",
      state: "error",
      detail: `the home ${dir} ${fault}`,
      remedy: "Make it writable for this user, or choose another home with --home or SIGNALBOX_HOME.",
    };
  return { part: "home", state: "ok", detail: existsSync(dir) ? dir : `${dir}, created at the first start` };
}

function permissions(home: Home): Finding[] {
  const open = findExposedFiles(home);
  if (open.length === 0) return [];
  return [
    {
      part: "permissions",
      state: "warning",
      detail: `others can read ${open.map(({ path, mode }) => `${path} (${mode})`).join(", ")}`,
      remedy: "Close them with `signalbox doctor --fix`; starting the gateway does the same.",
      fix: () => `closed ${restrictHome(home).filter(({ fixed }) => fixed).length} of them`,
    },
  ];
}

async function disk({ dir }: Home): Promise<Finding> {
  const { bavail, bsize } = await statfs(nearestFolder(dir));
  const free = bavail * bsize;
  const detail = free < 1e9 ? `${Math.floor(free / 1e6)} MB free` : `${(free / 1e9).toFixed(1)} GB free`;
  if (free >= LEAST_FREE_BYTES) return { part: "disk", state: "ok", detail };
  return {
    part: "disk",
    state: free < NONE_FREE_BYTES ? "error" : "warning",
    detail,
    remedy: `Free some space on the volume of ${dir}: without it, no message can be accepted. \`signalbox maintenance prune\` deletes old data, but needs some free space itself.`,
  };
}

/** Checks the clock. If it was set back, message ids and timestamps are no longer monotonic. */
function clock({ databaseFile }: Home, now: () => number): Finding {
  const written = statSync(databaseFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const at = new Date(now()).toISOString();
  if (written - now() <= CLOCK_SLACK_MS) return { part: "clock", state: "ok", detail: at };
  return {
    part: "clock",
    state: "warning",
    detail: `${at}, but the database was last written at ${new Date(written).toISOString()}`,
    remedy: "Set this machine's clock and keep it in sync with NTP.",
  };
}

function timeZone(): Finding {
  const { name, problem } = getMachineTimeZone();
  if (problem === undefined) return { part: "time zone", state: "ok", detail: name };
  return { part: "time zone", state: "warning", detail: problem, remedy: TIME_ZONE_REMEDY };
}

function nearestFolder(dir: string): string {
  return existsSync(dir) || dirname(dir) === dir ? dir : nearestFolder(dirname(dir));
}
