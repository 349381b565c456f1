/** The promises that a proof counts. */
export const PROMISES = [
  "lost",
  "out of order",
  "blind re-executions",
  "duplicates at the platform",
  "other",
] as const;

/** Returns the promise that a violation breaks. */
export function promiseOf(violation: string): (typeof PROMISES)[number] {
  if (/^(lost|open|state|untold|unaddressed|deleted|rest):/.test(violation)) return "lost";
  if (/^(order|misplaced):/.test(violation)) return "out of order";
  if (violation.startsWith("blind:")) return "blind re-executions";
  return /^(duplicate|twice):/.test(violation) ? "duplicates at the platform" : "other";
}
