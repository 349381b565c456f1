import { Card, Group, Stack, Text } from "@mantine/core";
import type { MemoryEntry } from "@signalbox/client";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { TextLink } from "../../parts/links.tsx";
import { StateBadge } from "../../parts/state-badge.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { EditEntry } from "./edit-entry.tsx";
import classes from "./memory.module.css";
import { useMemoryWords } from "./words.ts";

/** Id of the person whose notes all owners share. */
const OWNERS = "owners";

/** An entry of the memory with its source, and buttons that edit and forget it. */
export function Entry({ agent, entry }: { agent: string; entry: MemoryEntry }): ReactNode {
  const { id, source, text, at, scope, scopeId, author, messageId, untrusted, path, lines } = entry;
  const words = useMemoryWords();
  const client = useClient();
  const scopes = useScopes();
  const forget = useChange({
    run: () => client.forgetMemory(agent, [id]),
    done: (ids) => words.forgotten(ids.length),
    refresh: ["memory"],
  });
  const place = path && `${path}:${lines?.[0] ?? 1}`;
  const chatOrPerson = scopeId === OWNERS ? undefined : scopeId;
  const origin = new Set([author, chatOrPerson, untrusted, place].filter((each) => each !== undefined));
  return (
    <Card withBorder component="article">
      <Stack gap="xs">
        <Group gap="xs">
          <StateBadge tone="busy">{words.sources[source]}</StateBadge>
          <StateBadge tone="neutral">
            {scopeId === OWNERS ? words.scopes.owners : words.scopes[scope]}
          </StateBadge>
          {untrusted !== undefined && <StateBadge tone="warn">{words.untrusted}</StateBadge>}
          {at !== undefined && (
            <Text component="span" size="xs" c="dimmed">
              <Time at={at} />
            </Text>
          )}
        </Group>
        <Text size="sm" className={classes["text"] ?? ""}>
          <bdi>{text}</bdi>
        </Text>
        <Text size="xs" c="dimmed">
          {[...origin].map((each, index) => (
            <span key={each}>
              {index > 0 && " · "}
              <bdi>{each}</bdi>
            </span>
          ))}
        </Text>
        <Group justify="space-between">
          {messageId === undefined ? (
            path === undefined ? (
              <span />
            ) : (
              <TextLink size="sm" to="/agent/$id" params={{ id: agent }} search={{ tab: "files", path }}>
                {words.openNote}
              </TextLink>
            )
          ) : (
            <TextLink size="sm" to="/message/$id" params={{ id: messageId }}>
              {words.openMessage}
            </TextLink>
          )}
          <Group gap="xs">
            {scopes.has("write") && source === "turn" && (
              <Text size="xs" c="dimmed">
                {words.isMessage}
              </Text>
            )}
            {scopes.has("owner") && source === "note" && <EditEntry agent={agent} entry={entry} />}
            {scopes.has("write") && (
              <ConfirmButton
                label={words.forget}
                question={words.reallyForget}
                onConfirm={() => forget.mutate()}
              >
                {words.forgets}
              </ConfirmButton>
            )}
          </Group>
        </Group>
      </Stack>
    </Card>
  );
}
