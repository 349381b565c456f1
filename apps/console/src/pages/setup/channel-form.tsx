import { Button, Group, List, Stack, Text, TextInput } from "@mantine/core";
import type { AccountSetupResult, Problem, SetupChannel } from "@signalbox/client";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { useChange } from "../../parts/use-change.ts";
import { applies, type Entered, getSettings } from "./applies.ts";
import { FieldInput } from "./field-input.tsx";
import { MoreButton, VendorLink } from "./setup-parts.tsx";
import { useSetupWords } from "./words.ts";

interface Props {
  channel: SetupChannel;
  isDisabled: boolean;
  onSaved: (result: AccountSetupResult) => void;
}

/** The steps of connecting an account to its platform, in the order of the platform's own setup. */
export function ChannelForm({ channel, isDisabled, onSaved }: Props): ReactNode {
  const words = useSetupWords();
  const client = useClient();
  const { id, label, fields, steps } = channel;
  const [entered, setEntered] = useState<Entered>({});
  const [account, setAccount] = useState("main");
  const [owner, setOwner] = useState("");
  const [isMore, setMore] = useState(false);
  const [refusal, setRefusal] = useState<AccountSetupResult>();
  const [problem, setProblem] = useState<Problem>();
  const shown = steps.filter((step) => applies(step, channel, entered));
  const inSteps = new Set(steps.flatMap((step) => step.fields));
  const others = fields.filter(({ name }) => !inSteps.has(name));
  const save = useChange({
    run: (check: boolean) =>
      client.setUpAccount({
        channel: id,
        account: account.trim(),
        settings: getSettings(channel, entered),
        ...(owner.trim() !== "" && { owner: owner.trim() }),
        check,
      }),
    refresh: ["setup", "status", "configuration"],
    onProblem: (error) => setProblem(toProblem(error)),
  });
  const send = (check: boolean) => {
    setProblem(undefined);
    setRefusal(undefined);
    save.mutate(check, {
      onSuccess: (result) => {
        if (result.ok) onSaved(result);
        else setRefusal(result);
      },
    });
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send(true);
  };
  const issueOf = (name: string) =>
    refusal?.issues.find(({ field }) => field === name)?.message ??
    (refusal?.settings?.includes(name) === true ? words.refusedHere(label) : undefined);
  const toInput = (name: string) => {
    const field = fields.find((each) => each.name === name);
    return (
      field && (
        <FieldInput
          key={name}
          field={field}
          value={entered[name] ?? ""}
          issue={issueOf(name)}
          isDisabled={isDisabled}
          onChange={(value) => setEntered({ ...entered, [name]: value })}
        />
      )
    );
  };
  const isVisible = (name: string) => shown.some((step) => step.fields.includes(name)) || isMore;
  const general = refusal?.issues.filter(({ field }) => field === undefined || !isVisible(field)) ?? [];
  return (
    <form onSubmit={submit}>
      <Stack gap="md">
        <List type="ordered" spacing="md" listStyleType="decimal">
          {shown.map((step) => (
            <List.Item
              key={[step.text, ...step.fields].join(" ")}
              styles={{ itemWrapper: { display: "block" } }}
            >
              <Stack gap="xs">
                {step.text !== undefined && (
                  <Text size="sm">{fillIn(step.text, id, account, words.yourAddress)}</Text>
                )}
                {step.url !== undefined && <VendorLink url={step.url}>{words.open}</VendorLink>}
                {step.fields.map(toInput)}
              </Stack>
            </List.Item>
          ))}
        </List>
        <TextInput
          label={words.owner(label)}
          description={words.ownerHelp}
          value={owner}
          disabled={isDisabled}
          spellCheck={false}
          onChange={(event) => setOwner(event.currentTarget.value)}
        />
        {isMore && (
          <>
            {others.map(({ name }) => toInput(name))}
            <TextInput
              label={words.account}
              description={words.accountHelp}
              value={account}
              disabled={isDisabled}
              spellCheck={false}
              onChange={(event) => setAccount(event.currentTarget.value)}
            />
          </>
        )}
        {problem && <ProblemNote problem={problem} />}
        {refusal?.detail !== undefined && (
          <ProblemNote
            problem={{ code: "channel", message: describe(refusal, channel, words), remedy: refusal.detail }}
          />
        )}
        {general.map(({ field, message }) => (
          <ProblemNote
            key={message}
            problem={{ code: "invalid", message: [field, message].filter(Boolean).join(": ") }}
          />
        ))}
        <Group gap="sm">
          <Button type="submit" loading={save.isPending} disabled={isDisabled || account.trim() === ""}>
            {refusal?.kind === "unreachable" ? words.tryAgain : words.save}
          </Button>
          {refusal?.detail !== undefined && (
            <Button variant="default" onClick={() => send(false)}>
              {words.saveAnyway}
            </Button>
          )}
          {!isMore && <MoreButton isDisabled={isDisabled} onClick={() => setMore(true)} />}
        </Group>
      </Stack>
    </form>
  );
}

/** Returns the heading of a failed check, with the labels of the settings that can be wrong. */
function describe(
  { kind, settings = [] }: AccountSetupResult,
  { label, fields }: SetupChannel,
  words: ReturnType<typeof useSetupWords>,
): string {
  if (kind === "unreachable") return words.unreachable(label);
  const labels = settings.flatMap((setting) => fields.find(({ name }) => name === setting)?.label ?? []);
  return labels.length === 0 ? words.refuses(label) : words.refusesSettings(label, labels);
}

/** Replaces `{webhook}` with the address of the account. Platforms cannot reach a loopback address. */
function fillIn(text: string, channel: string, account: string, yourAddress: string): string {
  const isLocal = /^(?:localhost|127\.|\[::1\])/.test(location.hostname);
  const origin = isLocal ? yourAddress : location.origin;
  return text.replace("{webhook}", () => `${origin}/channels/${channel}/${account}/events`);
}
