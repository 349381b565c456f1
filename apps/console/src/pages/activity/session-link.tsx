import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** Link to the messages of a session. */
export function SessionLink({ sessionKey }: { sessionKey: string }): ReactNode {
  return (
    <Link to="/messages" search={{ session: sessionKey }}>
      {sessionKey}
    </Link>
  );
}
