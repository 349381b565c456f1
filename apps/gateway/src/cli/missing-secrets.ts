import type { MissingSecret } from "@signalbox/home";

/** Formats the secrets that a home lacks, with the steps that add them. Empty if no secret is missing. */
export function formatMissingSecrets(missing: readonly MissingSecret[], doctor: string): readonly string[] {
  if (missing.length === 0) return [];
  return [
    "The configuration needs secrets that do not exist here (checked with the variables of this shell):",
    ...missing.map(({ path, message }) => `  ${path}: ${message}`),
    `Until they exist, the parts that need them do not start. Set the variables where the gateway starts, create the files with mode 600, or replace the references. Then check with ${doctor}.`,
  ];
}
