import { countItems, type Item, type ItemState, PARTS } from "./item.ts";
import type { SourceHome } from "./source.ts";

/** The result of a plan or an import, for programs. */
export interface ImportReport {
  readonly system: string;
  readonly source: string;
  readonly version?: string | undefined;
  readonly applied: boolean;
  /** Folder of the backup that was made before. */
  readonly backup?: string | undefined;
  readonly counts: Readonly<Partial<Record<ItemState, number>>>;
  readonly warnings: readonly string[];
  readonly items: readonly Item[];
  readonly steps: readonly string[];
}

export function createReport(
  source: SourceHome,
  items: readonly Item[],
  more: Pick<ImportReport, "applied" | "backup"> & { readonly steps: readonly string[] },
): ImportReport {
  const { system, dir, version, warnings } = source;
  return {
    system,
    source: dir,
    version,
    applied: more.applied,
    backup: more.backup,
    counts: countItems(items),
    warnings,
    items: items.toSorted((a, b) => PARTS.indexOf(a.part) - PARTS.indexOf(b.part)),
    steps: [...source.steps, ...more.steps],
  };
}

const STATES: readonly ItemState[] = ["imported", "changed", "skipped", "conflict", "unsupported", "secret"];
/** Maximum number of items of a part and a state that the text lists. `--json` lists all. */
const MAX_LISTED = 40;

/** Formats a report for people: what needs attention first, then the numbers, then every item that is not the same. */
export function formatReport(report: ImportReport): readonly string[] {
  const { system, source, version, applied, backup, items, warnings, steps } = report;
  const lines = [
    `${applied ? "Imported" : "Plan for"} the ${system} home ${source}${version === undefined ? "" : ` (version ${version})`}`,
    ...(backup === undefined ? [] : [`The home before the import is in ${backup}.`]),
    "",
    ...warnings.map((warning) => `! ${warning}`),
    ...(warnings.length === 0 ? [] : [""]),
    ...PARTS.flatMap((part) => {
      const own = items.filter((item) => item.part === part);
      if (own.length === 0) return [];
      const counts = countItems(own);
      const texts = STATES.flatMap((state) =>
        counts[state] === undefined ? [] : [`${counts[state]} ${state}`],
      );
      return [`${part.padEnd(11)} ${texts.join(", ")}`];
    }),
    `${"together".padEnd(11)} ${items.length} items`,
  ];
  for (const state of STATES.filter((each) => each !== "imported")) {
    const own = items.filter((item) => item.state === state);
    if (own.length === 0) continue;
    lines.push("", TITLES[state]);
    for (const { part, id, why } of own.slice(0, MAX_LISTED))
      lines.push(`  ${part}  ${id}${why === undefined ? "" : `: ${shorten(why)}`}`);
    if (own.length > MAX_LISTED) lines.push(`  … and ${own.length - MAX_LISTED} more; --json lists all.`);
  }
  lines.push("", applied ? "What remains to do:" : "Nothing was changed. After an import with --apply:");
  lines.push(...steps.map((step) => `- ${step.replaceAll("\n", "\n  ")}`));
  return lines;
}

/** Maximum length of a reason in the text, in characters. */
const MAX_REASON = 240;

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length <= MAX_REASON ? line : `${line.slice(0, MAX_REASON - 1)}…`;
}

const TITLES: Readonly<Record<ItemState, string>> = {
  imported: "Imported:",
  changed: "Changed:",
  skipped: "Skipped, because they need no import:",
  conflict: "Conflicts, where the home has something else (--force <part> replaces it):",
  unsupported: "Unsupported:",
  secret: "Missing secrets (--secrets copies them):",
};
