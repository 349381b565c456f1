import { Alert, Button, Group, Modal, Radio, Stack, TextInput } from "@mantine/core";
import type { CreatedToken, Problem, TokenRole } from "@signalbox/client";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useWords } from "../../words/words.tsx";
import { useTokensWords } from "./words.ts";

const ROLES: readonly TokenRole[] = ["member", "viewer", "operator", "owner", "monitor"];

/** A dialog that creates a token and then shows its secret once. */
export function TokenForm({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactNode {
  const { cancel } = useWords();
  const words = useTokensWords();
  const [created, setCreated] = useState<CreatedToken>();
  const close = () => {
    setCreated(undefined);
    onClose();
  };
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      closeOnClickOutside={created === undefined}
      title={created === undefined ? words.add : words.createdTitle(created.name)}
      closeButtonProps={{ "aria-label": cancel }}
    >
      {created === undefined ? (
        <Fields onCancel={close} onCreated={setCreated} />
      ) : (
        <Stack gap="sm">
          <Alert color="yellow">{words.once}</Alert>
          <CodeBlock label={words.token} text={created.token} isWrapped />
          <Group justify="flex-end">
            <Button onClick={close}>{words.close}</Button>
          </Group>
        </Stack>
      )}
    </Modal>
  );
}

function Fields({
  onCancel,
  onCreated,
}: {
  onCancel: () => void;
  onCreated: (token: CreatedToken) => void;
}): ReactNode {
  const { cancel } = useWords();
  const words = useTokensWords();
  const client = useClient();
  const [name, setName] = useState("");
  const [role, setRole] = useState<TokenRole>("member");
  const [problem, setProblem] = useState<Problem>();
  const add = useChange({
    run: () => client.addToken({ name: name.trim(), role }),
    refresh: ["tokens"],
    onProblem: (error) => setProblem(toProblem(error)),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setProblem(undefined);
    add.mutate(undefined, { onSuccess: onCreated });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <TextInput
          label={words.name}
          description={words.nameHelp}
          value={name}
          autoComplete="off"
          spellCheck={false}
          data-autofocus
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Radio.Group
          label={words.role}
          value={role}
          onChange={(value) => setRole(ROLES.find((each) => each === value) ?? "member")}
        >
          <Stack gap="xs" mt="xs">
            {ROLES.map((value) => (
              <Radio key={value} value={value} label={words.roles[value]} description={words.rights[value]} />
            ))}
          </Stack>
        </Radio.Group>
        {problem && <ProblemNote problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onCancel}>
            {cancel}
          </Button>
          <Button type="submit" loading={add.isPending} disabled={name.trim() === ""}>
            {words.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
