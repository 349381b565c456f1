import { Button, type ButtonProps, Group, Modal, Text } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { ReactNode } from "react";
import { useWords } from "../words/words.tsx";

interface Props {
  label: string;
  /** Title of the dialog. */
  question: string;
  /** The consequences, if they are not obvious. */
  children?: ReactNode;
  onConfirm: () => void;
  button?: ButtonProps;
}

/** A button that asks for confirmation in a dialog. */
export function ConfirmButton({ label, question, children, onConfirm, button }: Props): ReactNode {
  const [isOpen, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="xs" {...button} onClick={open}>
        {label}
      </Button>
      <ConfirmDialog isOpen={isOpen} label={label} question={question} onClose={close} onConfirm={onConfirm}>
        {children}
      </ConfirmDialog>
    </>
  );
}

interface DialogProps {
  isOpen: boolean;
  label: string;
  question: string;
  children?: ReactNode;
  onClose: () => void;
  onConfirm: () => void;
}

/** A dialog that asks for confirmation. */
export function ConfirmDialog(props: DialogProps): ReactNode {
  const { isOpen, label, question, children, onClose, onConfirm } = props;
  const words = useWords();
  return (
    <Modal
      opened={isOpen}
      onClose={onClose}
      title={question}
      closeButtonProps={{ "aria-label": words.cancel }}
    >
      {children !== undefined && <Text size="sm">{children}</Text>}
      <Group justify="flex-end" mt="md" gap="xs">
        <Button variant="default" onClick={onClose}>
          {words.cancel}
        </Button>
        <Button
          color="red.9"
          data-autofocus
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {label}
        </Button>
      </Group>
    </Modal>
  );
}
