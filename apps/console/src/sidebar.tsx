import type { AgentInfo, Client, ConversationInfo, Me } from "@signalbox/client";
import { type ReactNode, useEffect, useState } from "react";
import { useApprovals } from "./approvals/use-approvals.ts";
import { SearchField } from "./parts/search-field.tsx";
import { Sign } from "./parts/sign.tsx";
import { hashOf, type Place } from "./place.ts";
import { useFormat } from "./words/use-format.ts";
import { useLanguage, useWords } from "./words/words.tsx";

interface Props {
  /** On a narrow page the list covers what is beside it while it is open. */
  open: boolean;
  conversations: ConversationInfo[];
  place: Place;
  agents: AgentInfo[];
  busy: ReadonlySet<string>;
  me: Me;
  client: Client;
  isOwner: boolean;
  onClose: () => void;
  onNew: () => void;
  onSignOut: () => Promise<void>;
}

export function Sidebar(props: Props): ReactNode {
  const { open, place, me, onClose, onNew, onSignOut } = props;
  const words = useWords();
  const [language, choose] = useLanguage();
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
      {open && <button type="button" className="shade" aria-label={words.sidebar.close} onClick={onClose} />}
      <div className={open ? "sidebar open" : "sidebar"}>
        <div className="brand">
          <Sign />
          <h1>Signalbox</h1>
        </div>
        {props.isOwner && <PageLinks client={props.client} place={place} onClose={onClose} />}
        <button type="button" className="new" onClick={onNew}>
          {words.sidebar.begin}
        </button>
        <Conversations {...props} />
        <footer>
          <span>
            {me.user.name} · {me.version}
          </span>
          <button type="button" className="quiet" onClick={() => choose(language === "en" ? "zh" : "en")}>
            {words.sidebar.language}
          </button>
          <button type="button" className="quiet" onClick={() => void onSignOut()}>
            {words.sidebar.signOut}
          </button>
        </footer>
      </div>
    </>
  );
}

const PAGES = ["sessions", "messages", "approvals", "people", "channels"] as const;

function PageLinks({ client, place, onClose }: Pick<Props, "client" | "place" | "onClose">): ReactNode {
  const words = useWords();
  const { data: waiting = [] } = useApprovals(client);
  const current = place.page === "message" ? "messages" : place.page;
  return (
    <nav className="pages" aria-label={words.sidebar.pages}>
      <ul>
        {PAGES.map((page) => (
          <li key={page}>
            <a href={hashOf({ page })} aria-current={page === current ? "page" : undefined} onClick={onClose}>
              {words.pages[page]}
              {page === "approvals" && waiting.length > 0 && <span className="count">{waiting.length}</span>}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Conversations({ conversations, place, agents, busy, onClose }: Props): ReactNode {
  const words = useWords();
  const format = useFormat();
  const [wanted, setWanted] = useState("");
  const current = place.page === "chat" ? place.conversation : undefined;
  const matching = conversations.filter(({ title }) =>
    title.toLocaleLowerCase().includes(wanted.trim().toLocaleLowerCase()),
  );
  return (
    <nav className="conversations" aria-label={words.sidebar.conversations}>
      {conversations.length > 0 && (
        <SearchField label={words.sidebar.search} wanted={wanted} onSearch={setWanted} />
      )}
      {matching.length === 0 && (
        <p className="help">{conversations.length === 0 ? words.sidebar.nothing : words.sidebar.noneMatch}</p>
      )}
      <ul hidden={matching.length === 0}>
        {matching.map(({ id, title, agent, updatedAt }) => (
          <li key={id}>
            <a
              href={hashOf({ page: "chat", conversation: id })}
              aria-current={id === current ? "page" : undefined}
              onClick={onClose}
            >
              <span className="title">{title}</span>
              <span className="about">
                {agents.find((each) => each.id === agent)?.name ?? agent} ·{" "}
                <time dateTime={new Date(updatedAt).toISOString()}>{format.time(updatedAt)}</time>
                {busy.has(id) && <span className="busy"> · {words.sidebar.working}</span>}
              </span>
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
