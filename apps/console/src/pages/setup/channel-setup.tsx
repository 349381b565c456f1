import { Alert, Card, NativeSelect, Stack, Text } from "@mantine/core";
import type { AccountSetupResult, SetupChannel } from "@signalbox/client";
import { IconCheck } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import { TextLink } from "../../parts/links.tsx";
import { useLanguage } from "../../words/words.tsx";
import { ChannelForm } from "./channel-form.tsx";
import { toChinese } from "./channel-texts.ts";
import { MissingPackages } from "./setup-parts.tsx";
import { useSetupWords } from "./words.ts";

interface Props {
  channels: readonly SetupChannel[];
  isDisabled: boolean;
}

/** An account that was saved. */
interface Saved {
  channel: SetupChannel;
  result: AccountSetupResult;
}

/** Chooses a channel and connects an account of it. */
export function ChannelSetup({ channels, isDisabled }: Props): ReactNode {
  const words = useSetupWords();
  const [chosen, setChosen] = useState("");
  const [saved, setSaved] = useState<Saved>();
  const [language] = useLanguage();
  const found = channels.find(({ id }) => id === chosen);
  const channel = found && language === "zh" ? toChinese(found) : found;
  return (
    <Card withBorder>
      <Stack gap="sm">
        {saved && <Connected {...saved} />}
        <NativeSelect
          label={words.channel}
          value={chosen}
          disabled={isDisabled}
          data={[
            { value: "", label: words.nowhere },
            ...channels.map(({ id, label, accounts }) => ({
              value: id,
              label: words.chosen(label, accounts.length),
            })),
          ]}
          onChange={(event) => {
            setChosen(event.currentTarget.value);
            setSaved(undefined);
          }}
        />
        {channel && (
          <>
            <MissingPackages names={channel.missingPackages} />
            <ChannelForm
              key={channel.id}
              channel={channel}
              isDisabled={isDisabled}
              onSaved={(result) => {
                setSaved({ channel, result });
                setChosen("");
              }}
            />
          </>
        )}
      </Stack>
    </Card>
  );
}

function Connected({ channel: { label }, result: { name } }: Saved): ReactNode {
  const words = useSetupWords();
  return (
    <Alert
      color="green"
      role="status"
      icon={<IconCheck size={18} aria-hidden />}
      title={words.connected(label)}
    >
      <Stack gap={4}>
        {name !== undefined && (
          <Text size="sm">
            <bdi>{words.named(name)}</bdi>
          </Text>
        )}
        <Text size="sm">{words.next}</Text>
        <Text size="sm">
          <TextLink to="/people">{words.toPeople}</TextLink> ·{" "}
          <TextLink to="/channels">{words.toChannels}</TextLink>
        </Text>
      </Stack>
    </Alert>
  );
}
