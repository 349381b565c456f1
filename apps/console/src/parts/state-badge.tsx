import { Badge } from "@mantine/core";
import type { ReactNode } from "react";

/** Color of a badge: `good`, `bad`, `busy` for work in progress, `warn` for what needs attention, or `neutral`. */
export type Tone = "good" | "bad" | "busy" | "warn" | "neutral";

const COLORS: Readonly<Record<Tone, string>> = {
  good: "signal",
  bad: "red",
  busy: "blue",
  warn: "orange",
  neutral: "gray",
};

/** A state in one or two words. */
export function StateBadge({ tone, children }: { tone: Tone; children: ReactNode }): ReactNode {
  // A narrow column must not shorten it.
  return (
    <Badge color={COLORS[tone]} miw="max-content">
      {children}
    </Badge>
  );
}
