import { Button, Group, Modal, NativeSelect, Stack, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useWords } from "../../words/words.tsx";
import { useMemoryWords } from "./words.ts";

const KINDS = ["lasting", "daily"] as const;
type Kind = (typeof KINDS)[number];

/** A button that opens a dialog in which an owner adds a note. */
export function AddNote({ agent }: { agent: string }): ReactNode {
  const words = useMemoryWords();
  const { cancel } = useWords();
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button onClick={open}>{words.add}</Button>
      <Modal opened={isOpen} onClose={close} title={words.add} closeButtonProps={{ "aria-label": cancel }}>
        <Form agent={agent} onClose={close} />
      </Modal>
    </>
  );
}

function Form({ agent, onClose }: { agent: string; onClose: () => void }): ReactNode {
  const words = useMemoryWords();
  const { cancel } = useWords();
  const client = useClient();
  const [text, setText] = useState("");
  const [kind, setKind] = useState<Kind>("lasting");
  const save = useChange({
    run: async () => {
      const added = await client.addMemory(agent, { text: text.trim(), kind });
      onClose();
      return added;
    },
    done: ({ isNew }) => (isNew ? words.added : words.alreadyAdded),
    refresh: ["memory", "agent-file"],
  });
  return (
    <Stack gap="sm">
      <Textarea
        label={words.text}
        description={words.addHelp}
        value={text}
        autosize
        minRows={4}
        maxRows={20}
        data-autofocus
        onChange={(event) => setText(event.currentTarget.value)}
      />
      <NativeSelect
        label={words.kind}
        value={kind}
        data={KINDS.map((value) => ({ value, label: words.kinds[value] }))}
        onChange={(event) => {
          const chosen = event.currentTarget.value;
          setKind(KINDS.find((each) => each === chosen) ?? "lasting");
        }}
      />
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={onClose}>
          {cancel}
        </Button>
        <Button loading={save.isPending} disabled={text.trim() === ""} onClick={() => save.mutate()}>
          {words.save}
        </Button>
      </Group>
    </Stack>
  );
}
