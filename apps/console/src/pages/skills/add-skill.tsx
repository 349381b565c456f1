import { Button, Card, Group, NativeSelect, Text } from "@mantine/core";
import { IconFolderPlus } from "@tabler/icons-react";
import { type ReactNode, useRef, useState } from "react";
import { useClient } from "../../gateway.tsx";
import { showProblem } from "../../parts/toasts.ts";
import { useChange } from "../../parts/use-change.ts";
import { type ChosenFolder, readFiles, toFolder } from "./skill-folder.ts";
import { useSkillsWords } from "./words.ts";

/** Limits of the gateway. A larger folder is refused before its files are read. */
const MAX_FILES = 100;
const MAX_BYTES = 600_000;

/**
 * Adds a folder of the user's computer as a skill, which then waits for approval.
 *
 * @param agents the agents, and the shards of agents that are split
 */
export function AddSkill({ agents }: { agents: readonly string[] }): ReactNode {
  const words = useSkillsWords();
  const client = useClient();
  const picker = useRef<HTMLInputElement>(null);
  const [agent, setAgent] = useState(agents[0] ?? "");
  const add = useChange({
    run: async ({ name, files }: ChosenFolder) =>
      client.addSkill({ agent, name, files: await readFiles(files) }),
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
      </Group>
    </Card>
  );
}
