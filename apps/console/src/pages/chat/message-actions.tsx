import { ActionIcon, Group, Tooltip } from "@mantine/core";
import { useClipboard } from "@mantine/hooks";
import {
  type Icon,
  IconCheck,
  IconCopy,
  IconHelpCircle,
  IconPencil,
  IconRefresh,
  IconVolume,
} from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useWords } from "../../words/words.tsx";
import classes from "./log-item.module.css";
import { useChatWords } from "./words.ts";

interface Props {
  text: string;
  onEdit?: () => void;
  onRetry?: () => void;
  /** Id of the message that the page "Message" explains. */
  explained?: string;
  onListen?: () => void;
}

/** Buttons below a message: copy, listen, edit, ask again, and explain. */
export function MessageActions({ text, onEdit, onRetry, explained, onListen }: Props): ReactNode {
  const words = useChatWords();
  const { code } = useWords();
  const navigate = useNavigate();
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  return (
    <Group className={classes["actions"] ?? ""} gap={2}>
      {"clipboard" in globalThis.navigator && (
        <Action
          icon={copied ? IconCheck : IconCopy}
          label={copied ? code.copied : code.copy}
          run={() => copy(text)}
        />
      )}
      {onListen && <Action icon={IconVolume} label={words.listen} run={onListen} />}
      {onEdit && <Action icon={IconPencil} label={words.edit} run={onEdit} />}
      {onRetry && <Action icon={IconRefresh} label={words.retry} run={onRetry} />}
      {explained !== undefined && (
        <Action
          icon={IconHelpCircle}
          label={words.why}
          run={() => void navigate({ to: "/message/$id", params: { id: explained } })}
        />
      )}
    </Group>
  );
}

function Action({ icon: Picture, label, run }: { icon: Icon; label: string; run: () => void }): ReactNode {
  return (
    <Tooltip label={label}>
      <ActionIcon size="md" aria-label={label} onClick={run}>
        <Picture size={15} stroke={1.8} aria-hidden />
      </ActionIcon>
    </Tooltip>
  );
}
