import "../../styles/mantine-forms.css";
import { Alert, Code, SegmentedControl } from "@mantine/core";
import type { Configuration, ConfigurationChange } from "@signalbox/client";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { Loaded, Page } from "../../parts/page.tsx";
import { useScopes } from "../../parts/use-scopes.ts";
import { useWords } from "../../words/words.tsx";
import classes from "./configuration.module.css";
import { findEdits } from "./edits.ts";
import { Keys } from "./effects.tsx";
import { Form } from "./form.tsx";
import { History } from "./history.tsx";
import { ProblemList } from "./problem-list.tsx";
import { configurationQuery } from "./queries.ts";
import { Review } from "./review.tsx";
import { VIEWS } from "./search.ts";
import { TextEditor, type TextEditorHandle } from "./text-editor.tsx";
import { useConfigurationWords } from "./words.ts";

const route = getRouteApi("/configuration");

/** Edits the configuration as a form beside the text or as text, checks changes, and restores earlier versions. */
export function ConfigurationPage(): ReactNode {
  const { pages } = useWords();
  const words = useConfigurationWords();
  const { view = "form" } = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(configurationQuery(useClient()));
  const choose = (value: string) => {
    const next = VIEWS.find((each) => each === value);
    if (next !== undefined) void navigate({ search: (search) => ({ ...search, view: next }), replace: true });
  };
  return (
    <Page
      title={pages.configuration}
      description={
        query.data && (
          <>
            <Code>
              <bdi>{query.data.file}</bdi>
            </Code>{" "}
            {words.description} <Keys keys={query.data.keysForStart} />
          </>
        )
      }
      actions={
        <SegmentedControl
          aria-label={words.view}
          value={view}
          data={VIEWS.map((value) => ({ value, label: words.views[value] }))}
          onChange={choose}
        />
      }
    >
      <Loaded query={query}>
        {(configuration) => (
          <>
            <State configuration={configuration} />
            {view === "history" ? (
              <History revision={configuration.revision} />
            ) : (
              configuration.editable && (
                <Editor key={configuration.revision} configuration={configuration} view={view} />
              )
            )}
          </>
        )}
      </Loaded>
    </Page>
  );
}

/** Notes about a file that is not editable or not in effect. */
function State({ configuration }: { configuration: Configuration }): ReactNode {
  const { editable, reason, problems, state } = configuration;
  const words = useConfigurationWords();
  return (
    <>
      {!editable && (
        <Alert color="yellow" title={words.readOnly}>
          <bdi>{reason}</bdi>
        </Alert>
      )}
      {state.kept.length > 0 && <Alert color="red">{words.kept(state.kept.join(", "))}</Alert>}
      {state.forStart.length > 0 && <Alert color="yellow">{words.restart(state.forStart.join(", "))}</Alert>}
      <ProblemList title={words.problems} problems={problems} />
    </>
  );
}

interface EditorProps {
  configuration: Configuration;
  view: "form" | "text";
}

function Editor({ configuration, view }: EditorProps): ReactNode {
  const { text, values, revision, keysForStart } = configuration;
  const words = useConfigurationWords();
  const scopes = useScopes();
  const editor = useRef<TextEditorHandle>(null);
  const [faultyLines, setFaultyLines] = useState<ReadonlySet<number>>(new Set());
  const [draft, setDraft] = useState<unknown>(values);
  const [editedText, setEditedText] = useState(text);
  const edits = view === "form" ? findEdits(values, draft) : [];
  const change: ConfigurationChange = view === "form" ? { revision, edits } : { revision, text: editedText };
  const isChanged = view === "form" ? edits.length > 0 : editedText !== text;
  const editText = (next: string) => {
    setEditedText(next);
    setFaultyLines(new Set());
  };
  const discard = () => {
    setDraft(values);
    editText(text);
  };
  const places =
    view === "text"
      ? {
          onErrors: (lines: readonly number[]) => setFaultyLines(new Set(lines)),
          onLine: (line: number) => editor.current?.goTo(line),
        }
      : {};
  const isReadOnly = !scopes.has("owner");
  return (
    <>
      {view === "form" ? (
        <div className={classes["columns"]}>
          <Form draft={draft} isReadOnly={isReadOnly} keysForStart={keysForStart} onChange={setDraft} />
          <CodeBlock label={words.file} text={text} />
        </div>
      ) : (
        <TextEditor
          text={editedText}
          isReadOnly={isReadOnly}
          faultyLines={faultyLines}
          handle={editor}
          onChange={editText}
        />
      )}
      {!isReadOnly && (
        <Review
          key={JSON.stringify(change)}
          change={change}
          isChanged={isChanged}
          onDiscard={discard}
          {...places}
        />
      )}
    </>
  );
}
