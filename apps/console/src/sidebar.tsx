import type { AgentInfo, ConversationInfo, Me } from "@signalbox/client";
import { type ReactNode, useEffect } from "react";
import { Sign } from "./sign.tsx";
import { conversationHash } from "./use-conversation-id.ts";

interface Props {
  /** On a narrow page the list covers the conversation while it is open. */
  open: boolean;
  conversations: ConversationInfo[];
  current: string;
  agents: AgentInfo[];
  busy: ReadonlySet<string>;
  me: Me;
  onClose: () => void;
  onNew: () => void;
  onSignOut: () => Promise<void>;
}

export function Sidebar(props: Props): ReactNode {
  const { open, conversations, current, agents, busy, me, onClose, onNew, onSignOut } = props;
  useEffect(() => {
    if (!open) return;
    const close = (event: KeyboardEvent) => {
      if (event.key === "Escape") onClose();
    };
    addEventListener("keydown", close);
    return () => removeEventListener("keydown", close);
  }, [open, onClose]);

  return (
    <>
      {open && <button type="button" className="shade" aria-label="Close conversations" onClick={onClose} />}
      <nav className={open ? "open" : ""} aria-label="Conversations">
        <div className="brand">
          <Sign />
          <h1>Signalbox</h1>
        </div>
        <button type="button" className="new" onClick={onNew}>
          New conversation
        </button>
        {conversations.length === 0 && <p className="help">Nothing yet.</p>}
        <ul hidden={conversations.length === 0}>
          {conversations.map(({ id, title, agent, updatedAt }) => (
            <li key={id}>
              <a
                href={conversationHash(id)}
                aria-current={id === current ? "page" : undefined}
                onClick={onClose}
              >
                <span className="title">{title}</span>
                <span className="about">
                  {agents.find((each) => each.id === agent)?.name ?? agent} ·{" "}
                  <time dateTime={new Date(updatedAt).toISOString()}>{when(updatedAt)}</time>
                  {busy.has(id) && <span className="busy"> · working</span>}
                </span>
              </a>
            </li>
          ))}
        </ul>
        <footer>
          <span>
            {me.user.name} · {me.version}
          </span>
          <button type="button" className="quiet" onClick={() => void onSignOut()}>
            Sign out
          </button>
        </footer>
      </nav>
    </>
  );
}

/** The time for today, the day for any other. */
function when(at: number): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(
    undefined,
    isToday ? { hour: "2-digit", minute: "2-digit" } : { day: "numeric", month: "short" },
  );
}
