import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useClient } from "../../gateway.tsx";
import { Loaded } from "../../parts/page.tsx";
import classes from "./configuration.module.css";
import { KeysForStart } from "./description.ts";
import { isRecord, setAt } from "./edits.ts";
import { Field } from "./field.tsx";
import { schemaQuery } from "./queries.ts";
import type { Schema } from "./schema-kind.ts";
import { useConfigurationWords } from "./words.ts";

const route = getRouteApi("/configuration");

interface Props {
  draft: unknown;
  isReadOnly: boolean;
  /** Keys whose changes take effect at the next start. */
  keysForStart: readonly string[];
  onChange: (draft: unknown) => void;
}

/** One section of the configuration as a form, created from the schema. */
export function Form({ draft, isReadOnly, keysForStart, onChange }: Props): ReactNode {
  const query = useQuery(schemaQuery(useClient()));
  return (
    <Loaded query={query}>
      {({ properties }) => (
        <Sections
          schemas={Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, schema]) =>
            isRecord(schema) ? [[name, schema] as const] : [],
          )}
          draft={draft}
          isReadOnly={isReadOnly}
          keysForStart={keysForStart}
          onChange={onChange}
        />
      )}
    </Loaded>
  );
}

interface SectionsProps extends Props {
  schemas: readonly (readonly [string, Schema])[];
}

function Sections({ schemas, draft, isReadOnly, keysForStart, onChange }: SectionsProps): ReactNode {
  const words = useConfigurationWords();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [name, schema] = schemas.find(([each]) => each === search.section) ?? schemas[0] ?? [];
  if (name === undefined || schema === undefined) return null;
  return (
    <KeysForStart value={keysForStart}>
      <fieldset className={classes["fields"]} disabled={isReadOnly}>
        <legend className="visually-hidden">{words.views.form}</legend>
        <NativeSelect
          label={words.section}
          value={name}
          data={schemas.map(([each]) => each)}
          onChange={(event) => {
            const section = event.currentTarget.value;
            void navigate({ search: (before) => ({ ...before, section }), replace: true });
          }}
        />
        <Field
          key={name}
          name={name}
          schema={schema}
          value={isRecord(draft) ? draft[name] : undefined}
          path={name}
          isTop
          onChange={(value) => onChange(setAt(draft, [name], value))}
        />
      </fieldset>
    </KeysForStart>
  );
}
