import "../../styles/mantine-forms.css";
import { Code, NativeSelect, Pill } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { statusQuery } from "../channels/queries.ts";
import classes from "./filters.module.css";
import { type MessagesSearch, OUTCOMES } from "./search.ts";
import { useMessagesWords } from "./words.ts";

const route = getRouteApi("/messages");

/** Time after the last key before the search starts, in milliseconds. */
const PAUSE_MS = 250;

/** Channels that are not accounts of the configuration. */
const OWN_CHANNELS = ["web", "api", "schedule"];

/** The search and the filters of the messages. They are part of the URL. */
export function Filters(): ReactNode {
  const words = useMessagesWords();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: status } = useQuery(statusQuery(useClient()));
  const [text, setText] = useState(search.text ?? "");
  const change = (changed: { [Name in keyof MessagesSearch]?: MessagesSearch[Name] | undefined }) => {
    const next = Object.entries({ ...search, ...changed }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    void navigate({ search: Object.fromEntries(next), replace: true });
  };
  const find = useDebouncedCallback((wanted: string) => change({ text: wanted.trim() }), PAUSE_MS);
  const channels = new Set([...(status?.channels.map(({ channel }) => channel) ?? []), ...OWN_CHANNELS]);
  if (search.channel !== undefined) channels.add(search.channel);
  const any = { value: "", label: words.any };
  return (
    <div className={classes["filters"]}>
      <SearchField
        className={classes["search"]}
        label={words.search}
        wanted={text}
        onSearch={(wanted) => {
          setText(wanted);
          find(wanted);
        }}
      />
      <NativeSelect
        aria-label={words.outcome}
        value={search.outcome ?? ""}
        data={[
          { ...any, label: `${words.outcome}: ${words.any}` },
          ...OUTCOMES.map((outcome) => ({ value: outcome, label: words.outcomes[outcome] })),
        ]}
        onChange={({ currentTarget }) =>
          change({ outcome: OUTCOMES.find((each) => each === currentTarget.value) })
        }
      />
      <NativeSelect
        aria-label={words.channel}
        value={search.channel ?? ""}
        data={[{ ...any, label: `${words.channel}: ${words.any}` }, ...channels]}
        onChange={({ currentTarget }) => change({ channel: currentTarget.value })}
      />
      <NativeSelect
        aria-label={words.agent}
        value={search.agent ?? ""}
        data={[
          { ...any, label: `${words.agent}: ${words.any}` },
          ...(status?.agents.map(({ id, name }) => ({ value: id, label: name })) ?? []),
        ]}
        onChange={({ currentTarget }) => change({ agent: currentTarget.value })}
      />
      {search.session !== undefined && (
        <Pill
          size="lg"
          withRemoveButton
          removeButtonProps={{ "aria-label": words.showAll, "aria-hidden": false, tabIndex: 0 }}
          onRemove={() => change({ session: undefined })}
        >
          {words.ofSession} <Code>{search.session}</Code>
        </Pill>
      )}
    </div>
  );
}
