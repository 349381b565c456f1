import { startSandbox } from "@signalbox/tools";

const { level, reason } = await startSandbox();

/** Why no command can run on this machine, for the tests that are skipped without; undefined where they can. */
export const noCommands: string | undefined =
  level === "bubblewrap" ? undefined : `commands, since ${reason}`;
