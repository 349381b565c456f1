import { asRecord } from "./part-reader.ts";
import type { ConfigPath, MakeProblem, Problem } from "./problem.ts";
import type { ChannelConfig } from "./schema/index.ts";
import { didYouMean } from "./suggest.ts";

/**
 * Reports entries of `access` without a channel, or with one that is not configured.
 *
 * @param section the section as it is written, because validation changes the positions of entries
 */
export function checkAccess(
  section: unknown,
  channels: Readonly<Record<string, ChannelConfig>>,
  problem: MakeProblem,
): Problem[] {
  const access = asRecord(section);
  const groups = asRecord(access?.groups);
  const rules = Object.entries(asRecord(groups?.rules) ?? {});
  const lists: readonly (readonly [ConfigPath, unknown, string])[] = [
    [["access", "owners"], access?.owners, "person"],
    [["access", "allow"], access?.allow, "person"],
    [["access", "groups", "allow"], groups?.allow, "group"],
    ...rules.map(
      ([id, rule]) => [["access", "groups", "rules", id, "allow"], asRecord(rule)?.allow, "person"] as const,
    ),
  ];
  const entriesIn = (list: unknown) => (Array.isArray(list) ? [...list.entries()] : []);
  const named: readonly (readonly [ConfigPath, unknown, string])[] = [
    ...lists.flatMap(([path, list, what]) =>
      entriesIn(list).map(([index, entry]) => [[...path, index], entry, what] as const),
    ),
    ...rules.map(([id]) => [["access", "groups", "rules", id], id, "group"] as const),
  ];
  const known = Object.keys(channels);
  return named.flatMap(([path, entry, what]): Problem[] => {
    // The schema has reported it already.
    if (typeof entry !== "string" || entry === "") return [];
    const [channel = "", id = ""] = entry.split(/:(.*)/s);
    if (id === "")
      return [
        problem(path, {
          severity: "warning",
          message: `is not a valid ${what}: it needs the channel and the platform's id`,
          ignored: true,
          remedy: `Write it as ${known[0] ?? "slack"}:${entry}, with an id and not a name. \`signalbox messages\` shows the ids of senders.`,
        }),
      ];
    if (known.includes(channel)) return [];
    return [
      problem(path, {
        severity: "warning",
        message: `does not match any ${what}: no channel ${channel} is configured`,
        ignored: true,
        remedy: `${didYouMean(channel, known)}The configured channels are: ${known.join(", ") || "none"}.`,
      }),
    ];
  });
}
