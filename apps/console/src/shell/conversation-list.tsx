import type { ConversationInfo } from "@signalbox/client";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useConversations } from "../conversation/conversations.tsx";
import { SearchField } from "../parts/search-field.tsx";
import { useFormat } from "../words/use-format.ts";
import { useWords } from "../words/words.tsx";
import classes from "./sidebar.module.css";

/** The user's conversations by age, searchable by title. */
export function ConversationList({ onFollow }: { onFollow: () => void }): ReactNode {
  const { sidebar: words } = useWords();
  const { listed } = useConversations();
  const [wanted, setWanted] = useState("");
  const matching = listed.filter(({ title }) =>
    title.toLocaleLowerCase().includes(wanted.trim().toLocaleLowerCase()),
  );
  const groups = Map.groupBy(matching, ({ updatedAt }) => getAge(updatedAt, Date.now()));
  return (
    <nav className={classes["conversations"]} aria-label={words.conversations}>
      {listed.length > 0 && <SearchField label={words.search} wanted={wanted} onSearch={setWanted} />}
      {matching.length === 0 && (
        <p className={classes["nothing"]}>{listed.length === 0 ? words.nothing : words.noneMatch}</p>
      )}
      <div className={classes["scroll"]}>
        {[...groups].map(([age, conversations]) => (
          <div key={age}>
            <p className={classes["group"]}>{words.days[age]}</p>
            <ul>
              {conversations.map((conversation) => (
                <li key={conversation.id}>
                  <ConversationLink conversation={conversation} onFollow={onFollow} />
                </li>
              ))}
            </ul>
          </div>
        ))}
      </div>
    </nav>
  );
}

interface LinkProps {
  conversation: ConversationInfo;
  onFollow: () => void;
}

function ConversationLink({ conversation, onFollow }: LinkProps): ReactNode {
  const { sidebar: words } = useWords();
  const format = useFormat();
  const { agents, busy } = useConversations();
  const { id, title, agent, updatedAt } = conversation;
  return (
    <Link to="/c/$conversation" params={{ conversation: id }} onClick={onFollow}>
      <bdi className={classes["title"]}>{title}</bdi>
      <span className={classes["about"]}>
        {agents.length > 1 && `${agents.find((each) => each.id === agent)?.name ?? agent} · `}
        <time dateTime={new Date(updatedAt).toISOString()}>{format.relative(updatedAt)}</time>
        {busy.has(id) && <span className={classes["busy"]}> · {words.working}</span>}
      </span>
    </Link>
  );
}

const DAY_MS = 86_400_000;

/** Returns the heading under which a conversation is listed, by the local date of its last message. */
function getAge(at: number, now: number): "today" | "yesterday" | "week" | "older" {
  const today = new Date(now).setHours(0, 0, 0, 0);
  if (at >= today) return "today";
  if (at >= today - DAY_MS) return "yesterday";
  return at >= today - 7 * DAY_MS ? "week" : "older";
}
