import type { ActivityCall, ActivityRun } from "@signalbox/client";
import type { ReactNode } from "react";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import { Ongoing } from "./ongoing.tsx";
import { useNow } from "./use-now.ts";

/** Current runs with their tool calls. */
export function Runs({ runs }: { runs: readonly ActivityRun[] }): ReactNode {
  const now = useNow();
  return (
    <ul className="rows">
      {runs.map(({ runId, agent, sessionKey, startedAt, calls }) => (
        <Ongoing key={runId} name={agent} startedAt={startedAt} now={now} sessionKey={sessionKey}>
          {calls.length > 0 && (
            <ol className="calls">
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

function Call({ call: { name, args, state, durationMs } }: { call: ActivityCall }): ReactNode {
  const { tool } = useWords();
  const format = useFormat();
  return (
    <li>
      <strong>{name}</strong>
      <span className={`badge ${state}`}>{tool.states[state]}</span>
      {durationMs !== undefined && <span className="about">{format.duration(durationMs)}</span>}
      <code>{args}</code>
    </li>
  );
}
