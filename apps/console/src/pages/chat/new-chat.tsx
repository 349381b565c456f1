import { type ReactNode, useEffect, useRef } from "react";
import { useConversations } from "../../conversation/conversations.tsx";

/** Redirects to a new conversation. Replaces the history entry, so that Back skips it. */
export function NewChat(): ReactNode {
  const { begin } = useConversations();
  const hasBegun = useRef(false);
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    begin(undefined, { replace: true });
  }, [begin]);
  return null;
}
