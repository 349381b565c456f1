import { composeReply } from "@signalbox/prompt";
import type { LiveView } from "@signalbox/runs";

/**
 * What people may see of the answer by now. `alreadySent` are texts that the message tool has delivered. `carries`:
 * attachments go out with it, so that it does not name them.
 */
export function draftText(
  view: Pick<LiveView, "ended" | "current">,
  alreadySent: readonly string[],
  carries = false,
): string {
  const { text } = composeReply(view.ended(), "complete", alreadySent, carries);
  const current = view.current();
  // It may be about to say again what the tool has said already.
  const repeats = alreadySent.some((sent) => sent.startsWith(current.trim()));
  return [text, repeats ? "" : current].filter((part) => part !== "").join("\n\n");
}
