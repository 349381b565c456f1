import "@mantine/core/styles/Combobox.layer.css";
import { Button, Combobox, Text, useCombobox } from "@mantine/core";
import { IconCheck, IconChevronDown, IconSearch } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { useFormat } from "../../words/use-format.ts";
import classes from "./model-picker.module.css";
import { modelsQuery } from "./queries.ts";
import { useChatWords } from "./words.ts";

interface Props {
  /** The agent's own model. */
  agentModel: string;
  /** The model chosen for the conversation. */
  chosen: string | undefined;
  /** Called with `provider/model`, or `default` for the agent's own model. */
  onChoose: (model: string) => void;
}

/** Shows the model of a conversation and lets the owner choose another one. */
export function ModelPicker({ agentModel, chosen, onChoose }: Props): ReactNode {
  const words = useChatWords();
  const format = useFormat();
  const [wanted, setWanted] = useState("");
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setWanted("");
    },
    onDropdownOpen: () => combobox.focusSearchInput(),
  });
  const { data } = useQuery({ ...modelsQuery(useClient()), enabled: combobox.dropdownOpened });
  const matching = (data?.models ?? []).filter(({ model }) =>
    model.toLowerCase().includes(wanted.trim().toLowerCase()),
  );
  return (
    <Combobox
      store={combobox}
      width={340}
      position="bottom-start"
      onOptionSubmit={(model) => {
        combobox.closeDropdown();
        onChoose(model);
      }}
    >
      <Combobox.Target targetType="button" withAriaAttributes={false}>
        <Button
          className={classes["model"] ?? ""}
          variant="subtle"
          color="gray"
          fw={500}
          aria-haspopup="listbox"
          aria-expanded={combobox.dropdownOpened}
          rightSection={<IconChevronDown size={15} aria-hidden />}
          onClick={() => combobox.toggleDropdown()}
        >
          <span className="visually-hidden">{words.model}: </span>
          {chosen ?? agentModel}
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Search
          aria-label={words.searchModels}
          placeholder={words.searchModels}
          leftSection={<IconSearch size={14} aria-hidden />}
          value={wanted}
          onChange={(event) => {
            setWanted(event.currentTarget.value);
            combobox.selectFirstOption();
          }}
        />
        <Combobox.Options mah={320} className={classes["options"] ?? ""} aria-label={words.model}>
          {wanted === "" && (
            <ModelOption value="default" name={words.agentModel} isCurrent={chosen === undefined}>
              {agentModel}
            </ModelOption>
          )}
          {matching.map(({ model, contextWindow, inputPrice, outputPrice }) => (
            <ModelOption key={model} value={model} name={model} isCurrent={model === chosen}>
              {words.window(format.compact(contextWindow))}
              {inputPrice !== undefined &&
                outputPrice !== undefined &&
                ` · ${words.price(format.cost(inputPrice), format.cost(outputPrice))}`}
            </ModelOption>
          ))}
          {data !== undefined && matching.length === 0 && <Combobox.Empty>{words.noModels}</Combobox.Empty>}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}

interface OptionProps {
  value: string;
  name: string;
  isCurrent: boolean;
  children: ReactNode;
}

function ModelOption({ value, name, isCurrent, children }: OptionProps): ReactNode {
  return (
    <Combobox.Option value={value} active={isCurrent} className={classes["option"] ?? ""}>
      <span>
        {name}
        <Text component="small" size="xs" c="dimmed" display="block">
          {children}
        </Text>
      </span>
      {isCurrent && <IconCheck size={15} aria-hidden />}
    </Combobox.Option>
  );
}
