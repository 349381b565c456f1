import { NativeSelect } from "@mantine/core";
import type { LogEntry, LogLevel } from "@signalbox/client";
import { IconFileText } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { Empty } from "../../parts/empty.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { SearchField } from "../../parts/search-field.tsx";
import { StateBadge, type Tone } from "../../parts/state-badge.tsx";
import { useFormat } from "../../words/use-format.ts";
import { useWords } from "../../words/words.tsx";
import classes from "./logs.module.css";
import { logsQuery } from "./queries.ts";
import { useLogsWords } from "./words.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

const TONES: Readonly<Record<LogLevel, Tone>> = {
  trace: "neutral",
  debug: "neutral",
  info: "busy",
  warn: "warn",
  error: "bad",
  fatal: "bad",
};

/** Shows the latest lines of the log, by level. */
export function LogsPage(): ReactNode {
  const { pages } = useWords();
  const words = useLogsWords();
  const [level, setLevel] = useState<LogLevel>("info");
  const [wanted, setWanted] = useState("");
  const query = useQuery(logsQuery(useClient(), level));
  return (
    <Page title={pages.logs} description={words.description}>
      <div className={classes["controls"]}>
        <NativeSelect
          label={words.level}
          value={level}
          data={[...LEVELS]}
          onChange={(event) => setLevel(LEVELS.find((each) => each === event.currentTarget.value) ?? "info")}
        />
        <SearchField label={words.search} wanted={wanted} onSearch={setWanted} />
      </div>
      <Loaded query={query}>
        {(lines) => <Lines lines={lines.filter((line) => matches(line, wanted)).toReversed()} />}
      </Loaded>
    </Page>
  );
}

function matches({ message, fields }: LogEntry, wanted: string): boolean {
  const text = [message, ...Object.values(fields)].join(" ").toLowerCase();
  return text.includes(wanted.trim().toLowerCase());
}

function Lines({ lines }: { lines: readonly LogEntry[] }): ReactNode {
  const words = useLogsWords();
  const format = useFormat();
  if (lines.length === 0)
    return (
      <Empty icon={IconFileText} title={words.none}>
        {words.noneYet}
      </Empty>
    );
  return (
    <ul className={classes["lines"]}>
      {lines.map(({ at, level, message, fields }, index) => (
        <li key={`${at} ${String(index)}`}>
          <div className={classes["head"]}>
            <time dateTime={new Date(at).toISOString()}>{format.exactTime(at)}</time>
            <StateBadge tone={TONES[level]}>{level}</StateBadge>
            <bdi>{message}</bdi>
          </div>
          <div className={classes["fields"]}>
            {Object.entries(fields).map(([name, value]) => (
              <div key={name}>
                <bdi>
                  {name}={value}
                </bdi>
              </div>
            ))}
          </div>
        </li>
      ))}
    </ul>
  );
}
