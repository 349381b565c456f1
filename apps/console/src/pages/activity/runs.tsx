import type { ActivityCall, ActivityRun } from "@signalbox/client";
import type { ReactNode } from "react";
import { StateBadge, type Tone } from "../../parts/state-badge.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import classes from "./activity.module.css";
import { Ongoing } from "./ongoing.tsx";
import { useNow } from "./use-now.ts";

/** Current runs with their tool calls. */
export function Runs({ runs }: { runs: readonly ActivityRun[] }): ReactNode {
  const now = useNow();
  return (
    <ul className={classes["rows"]}>
      {runs.map(({ runId, agent, sessionKey, startedAt, calls }) => (
        <Ongoing key={runId} name={agent} startedAt={startedAt} now={now} sessionKey={sessionKey}>
          {calls.length > 0 && (
            <ol className={classes["calls"]} data-calls>
              {calls.map((call) => (
                <Call key={call.id} call={call} />
              ))}
            </ol>
          )}
        </Ongoing>
      ))}
    </ul>
  );
}

const TONES: Readonly<Record<ActivityCall["state"], Tone>> = { running: "busy", done: "good", failed: "bad" };

function Call({ call: { name, args, state, durationMs } }: { call: ActivityCall }): ReactNode {
  const { tool } = useWords();
  const format = useFormat();
  return (
    <li>
      <strong>{name}</strong>
      <StateBadge tone={TONES[state]}>{tool.states[state]}</StateBadge>
      {durationMs !== undefined && <span className={classes["about"]}>{format.duration(durationMs)}</span>}
      <code>{args}</code>
    </li>
  );
}
