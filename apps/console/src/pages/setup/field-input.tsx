import { NativeSelect, PasswordInput, TextInput } from "@mantine/core";
import type { SetupField } from "@signalbox/client";
import type { ReactNode } from "react";

interface Props {
  field: SetupField;
  value: string;
  /** Objection to the value, if any. */
  issue: string | undefined;
  isDisabled: boolean;
  onChange: (value: string) => void;
}

/** The input for a setting of an account. */
export function FieldInput({ field, value, issue, isDisabled, onChange }: Props): ReactNode {
  const { label, hint, isSecret, options } = field;
  const shared = {
    label,
    description: hint,
    error: issue,
    disabled: isDisabled,
    spellCheck: false,
    autoComplete: "off",
  };
  if (options !== undefined)
    return (
      <NativeSelect
        {...shared}
        value={value === "" ? (options[0]?.value ?? "") : value}
        data={options.map((option) => ({
          value: option.value,
          label: option.hint === undefined ? option.label : `${option.label}: ${option.hint}`,
        }))}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  if (isSecret)
    return (
      <PasswordInput
        {...shared}
        // Mantine sets it on other inputs only.
        aria-invalid={issue === undefined ? undefined : true}
        value={value}
        visibilityToggleButtonProps={{ "aria-hidden": true, tabIndex: -1 }}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <TextInput {...shared} value={value} onChange={(event) => onChange(event.currentTarget.value)} />;
}
