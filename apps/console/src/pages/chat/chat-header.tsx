import { ActionIcon, Button, Menu, Modal, NativeSelect, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ConversationInfo } from "@signalbox/client";
import { IconDots, IconPencil, IconTrash } from "@tabler/icons-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { useConversations } from "../../conversation/conversations.tsx";
import { useClient } from "../../gateway.tsx";
import { ConfirmDialog } from "../../parts/confirm-button.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useWords } from "../../words/words.tsx";
import classes from "./chat-header.module.css";
import { useChatWords } from "./words.ts";

interface Props {
  /** Undefined until the gateway lists the conversation. */
  info: ConversationInfo | undefined;
  agentId: string;
  children?: ReactNode;
}

/** The agent and the title of a conversation, with actions to rename and delete it. */
export function ChatHeader({ info, agentId, children }: Props): ReactNode {
  const words = useChatWords();
  const { agents, begin } = useConversations();
  const agent = agents.find((each) => each.id === agentId);
  const choices = agents.map(({ id, name }) => ({ value: id, label: name }));
  return (
    <header className={classes["header"]}>
      <NativeSelect
        className={classes["agent"] ?? ""}
        aria-label={words.agent}
        value={agentId}
        data={agent === undefined ? [agentId, ...choices] : choices}
        onChange={(event) => begin(event.currentTarget.value)}
      />
      {children || <span className={classes["model"]}>{agent?.model}</span>}
      {info && (
        <>
          <bdi className={classes["title"]}>{info.title}</bdi>
          <ConversationActions info={info} agentId={agentId} />
        </>
      )}
    </header>
  );
}

function ConversationActions({ info, agentId }: { info: ConversationInfo; agentId: string }): ReactNode {
  const words = useChatWords();
  const client = useClient();
  const { begin } = useConversations();
  const [isRenaming, rename] = useDisclosure(false);
  const [isRemoving, remove] = useDisclosure(false);
  const renaming = useChange({
    run: (title: string) => client.renameConversation(info.id, title),
    refresh: ["conversations"],
  });
  const removing = useChange({
    run: async () => {
      await client.removeConversation(info.id);
      begin(agentId);
    },
    done: words.removed,
    refresh: ["conversations"],
  });
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon size="lg" aria-label={words.actions}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconPencil size={16} aria-hidden />} onClick={rename.open}>
            {words.rename}
          </Menu.Item>
          <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={remove.open}>
            {words.remove}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {isRenaming && (
        <TitleDialog
          title={info.title}
          onClose={rename.close}
          onSave={(title) => {
            rename.close();
            renaming.mutate(title);
          }}
        />
      )}
      <ConfirmDialog
        isOpen={isRemoving}
        label={words.remove}
        question={words.reallyRemove}
        onClose={remove.close}
        onConfirm={() => removing.mutate()}
      >
        {words.removes}
      </ConfirmDialog>
    </>
  );
}

interface TitleProps {
  title: string;
  onSave: (title: string) => void;
  onClose: () => void;
}

function TitleDialog({ title, onSave, onClose }: TitleProps): ReactNode {
  const words = useChatWords();
  const { save: saveLabel, cancel } = useWords();
  const [text, setText] = useState(title);
  const save = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() !== "") onSave(text.trim());
  };
  return (
    <Modal opened onClose={onClose} title={words.rename} closeButtonProps={{ "aria-label": cancel }}>
      <form className={classes["rename"]} onSubmit={save}>
        <TextInput
          aria-label={words.title}
          value={text}
          maxLength={200}
          data-autofocus
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <Button type="submit" disabled={text.trim() === ""}>
          {saveLabel}
        </Button>
      </form>
    </Modal>
  );
}
