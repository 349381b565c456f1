import type { Connection, ConnectionState } from "@signalbox/client";
import { useCallback, useSyncExternalStore } from "react";

/** The state of the connection, which also tries again as soon as the browser is back on a network. */
export function useConnectionState(connection: Connection): ConnectionState {
  const subscribe = useCallback(
    (changed: () => void) => {
      const retry = () => connection.retryNow();
      addEventListener("online", retry);
      const stop = connection.onState(changed);
      return () => {
        removeEventListener("online", retry);
        stop();
      };
    },
    [connection],
  );
  return useSyncExternalStore(subscribe, () => connection.state);
}
