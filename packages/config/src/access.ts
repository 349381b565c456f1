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
  const lists: readonly (readonly [ConfigPath, unknown, string])[] = [
    [["access", "owners"], access?.owners, "person"],
    [["access", "allow"], access?.allow, "person"],
    [["access", "groups", "allow"], asRecord(access?.groups)?.allow, "group"],
  ];
  const known = Object.keys(channels);
  return lists.flatMap(([path, list, what]) => {
    const entries: readonly unknown[] = Array.isArray(list) ? list : [];
    return entries.flatMap((entry, index): Problem[] => {
      // The schema has reported it already.
      if (typeof entry !== "string" || entry === "") return [];
      const [channel = "", id = ""] = entry.split(/:(.*)/s);
      if (id === "")
        return [
          problem([...path, index], {
            severity: "warning",
            message: `is not a valid ${what}: it needs the channel and the platform's id`,
            ignored: true,
            remedy: `Write it as ${known[0] ?? "slack"}:${entry}, with an id and not a name. \`signalbox messages\` shows the ids of senders.`,
          }),
        ];
      if (known.includes(channel)) return [];
      return [
        problem([...path, index], {
          severity: "warning",
          message: `does not match any ${what}: no channel ${channel} is configured`,
          ignored: true,
          remedy: `${didYouMean(channel, known)}The configured channels are: ${known.join(", ") || "none"}.`,
        }),
      ];
    });
  });
}
