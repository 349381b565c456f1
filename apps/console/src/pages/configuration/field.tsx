import { Button, Group, NativeSelect, PasswordInput, Textarea, TextInput } from "@mantine/core";
import { type ReactNode, useState } from "react";
import classes from "./configuration.module.css";
import { useDescription } from "./description.ts";
import { isRecord, setAt } from "./edits.ts";
import { getKind, type Schema } from "./schema-kind.ts";
import { useConfigurationWords } from "./words.ts";

export interface FieldProps {
  name: string;
  schema: Schema;
  /** Place of the value in the file, such as `gateway.port`. */
  path: string;
  value: unknown;
  /** The value is `undefined` if it is not set. */
  onChange: (value: unknown) => void;
  /** Shows the fields of a section without a frame. */
  isTop?: boolean;
}

/** A control for one value of the configuration, chosen by its schema. */
export function Field(props: FieldProps): ReactNode {
  const { schema, name, path, value, onChange, isTop = false } = props;
  const describe = useDescription();
  const kind = getKind(schema);
  const frame = (content: ReactNode) => (
    <Nested name={name} description={describe(props)} isTop={isTop} isSet={value !== undefined}>
      {content}
    </Nested>
  );
  switch (kind.kind) {
    case "section":
      return frame(
        kind.fields.map(([field, fieldSchema]) => (
          <Field
            key={field}
            name={field}
            schema={fieldSchema}
            path={`${path}.${field}`}
            value={isRecord(value) ? value[field] : undefined}
            onChange={(next) => onChange(withoutEmpty(setAt(value, [field], next)))}
          />
        )),
      );
    case "entries":
      return frame(<Entries entry={kind.entry} name={name} path={path} value={value} onChange={onChange} />);
    case "list":
      return frame(<List item={kind.item} name={name} path={path} value={value} onChange={onChange} />);
    case "choice":
      return <Choice {...props} values={kind.values.map((each) => ({ value: each, label: each }))} />;
    case "flag":
      return <Flag {...props} />;
    case "texts":
      return <Texts {...props} />;
    case "secret":
      return typeof value === "object" ? <Json {...props} /> : <Secret {...props} />;
    case "number":
      return <Text {...props} parse={parseNumber} />;
    case "text":
      return <Text {...props} parse={(text) => text} />;
    case "json":
      return <Json {...props} />;
  }
}

/** Removes a section without values, so that an untouched section is not written. */
function withoutEmpty(value: unknown): unknown {
  return isRecord(value) && Object.keys(value).length === 0 ? undefined : value;
}

function parseNumber(text: string): unknown {
  const number = Number(text);
  return text.trim() === "" ? undefined : Number.isNaN(number) ? text : number;
}

interface NestedProps {
  name: string;
  description: string | undefined;
  isTop: boolean;
  isSet: boolean;
  children: ReactNode;
}

function Nested({ name, description, isTop, isSet, children }: NestedProps): ReactNode {
  const help = description !== undefined && <p className={classes["help"]}>{description}</p>;
  if (isTop)
    return (
      <div className={classes["fields"]}>
        {help}
        {children}
      </div>
    );
  return (
    <details className={classes["nested"]} open={isSet}>
      <summary>
        <bdi>{name}</bdi>
      </summary>
      <div className={classes["fields"]}>
        {help}
        {children}
      </div>
    </details>
  );
}

function Text({ parse, ...props }: FieldProps & { parse: (text: string) => unknown }): ReactNode {
  const { name, schema, value, onChange } = props;
  const words = useConfigurationWords();
  const describe = useDescription();
  const text = value === undefined || value === null ? "" : String(value);
  const common = {
    label: <bdi>{name}</bdi>,
    description: describe(props),
    placeholder: schema["default"] === undefined ? words.unset : String(schema["default"]),
    value: text,
    onChange: (event: { currentTarget: { value: string } }) => {
      const typed = event.currentTarget.value;
      onChange(typed === "" ? undefined : parse(typed));
    },
  };
  return text.includes("\n") ? <Textarea {...common} autosize maxRows={12} /> : <TextInput {...common} />;
}

function Secret(props: FieldProps): ReactNode {
  const { name, value, onChange } = props;
  const words = useConfigurationWords();
  const describe = useDescription();
  const text = typeof value === "string" ? value : "";
  const isKept = text.startsWith("<secret ");
  const isReference = text.startsWith("${");
  const Input = isReference ? TextInput : PasswordInput;
  return (
    <Input
      label={<bdi>{name}</bdi>}
      description={describe(props, isKept ? words.secretKept : words.secretHelp)}
      placeholder={isKept ? "••••••••" : words.unset}
      value={isKept ? "" : text}
      autoComplete="off"
      spellCheck={false}
      onChange={(event) => {
        const typed = event.currentTarget.value;
        onChange(typed === "" ? undefined : typed);
      }}
    />
  );
}

function Choice({
  values,
  ...props
}: FieldProps & { values: readonly { value: string; label: string }[] }): ReactNode {
  const { name, schema, value, onChange } = props;
  const words = useConfigurationWords();
  const describe = useDescription();
  const standard = schema["default"];
  const unset = standard === undefined ? words.unset : `${words.unset} (${String(standard)})`;
  return (
    <NativeSelect
      label={<bdi>{name}</bdi>}
      description={describe(props)}
      value={value === undefined ? "" : String(value)}
      data={[{ value: "", label: unset }, ...values]}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        onChange(chosen === "" ? undefined : chosen);
      }}
    />
  );
}

function Flag(props: FieldProps): ReactNode {
  const words = useConfigurationWords();
  return (
    <Choice
      {...props}
      values={[
        { value: "true", label: words.yes },
        { value: "false", label: words.no },
      ]}
      onChange={(chosen) => props.onChange(chosen === undefined ? undefined : chosen === "true")}
    />
  );
}

function Texts(props: FieldProps): ReactNode {
  const { name, value, onChange } = props;
  const words = useConfigurationWords();
  const describe = useDescription();
  const [text, setText] = useState(Array.isArray(value) ? value.map(String).join("\n") : "");
  return (
    <Textarea
      label={<bdi>{name}</bdi>}
      description={describe(props, words.onePerLine)}
      value={text}
      autosize
      minRows={2}
      maxRows={10}
      spellCheck={false}
      onChange={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        const lines = typed.split("\n").filter((line) => line.trim() !== "");
        onChange(lines.length === 0 ? undefined : lines);
      }}
    />
  );
}

function Json(props: FieldProps): ReactNode {
  const { name, value, onChange } = props;
  const words = useConfigurationWords();
  const describe = useDescription();
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value, null, 2));
  const [isInvalid, setInvalid] = useState(false);
  return (
    <Textarea
      className={classes["text"] ?? ""}
      label={<bdi>{name}</bdi>}
      description={describe(props, words.json)}
      error={isInvalid && words.invalidJson}
      value={text}
      autosize
      minRows={2}
      maxRows={14}
      spellCheck={false}
      onChange={(event) => {
        const typed = event.currentTarget.value;
        setText(typed);
        try {
          onChange(typed.trim() === "" ? undefined : JSON.parse(typed));
          setInvalid(false);
        } catch {
          setInvalid(true);
        }
      }}
    />
  );
}

interface EntriesProps {
  name: string;
  path: string;
  entry: Schema;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** Entries by name, such as model providers and accounts. */
function Entries({ name, path, entry, value, onChange }: EntriesProps): ReactNode {
  const words = useConfigurationWords();
  const [added, setAdded] = useState("");
  const entries = isRecord(value) ? Object.entries(value) : [];
  const isSimple = ["text", "number", "flag", "choice"].includes(getKind(entry).kind);
  return (
    <>
      {entries.map(([key, item]) => (
        <div key={key} className={classes["fields"]}>
          <Field
            name={key}
            schema={entry}
            path={`${path}.${key}`}
            value={item}
            onChange={(next) => onChange(setAt(value, [key], next ?? {}))}
          />
          <Group justify="flex-end">
            <Button
              variant="subtle"
              color="red.9"
              size="compact-xs"
              aria-label={words.removeFrom(key)}
              onClick={() => onChange(withoutEmpty(setAt(value, [key], undefined)))}
            >
              {words.remove}
            </Button>
          </Group>
        </div>
      ))}
      <Group gap="xs" align="end">
        <TextInput
          size="xs"
          label={words.newName}
          aria-label={`${words.newName}: ${name}`}
          value={added}
          onChange={(event) => setAdded(event.currentTarget.value)}
        />
        <Button
          size="xs"
          variant="default"
          aria-label={words.addTo(name)}
          disabled={added.trim() === "" || entries.some(([key]) => key === added.trim())}
          onClick={() => {
            onChange(setAt(value, [added.trim()], isSimple ? "" : {}));
            setAdded("");
          }}
        >
          {words.add}
        </Button>
      </Group>
    </>
  );
}

/** Entries in order, such as agents and bindings. */
function List({
  name,
  path,
  item,
  value,
  onChange,
}: Omit<EntriesProps, "entry"> & { item: Schema }): ReactNode {
  const words = useConfigurationWords();
  const items = Array.isArray(value) ? value : [];
  return (
    <>
      {items.map((each: unknown, index) => {
        const title = isRecord(each) && typeof each["id"] === "string" ? each["id"] : `${name} ${index + 1}`;
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no other identity
          <div key={index} className={classes["fields"]}>
            <Field
              name={title}
              schema={item}
              path={`${path}[${index}]`}
              value={each}
              onChange={(next) => onChange(setAt(items, [index], next ?? {}))}
            />
            <Group justify="flex-end">
              <Button
                variant="subtle"
                color="red.9"
                size="compact-xs"
                aria-label={words.removeFrom(title)}
                onClick={() => {
                  const rest = items.filter((_, at) => at !== index);
                  onChange(rest.length === 0 ? undefined : rest);
                }}
              >
                {words.remove}
              </Button>
            </Group>
          </div>
        );
      })}
      <Group>
        <Button
          size="xs"
          variant="default"
          aria-label={words.addTo(name)}
          onClick={() => onChange([...items, {}])}
        >
          {words.add}
        </Button>
      </Group>
    </>
  );
}
