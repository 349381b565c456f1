import {
  Alert,
  Button,
  Card,
  Group,
  NativeSelect,
  PasswordInput,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import type { Problem, ProviderTrialResult, Setup, SetupProvider } from "@signalbox/client";
import { IconCheck } from "@tabler/icons-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { ProblemNote, toProblem } from "../../parts/problem.tsx";
import { useChange } from "../../parts/use-change.ts";
import { MissingPackages, MoreButton, VendorLink } from "./setup-parts.tsx";
import { useSetupWords } from "./words.ts";

interface Props {
  setup: Setup;
  isDisabled: boolean;
}

/** Chooses a provider, checks its key, and makes one of its models the default. */
export function ModelSetup({ setup: { model, providers }, isDisabled }: Props): ReactNode {
  const words = useSetupWords();
  const current = providers.find(({ id }) => model?.startsWith(`${id}/`));
  const [chosen, setChosen] = useState<string>();
  const provider = providers.find(({ id }) => id === chosen) ?? current ?? providers[0];
  if (provider === undefined) return null;
  return (
    <Card withBorder>
      <Stack gap="sm">
        <Text size="sm">
          {model === undefined ? (
            words.demo
          ) : (
            <>
              {words.current} <bdi>{model}</bdi>
            </>
          )}
        </Text>
        <NativeSelect
          label={words.provider}
          value={provider.id}
          disabled={isDisabled}
          data={providers.map(({ id, label, isConfigured }) => ({
            value: id,
            label: isConfigured ? words.configured(label) : label,
          }))}
          onChange={(event) => setChosen(event.currentTarget.value)}
        />
        <MissingPackages names={provider.missingPackages} />
        <Access key={provider.id} provider={provider} isDisabled={isDisabled} />
      </Stack>
    </Card>
  );
}

/** Settings that were checked, and the result. */
interface Checked {
  access: { provider: string; apiKey?: string; baseUrl?: string };
  result: ProviderTrialResult;
}

/** Asks for the key or the address of a provider, and checks it. */
function Access({ provider, isDisabled }: { provider: SetupProvider; isDisabled: boolean }): ReactNode {
  const words = useSetupWords();
  const client = useClient();
  const { id, label, needs, keyPage, isConfigured } = provider;
  const needsKey = needs !== "address";
  const isToken = needs === "token";
  const [apiKey, setApiKey] = useState("");
  const [baseUrl, setBaseUrl] = useState("");
  const [isMore, setMore] = useState(!needsKey);
  const [checked, setChecked] = useState<Checked>();
  const [problem, setProblem] = useState<Problem>();
  const access: Checked["access"] = {
    provider: id,
    ...(apiKey.trim() !== "" && { apiKey: apiKey.trim() }),
    ...(baseUrl.trim() !== "" && { baseUrl: baseUrl.trim() }),
  };
  const check = useChange({
    run: () => client.tryProvider(access),
    refresh: [],
    onProblem: (error) => setProblem(toProblem(error)),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setProblem(undefined);
    setChecked(undefined);
    check.mutate(undefined, { onSuccess: (result) => setChecked({ access, result }) });
  };
  const isEmpty = !isConfigured && (needsKey ? apiKey : baseUrl).trim() === "";
  return (
    <>
      <form onSubmit={submit}>
        <Stack gap="sm">
          {isMore && (
            <TextInput
              label={needsKey ? words.ownAddress : words.address}
              description={needsKey ? words.ownAddressHelp : words.addressHelp}
              placeholder={needsKey ? undefined : "http://127.0.0.1:11434/v1"}
              value={baseUrl}
              disabled={isDisabled}
              spellCheck={false}
              onChange={(event) => setBaseUrl(event.currentTarget.value)}
            />
          )}
          <PasswordInput
            label={isToken ? words.token : needsKey ? words.key : words.keyOptional}
            description={isToken ? words.tokenHelp : isConfigured ? words.keyStays : undefined}
            value={apiKey}
            disabled={isDisabled}
            autoComplete="off"
            spellCheck={false}
            visibilityToggleButtonProps={{ "aria-hidden": true, tabIndex: -1 }}
            onChange={(event) => setApiKey(event.currentTarget.value)}
          />
          <Group gap="sm">
            <Button
              type="submit"
              variant="default"
              loading={check.isPending}
              disabled={isDisabled || isEmpty}
            >
              {words.check}
            </Button>
            {keyPage !== undefined && <VendorLink url={keyPage}>{words.keyPage}</VendorLink>}
            {!isMore && <MoreButton isDisabled={isDisabled} onClick={() => setMore(true)} />}
          </Group>
        </Stack>
      </form>
      {problem && <ProblemNote problem={problem} />}
      {checked && <ModelChoice key={checked.result.model} label={label} {...checked} />}
    </>
  );
}

/** Shows the result of a check, and chooses one of the models. */
function ModelChoice({ label, access, result }: Checked & { label: string }): ReactNode {
  const words = useSetupWords();
  const client = useClient();
  const { ok, detail, models } = result;
  const [model, setModel] = useState(result.model ?? models[0]?.id ?? "");
  const [problem, setProblem] = useState<Problem>();
  const save = useChange({
    run: () => client.setUpModel({ ...access, model: model.trim() }),
    done: words.modelSaved(`${access.provider}/${model.trim()}`),
    refresh: ["setup", "models", "agents", "configuration", "status"],
    onProblem: (error) => setProblem(toProblem(error)),
  });
  const [known, others] = [true, false].map((isKnown) =>
    models
      .filter((each) => each.isKnown === isKnown)
      .map(({ id, name }) => ({ value: id, label: name ?? id })),
  );
  const groups = [
    { group: words.known, items: known ?? [] },
    { group: words.others, items: others ?? [] },
  ].filter(({ items }) => items.length > 0);
  return (
    <Stack gap="sm" role="status">
      {ok ? (
        <Alert color="green" icon={<IconCheck size={18} aria-hidden />}>
          {result.model === undefined ? words.noModels : <bdi>{words.answers(result.model)}</bdi>}
        </Alert>
      ) : (
        <ProblemNote
          problem={{
            code: "model",
            message: result.kind === "unreachable" ? words.unreachable(label) : words.refuses(label),
            ...(detail !== undefined && { remedy: detail }),
          }}
        />
      )}
      {models.length === 0 ? (
        <TextInput
          label={words.choose}
          value={model}
          spellCheck={false}
          onChange={(event) => setModel(event.currentTarget.value)}
        />
      ) : (
        <NativeSelect
          label={words.choose}
          value={model}
          data={groups}
          onChange={(event) => setModel(event.currentTarget.value)}
        />
      )}
      {problem && <ProblemNote problem={problem} />}
      <Group>
        <Button
          variant={ok ? "filled" : "default"}
          loading={save.isPending}
          disabled={model.trim() === ""}
          onClick={() => save.mutate()}
        >
          {ok ? words.use : words.useAnyway}
        </Button>
      </Group>
    </Stack>
  );
}
