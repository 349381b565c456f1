import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Link to a session. */
export function SessionLink({ sessionKey }: { sessionKey: string }): ReactNode {
  return (
    <Link to="/session/$key" params={{ key: sessionKey }}>
      {sessionKey}
    </Link>
  );
}
