/** Formats a time as `Mon 2026-06-15 14:31 UTC`, or with the IANA name of another time zone. */
export function formatTimestamp(timestamp: number, timeZone: string): string {
  const parts = getFormat(timeZone).formatToParts(timestamp);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? "";
  const date = `${part("year")}-${part("month")}-${part("day")}`;
  return `${part("weekday")} ${date} ${part("hour")}:${part("minute")} ${timeZone}`;
}

/** Creating a format is expensive, and there are few time zones. */
const formats = new Map<string, Intl.DateTimeFormat>();

function getFormat(timeZone: string): Intl.DateTimeFormat {
  const cached = formats.get(timeZone);
  if (cached !== undefined) return cached;
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone,
    weekday: "short",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  });
  if (formats.size < 100) formats.set(timeZone, format);
  return format;
}
