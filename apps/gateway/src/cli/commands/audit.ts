import { GatewayError } from "@signalbox/home";
import { type AuditHead, type AuditKind, fileWitness, verifyChain } from "@signalbox/store/audit";
import type { CommonOptions } from "../common-options.ts";
import { withStore } from "../home-store.ts";
import { print } from "../output.ts";
import { printTable, short, time } from "../table.ts";

const SUBJECT_CHARS = 60;
const DETAILS_CHARS = 80;

/** `signalbox audit list`: lists the latest decisions, oldest first. */
export async function list(
  options: CommonOptions & { readonly kind?: AuditKind; readonly limit: number },
): Promise<void> {
  const { kind, limit } = options;
  const entries = await withStore(options, "read", async ({ audit }) => {
    if (kind === undefined) return audit.latest(limit);
    const ofKind = await audit.list({ kind, limit: Number.MAX_SAFE_INTEGER });
    return ofKind.slice(-limit);
  });
  printTable(options.json, entries, {
    none: "No decisions yet.",
    columns: {
      ENTRY: ({ seq }) => String(seq),
      TIME: ({ at }) => time(at),
      DECISION: ({ kind, action }) => `${kind} ${action}`,
      SUBJECT: ({ subject }) => short(subject, SUBJECT_CHARS),
      BY: ({ actor }) => actor,
      DETAILS: ({ details = {} }) =>
        short(
          Object.entries(details)
            .map(([name, value]) => `${name}=${value}`)
            .join(" "),
          DETAILS_CHARS,
        ),
    },
    below: entries.some(hasLongDetails) ? ["`--json` prints the complete details."] : [],
  });
}

function hasLongDetails({ details = {} }: { readonly details?: Readonly<Record<string, unknown>> }): boolean {
  return Object.entries(details).join(" ").length > DETAILS_CHARS;
}

/** `signalbox audit verify`. The exit code is 1 if an entry was changed, removed or moved. */
export async function verify(options: CommonOptions & { readonly head?: string }): Promise<void> {
  const verdict = await withStore(options, "read", ({ audit }, home) => {
    const noted = fileWitness(home.auditHeadFile).read();
    const given = options.head === undefined ? [] : [formatHead(options.head)];
    return verifyChain(audit, [...(noted === undefined ? [] : [noted]), ...given]);
  });
  print(options.json, verdict, () =>
    verdict.intact
      ? [`All ${verdict.head.count} entries are intact. Head: ${verdict.head.count}:${verdict.head.hash}`]
      : [`Broken at entry ${verdict.seq}: ${verdict.reason}.`],
  );
  if (!verdict.intact) throw new GatewayError("failure", "The audit chain was altered.");
}

/** Formats the last entry for `verify`. */
function formatHead(text: string): AuditHead {
  const [, count, hash] = /^(\d+):([0-9a-f]{64})$/.exec(text) ?? [];
  if (count === undefined || hash === undefined)
    throw new GatewayError(
      "usage",
      `${text} is not a chain head. Write it as \`signalbox audit verify\` prints it.`,
    );
  return { count: Number(count), hash };
}
