import { Outlet, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useState } from "react";
import { ConversationsProvider } from "../conversation/conversations.tsx";
import { useConnectionState, useGateway } from "../gateway.tsx";
import { useWords } from "../words/words.tsx";
import { ConnectionNote } from "./connection-note.tsx";
import { Sidebar } from "./sidebar.tsx";

/** Frame of every page: the sidebar, and a note if the connection is lost. */
export function Shell(): ReactNode {
  const words = useWords();
  const { connection } = useGateway();
  const state = useConnectionState();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { pathname } = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation closes the sidebar
  useEffect(() => setMenuOpen(false), [pathname]);
  return (
    <ConversationsProvider>
      <div className="page">
        <Sidebar isOpen={isMenuOpen} onClose={() => setMenuOpen(false)} />
        <main>
          <button
            type="button"
            className="quiet menu"
            aria-label={words.sidebar.open}
            aria-expanded={isMenuOpen}
            onClick={() => setMenuOpen(true)}
          >
            ☰
          </button>
          <ConnectionNote state={state} onRetry={() => connection.retryNow()} />
          <Outlet />
        </main>
      </div>
    </ConversationsProvider>
  );
}
