import { Alert, Breadcrumbs, Button, Group, Stack, Textarea, TextInput } from "@mantine/core";
import { isClientError, type WorkspaceFolder } from "@signalbox/client";
import { IconFile, IconFolder } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type FormEvent, type ReactNode, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { type Column, DataTable } from "../../parts/data-table.tsx";
import { Empty } from "../../parts/empty.tsx";
import { TextLink } from "../../parts/links.tsx";
import { Loaded } from "../../parts/page.tsx";
import { Time } from "../../parts/time.tsx";
import { useChange } from "../../parts/use-change.ts";
import { useScopes } from "../../parts/use-scopes.ts";
import { useFormat } from "../../words/use-format.ts";
import { fileQuery, folderQuery } from "./queries.ts";
import { useAgentWords } from "./words.ts";

const route = getRouteApi("/agent/$id");

/** Shows the folders of a workspace and edits its text files. A path without a final slash is a file. */
export function WorkspaceFiles({ agent }: { agent: string }): ReactNode {
  const { path = "" } = route.useSearch();
  const isFolder = path === "" || path.endsWith("/");
  return (
    <Stack gap="md">
      <PathLinks path={path} />
      {isFolder ? <Folder agent={agent} path={path} /> : <File key={path} agent={agent} path={path} />}
    </Stack>
  );
}

function PathLinks({ path }: { path: string }): ReactNode {
  const words = useAgentWords();
  const names = path.split("/").filter(Boolean);
  return (
    <Breadcrumbs>
      <PathLink path="">{words.root}</PathLink>
      {names.map((name, index) => {
        const isLast = index === names.length - 1;
        const to = names.slice(0, index + 1).join("/") + (isLast && !path.endsWith("/") ? "" : "/");
        return (
          <PathLink key={to} path={to}>
            <bdi>{name}</bdi>
          </PathLink>
        );
      })}
    </Breadcrumbs>
  );
}

function PathLink({ path, children }: { path: string; children: ReactNode }): ReactNode {
  const { id } = route.useParams();
  return (
    <TextLink to="/agent/$id" params={{ id }} search={{ tab: "files", path }} size="sm">
      {children}
    </TextLink>
  );
}

type Entry = WorkspaceFolder["entries"][number];

function Folder({ agent, path }: { agent: string; path: string }): ReactNode {
  const words = useAgentWords();
  const scopes = useScopes();
  const query = useQuery(folderQuery(useClient(), agent, path.replace(/\/$/, "")));
  return (
    <>
      {scopes.has("owner") && <NewFile folder={path} />}
      <Loaded query={query}>
        {({ entries, truncated }) => (
          <>
            {truncated && <Alert color="yellow">{words.more}</Alert>}
            <Entries path={path} entries={entries} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Entries({ path, entries }: { path: string; entries: readonly Entry[] }): ReactNode {
  const words = useAgentWords();
  const format = useFormat();
  if (entries.length === 0)
    return (
      <Empty icon={IconFolder} title={words.emptyFolder}>
        {words.emptyFolderYet}
      </Empty>
    );
  const columns: Column<Entry>[] = [
    {
      id: "name",
      label: words.name,
      isMain: true,
      cell: ({ name, kind }) => (
        <Group gap="xs" wrap="nowrap">
          {kind === "folder" ? <IconFolder size={16} aria-hidden /> : <IconFile size={16} aria-hidden />}
          <PathLink path={`${path}${name}${kind === "folder" ? "/" : ""}`}>
            <bdi>{name}</bdi>
          </PathLink>
        </Group>
      ),
    },
    {
      id: "size",
      label: words.size,
      align: "end",
      cell: ({ bytes }) => (bytes === undefined ? "" : format.bytes(bytes)),
    },
    {
      id: "changed",
      label: words.changed,
      isDetail: true,
      cell: ({ modifiedAt }) => modifiedAt !== undefined && <Time at={modifiedAt} />,
    },
  ];
  return <DataTable label={words.tabs.files} columns={columns} rows={entries} rowKey={({ name }) => name} />;
}

function NewFile({ folder }: { folder: string }): ReactNode {
  const words = useAgentWords();
  const navigate = route.useNavigate();
  const [name, setName] = useState("");
  const open = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ search: { tab: "files", path: `${folder}${name.trim()}` } });
  };
  return (
    <form onSubmit={open}>
      <Group gap="xs" align="end">
        <TextInput
          label={words.newFile}
          placeholder={words.fileName}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" variant="default" disabled={name.trim() === "" || name.endsWith("/")}>
          {words.create}
        </Button>
      </Group>
    </form>
  );
}

function File({ agent, path }: { agent: string; path: string }): ReactNode {
  const scopes = useScopes();
  const query = useQuery(fileQuery(useClient(), agent, path));
  const isMissing = isClientError(query.error) && query.error.code === "not_found";
  if (isMissing && scopes.has("owner"))
    return <Editor key="new" agent={agent} path={path} text="" revision={null} />;
  return (
    <Loaded query={query}>
      {({ text, revision }) => (
        <Editor key={revision} agent={agent} path={path} text={text} revision={revision} />
      )}
    </Loaded>
  );
}

interface EditorProps {
  agent: string;
  path: string;
  text: string;
  /** `null` for a new file. */
  revision: string | null;
}

function Editor({ agent, path, text, revision }: EditorProps): ReactNode {
  const words = useAgentWords();
  const client = useClient();
  const scopes = useScopes();
  const [edited, setEdited] = useState(text);
  const save = useChange({
    run: () => client.writeAgentFile(agent, { path, text: edited, revision }),
    done: words.saved,
    refresh: ["agent-file", "agent-files"],
  });
  const isChanged = edited !== text || revision === null;
  return (
    <Stack gap="sm">
      <Textarea
        label={words.content}
        value={edited}
        readOnly={!scopes.has("owner")}
        autosize
        minRows={12}
        maxRows={30}
        spellCheck={false}
        styles={{ input: { fontFamily: "var(--mantine-font-family-monospace)" } }}
        onChange={(event) => setEdited(event.currentTarget.value)}
      />
      {scopes.has("owner") && (
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={edited === text} onClick={() => setEdited(text)}>
            {words.revert}
          </Button>
          <Button loading={save.isPending} disabled={!isChanged} onClick={() => save.mutate()}>
            {words.save}
          </Button>
        </Group>
      )}
    </Stack>
  );
}
