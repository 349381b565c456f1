import type { ConnectionState } from "@signalbox/client";
import { type ReactNode, useEffect, useState } from "react";
import { useWords } from "../words/words.tsx";

interface Props {
  state: ConnectionState;
  onRetry: () => void;
}

/** Shows that the connection is lost and the time of the next attempt. Hidden while connected. */
export function ConnectionNote({ state, onRetry }: Props): ReactNode {
  const { connection: words } = useWords();
  const retryAt = state.kind === "waiting" ? state.retryAt : undefined;
  const [now, setNow] = useState(0);
  useEffect(() => {
    if (retryAt === undefined) return;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, [retryAt]);

  // Do not flash the note during the first attempt.
  const isLost = state.kind === "waiting" || (state.kind === "connecting" && state.attempt > 1);
  const seconds = retryAt === undefined ? 0 : Math.max(0, Math.ceil((retryAt - now) / 1000));
  return (
    <div role="status" className={isLost ? "connection" : "hidden"}>
      {isLost && (
        <>
          <span>
            {words.lost} {/* Counting aloud would drown everything else for those who listen. */}
            <span aria-hidden="true">{seconds > 0 ? words.retryIn(seconds) : words.connecting}</span>{" "}
            {words.waits}
          </span>
          {state.kind === "waiting" && (
            <button type="button" className="quiet" onClick={onRetry}>
              {words.tryNow}
            </button>
          )}
        </>
      )}
    </div>
  );
}
