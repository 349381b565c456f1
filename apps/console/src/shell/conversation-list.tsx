import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useConversations } from "../conversation/conversations.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { useFormat } from "../words/use-format.ts";
import { useWords } from "../words/words.tsx";

/** The user's conversations, searchable by title. */
export function ConversationList({ onFollow }: { onFollow: () => void }): ReactNode {
  const { sidebar: words } = useWords();
  const format = useFormat();
  const { listed, agents, busy } = useConversations();
  const [wanted, setWanted] = useState("");
  const matching = listed.filter(({ title }) =>
    title.toLocaleLowerCase().includes(wanted.trim().toLocaleLowerCase()),
  );
  return (
    <nav className="conversations" aria-label={words.conversations}>
      {listed.length > 0 && <SearchField label={words.search} wanted={wanted} onSearch={setWanted} />}
      {matching.length === 0 && (
        <p className="help">{listed.length === 0 ? words.nothing : words.noneMatch}</p>
      )}
      <ul hidden={matching.length === 0}>
        {matching.map(({ id, title, agent, updatedAt }) => (
          <li key={id}>
            <Link to="/c/$conversation" params={{ conversation: id }} onClick={onFollow}>
              <bdi className="title">{title}</bdi>
              <span className="about">
                {agents.find((each) => each.id === agent)?.name ?? agent} ·{" "}
                <time dateTime={new Date(updatedAt).toISOString()}>{format.time(updatedAt)}</time>
                {busy.has(id) && <span className="busy"> · {words.working}</span>}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}
