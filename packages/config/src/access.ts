import type { ConfigPath, MakeProblem, Problem } from "./problem.ts";
import type { AccessConfig, ChannelConfig } from "./schema/index.ts";
import { didYouMean } from "./suggest.ts";

/** Entries of `access` that name nobody: without their channel, or with one that there is not. */
export function accessProblems(
  access: AccessConfig,
  channels: Readonly<Record<string, ChannelConfig>>,
  problem: MakeProblem,
): Problem[] {
  const lists: readonly (readonly [ConfigPath, readonly string[], string])[] = [
    [["access", "owners"], access.owners, "person"],
    [["access", "allow"], access.allow, "person"],
    [["access", "groups", "allow"], access.groups.allow, "group"],
  ];
  const known = Object.keys(channels);
  return lists.flatMap(([path, entries, what]) =>
    entries.flatMap((entry, index): Problem[] => {
      const [channel = "", id = ""] = entry.split(/:(.*)/s);
      if (id === "")
        return [
          problem([...path, index], {
            severity: "warning",
            message: `names no ${what}: it must be the channel and the platform's id`,
            remedy: `Write it as ${known[0] ?? "slack"}:${entry}; names never count. \`signalbox messages\` shows the ids of those who wrote.`,
          }),
        ];
      if (known.includes(channel)) return [];
      return [
        problem([...path, index], {
          severity: "warning",
          message: `names no ${what} here: no channel ${channel} is configured`,
          remedy: `${didYouMean(channel, known)}The configured channels are: ${known.join(", ") || "none"}.`,
        }),
      ];
    }),
  );
}
