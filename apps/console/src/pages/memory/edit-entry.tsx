import { Button, Group, Modal, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { MemoryEntry } from "@signalbox/client";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useWords } from "../../words/words.tsx";
import { useMemoryWords } from "./words.ts";

interface Props {
  agent: string;
  entry: MemoryEntry;
}

/** A button that opens a dialog in which an owner edits a note. */
export function EditEntry({ agent, entry }: Props): ReactNode {
  const words = useMemoryWords();
  const { cancel } = useWords();
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="xs" onClick={open}>
        {words.edit}
      </Button>
      <Modal
        opened={isOpen}
        onClose={close}
        title={words.editTitle}
        closeButtonProps={{ "aria-label": cancel }}
      >
        <Editor agent={agent} entry={entry} onClose={close} />
      </Modal>
    </>
  );
}

function Editor({ agent, entry: { id, text }, onClose }: Props & { onClose: () => void }): ReactNode {
  const words = useMemoryWords();
  const { cancel } = useWords();
  const client = useClient();
  const [edited, setEdited] = useState(text);
  const save = useChange({
    run: async () => {
      await client.editMemory(agent, { id, before: text, text: edited });
      onClose();
    },
    done: words.saved,
    refresh: ["memory", "agent-file"],
  });
  return (
    <>
      <Textarea
        label={words.text}
        value={edited}
        autosize
        minRows={4}
        maxRows={20}
        data-autofocus
        onChange={(event) => setEdited(event.currentTarget.value)}
      />
      <Group justify="flex-end" mt="md" gap="xs">
        <Button variant="default" onClick={onClose}>
          {cancel}
        </Button>
        <Button
          loading={save.isPending}
          disabled={edited === text || edited.trim() === ""}
          onClick={() => save.mutate()}
        >
          {words.save}
        </Button>
      </Group>
    </>
  );
}
