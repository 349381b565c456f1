import { Button, Group, Modal, NativeSelect, Stack, Textarea, TextInput } from "@mantine/core";
import type { Problem } from "@signalbox/client";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient, useGateway } from "../../gateway.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useWords } from "../../words/words.tsx";
import { formatPlace } from "./format-place.ts";
import { useSchedulesWords } from "./words.ts";

const KINDS = ["every", "cron", "at", "in"] as const;
type Kind = (typeof KINDS)[number];

/** A dialog that creates a schedule. */
export function ScheduleForm({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }): ReactNode {
  const { cancel } = useWords();
  const words = useSchedulesWords();
  return (
    <Modal opened={isOpen} onClose={onClose} title={words.add} closeButtonProps={{ "aria-label": cancel }}>
      <Fields onClose={onClose} />
    </Modal>
  );
}

function Fields({ onClose }: { onClose: () => void }): ReactNode {
  const { cancel } = useWords();
  const words = useSchedulesWords();
  const client = useClient();
  const { agents } = useGateway().me;
  const [agent, setAgent] = useState(agents.find((each) => each.default)?.id ?? agents[0]?.id ?? "");
  const [kind, setKind] = useState<Kind>("every");
  const [time, setTime] = useState("");
  const [zone, setZone] = useState("");
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<Problem>();
  const add = useChange({
    run: () =>
      client.addSchedule({
        text,
        agent,
        [kind]: time.trim(),
        ...(zone.trim() === "" ? {} : { zone: zone.trim() }),
      }),
    done: (result) =>
      result.ok
        ? words.created(result.schedule.when, formatPlace(result.schedule.place, words.page))
        : undefined,
    refresh: ["schedules"],
    onProblem: (error) => setProblem(toProblem(error)),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setProblem(undefined);
    add.mutate(undefined, {
      onSuccess: (result) => {
        if (result.ok) onClose();
        else setProblem({ code: "bad_request", message: result.message });
      },
    });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Textarea
          label={words.text}
          value={text}
          autosize
          minRows={3}
          maxRows={10}
          data-autofocus
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <NativeSelect
          label={words.agent}
          value={agent}
          data={agents.map(({ id, name }) => ({ value: id, label: name }))}
          onChange={(event) => setAgent(event.currentTarget.value)}
        />
        <NativeSelect
          label={words.kind}
          value={kind}
          data={KINDS.map((value) => ({ value, label: words.kinds[value] }))}
          onChange={(event) => setKind(KINDS.find((each) => each === event.currentTarget.value) ?? "every")}
        />
        <TextInput
          label={words.value}
          placeholder={words.examples[kind]}
          value={time}
          onChange={(event) => setTime(event.currentTarget.value)}
        />
        <TextInput
          label={words.zone}
          description={words.zoneHelp}
          placeholder="Europe/Berlin"
          value={zone}
          onChange={(event) => setZone(event.currentTarget.value)}
        />
        {problem && <ProblemNote problem={problem} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {cancel}
          </Button>
          <Button type="submit" loading={add.isPending} disabled={text.trim() === "" || time.trim() === ""}>
            {words.create}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
