import { useHotkeys } from "@mantine/hooks";
import { useNavigate } from "@tanstack/react-router";
import { useEffect } from "react";
import { useConversations } from "../conversation/conversations.tsx";
import { PAGES } from "../pages.ts";
import { useScopes } from "../parts/use-scopes.ts";

/** Name of the key that Apple's keyboards use instead of Ctrl. */
export const COMMAND_KEY: string = /Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl";

/** Time limit between `g` and the key of a page, in milliseconds. */
const MAX_PAUSE_MS = 1_500;

interface Options {
  onPalette: () => void;
  onHelp: () => void;
}

/** Keyboard shortcuts of all pages. Single keys are ignored while the user writes and while a dialog is open. */
export function useShortcuts({ onPalette, onHelp }: Options): void {
  const navigate = useNavigate();
  const { begin } = useConversations();
  const scopes = useScopes();
  const canManage = scopes.has("read");
  const canChat = scopes.has("chat");
  useHotkeys([["mod+K", onPalette]], []);

  useEffect(() => {
    /** Time at which `g` was pressed. */
    let leaderAt = 0;
    const goTo = (key: string) => {
      const page = canManage ? PAGES.find((each) => each.key === key) : undefined;
      if (page !== undefined) void navigate({ to: page.to });
      else if (key === "h" && canChat) void navigate({ to: "/" });
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isWriting(event.target) || document.querySelector('[role="dialog"]') !== null) return;
      const key = event.key.toLowerCase();
      const isAfterLeader = Date.now() - leaderAt < MAX_PAUSE_MS;
      leaderAt = key === "g" && !isAfterLeader ? Date.now() : 0;
      const action = isAfterLeader
        ? () => goTo(key)
        : { "?": onHelp, "/": focusSearch, ...(canChat && { c: () => begin() }) }[key];
      if (action === undefined) return;
      event.preventDefault();
      action();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [navigate, begin, canManage, canChat, onHelp]);
}

function focusSearch(): void {
  const onPage = document.querySelector<HTMLElement>("main [data-search]");
  (onPage ?? document.querySelector<HTMLElement>("[data-search]"))?.focus();
}

/** Returns true if keys belong to a field. */
function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || target.matches("input, textarea, select"))
  );
}
