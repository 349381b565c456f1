import { Button } from "@mantine/core";
import type { ConnectionState } from "@signalbox/client";
import { IconPlugConnectedX } from "@tabler/icons-react";
import { type ReactNode, useEffect, useState } from "react";
import { useWords } from "../words/words.tsx";
import classes from "./connection-note.module.css";

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
    <div role="status" data-connection className={isLost ? classes["lost"] : "visually-hidden"}>
      {isLost && (
        <>
          <IconPlugConnectedX size={18} aria-hidden />
          <span>
            {words.lost} {/* Screen readers would announce each second of the countdown. */}
            <span aria-hidden="true">{seconds > 0 ? words.retryIn(seconds) : words.connecting}</span>{" "}
            {words.waits}
          </span>
          {state.kind === "waiting" && (
            <Button variant="default" size="xs" onClick={onRetry}>
              {words.tryNow}
            </Button>
          )}
        </>
      )}
    </div>
  );
}
