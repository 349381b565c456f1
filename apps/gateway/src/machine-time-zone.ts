/** The time zone of this machine. */
export interface MachineTimeZone {
  /** Its IANA name. `UTC` if the machine's setting is unusable. */
  readonly name: string;
  /** Reason why the machine's setting is unusable, as a sentence. */
  readonly problem?: string;
}

export const TIME_ZONE_REMEDY = "Set `TZ` to a name such as Asia/Shanghai or Europe/Berlin, and restart.";

const cache = new Map<string | undefined, MachineTimeZone>();

/**
 * Returns the machine's time zone, as set by `TZ` or the operating system. If `TZ` is not a valid time zone, `Intl`
 * reports none or a different one than `Date` uses, so UTC is returned instead.
 */
export function getMachineTimeZone(): MachineTimeZone {
  const setting = process.env.TZ;
  const zone = cache.get(setting) ?? findTimeZone(setting);
  cache.set(setting, zone);
  return zone;
}

function findTimeZone(setting: string | undefined): MachineTimeZone {
  const name: string | undefined = Intl.DateTimeFormat().resolvedOptions().timeZone;
  if (name !== undefined && name !== "Etc/Unknown" && agreesWithDate(name)) return { name };
  if (setting === "") return { name: "UTC" };
  const problem =
    setting === undefined ? "the system has no named time zone" : `TZ=${setting} is not a time zone`;
  return { name: "UTC", problem: `${problem}, so UTC is used` };
}

/** Compares the UTC offsets in winter and in summer. */
function agreesWithDate(timeZone: string): boolean {
  const format = new Intl.DateTimeFormat("en", {
    hour: "numeric",
    minute: "numeric",
    hourCycle: "h23",
    timeZone,
  });
  const year = new Date().getFullYear();
  return [0, 6].every((month) => {
    const date = new Date(year, month, 15, 12, 34);
    return format.format(date) === "12:34";
  });
}
