import { type ReactNode, useEffect, useRef } from "react";
import { useConversations } from "../../conversation/conversations.tsx";

/** An address that names no conversation begins one, which takes its place: the way back leads past it. */
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
