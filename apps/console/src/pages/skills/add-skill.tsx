import { Button, Card, FileButton, Group, NativeSelect, Text } from "@mantine/core";
import { IconFileZip, IconFolderPlus } from "@tabler/icons-react";
import { type ReactNode, useRef, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { showProblem } from "../../parts/toasts.ts";
import { useChange } from "../../parts/use-change.ts";
import { type ChosenFolder, readBase64, readFiles, toFolder } from "./skill-folder.ts";
import { useSkillsWords } from "./words.ts";

/** Limits of the gateway. A larger folder is refused before its files are read. */
const MAX_FILES = 100;
const MAX_BYTES = 600_000;

/**
 * Adds a folder or a ZIP file of the user's computer as a skill, which then waits for approval.
 *
 * @param agents the agents, and the shards of agents that are split
 */
export function AddSkill({ agents }: { agents: readonly string[] }): ReactNode {
  const words = useSkillsWords();
  const client = useClient();
  const picker = useRef<HTMLInputElement>(null);
  const resetZip = useRef<() => void>(null);
  const [agent, setAgent] = useState(agents[0] ?? "");
  const add = useChange({
    run: async (chosen: ChosenFolder | File) =>
      client.addSkill(
        chosen instanceof File
          ? { agent, name: chosen.name.replace(/\.zip$/i, ""), zip: await readBase64(chosen) }
          : { agent, name: chosen.name, files: await readFiles(chosen.files) },
      ),
    done: ({ id }) => words.added(id),
    refresh: ["skills", "agent"],
  });
  const choose = (chosen: FileList | null): void => {
    const folder = toFolder([...(chosen ?? [])]);
    if (folder === undefined) return;
    if (folder.files.length > MAX_FILES || folder.bytes > MAX_BYTES)
      showProblem({ code: "too_large", message: words.tooLarge(MAX_FILES, MAX_BYTES / 1_000) });
    else add.mutate(folder);
  };
  const chooseZip = (chosen: File | null): void => {
    if (chosen === null) return;
    if (chosen.size > MAX_BYTES)
      showProblem({ code: "too_large", message: words.tooLarge(MAX_FILES, MAX_BYTES / 1_000) });
    else add.mutate(chosen);
    // Choosing the same file again then fires a change event.
    resetZip.current?.();
  };
  return (
    <Card withBorder>
      <Text size="sm" mb="sm">
        {words.addHelp}
      </Text>
      <Group gap="sm" align="end">
        <NativeSelect
          label={words.agent}
          value={agent}
          data={[...agents]}
          onChange={(event) => setAgent(event.currentTarget.value)}
        />
        <input
          ref={picker}
          type="file"
          multiple
          hidden
          // Lets the user choose a folder instead of files.
          {...{ webkitdirectory: "" }}
          onChange={(event) => {
            choose(event.target.files);
            // Reset the value, so that choosing the same folder again fires a change event.
            event.target.value = "";
          }}
        />
        <Button
          variant="default"
          leftSection={<IconFolderPlus size={16} aria-hidden />}
          loading={add.isPending}
          onClick={() => picker.current?.click()}
        >
          {words.chooseFolder}
        </Button>
        <FileButton accept=".zip,application/zip" onChange={chooseZip} resetRef={resetZip}>
          {(props) => (
            <Button
              variant="default"
              leftSection={<IconFileZip size={16} aria-hidden />}
              loading={add.isPending}
              {...props}
            >
              {words.chooseZip}
            </Button>
          )}
        </FileButton>
      </Group>
    </Card>
  );
}
