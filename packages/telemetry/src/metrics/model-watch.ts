import type { AgentEvent } from "@signalbox/agent-core";

/** Measures each model turn of a run: the time to the first output and to the whole message. */
export function watchModelTurns(
  clock: () => number,
  report: (firstMs: number | undefined, wholeMs: number) => void,
): (event: AgentEvent) => void {
  let asked: number | undefined;
  let first: number | undefined;
  return (event) => {
    switch (event.type) {
      case "turn.start":
      // The summary was a separate request.
      case "compaction.end":
        asked = clock();
        first = undefined;
        return;
      case "block.start":
        if (asked !== undefined) first ??= clock() - asked;
        return;
      case "message":
      case "turn.end": {
        // A turn that fails without output has no message event.
        const answered = event.type === "turn.end" || event.origin === "model";
        if (asked === undefined || !answered) return;
        report(first, clock() - asked);
        asked = undefined;
        return;
      }
    }
  };
}
