/** Formats an integer with thousands separators. Without `Intl`, whose data takes milliseconds to load. */
export function count(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

/** Formats millionths of a US dollar exactly. */
export function dollars(micros: number): string {
  return `$${count(Math.floor(micros / 1e6))}.${String(micros % 1e6).padStart(6, "0")}`;
}

/** Formats an amount as `$1.25`, or with all six digits if it is not a whole number of cents. */
export function shortDollars(micros: number): string {
  return `$${(micros / 1e6).toFixed(micros % 10_000 === 0 ? 2 : 6)}`;
}

/** Formats a time as `2026-11-23 06:10` (UTC). */
export function minuteOf(at: number): string {
  return new Date(at).toISOString().slice(0, 16).replace("T", " ");
}

/** Splits a duration into its largest unit, and the remaining minutes if that unit is hours. */
export function spanOf(ms: number): { unit: "s" | "min" | "h" | "days"; value: number; minutes: number } {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return { unit: "s", value: Math.floor(ms / 1000), minutes: 0 };
  if (minutes < 60) return { unit: "min", value: minutes, minutes };
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return { unit: "h", value: hours, minutes: minutes % 60 };
  return { unit: "days", value: Math.floor(hours / 24), minutes: 0 };
}
