import { reasonOf } from "@signalbox/agent-core";
import { visible, visibleJson } from "@signalbox/telemetry";
import { getExitCode } from "./exit-codes.ts";
import { withOwnCommand } from "./own-command.ts";

/** Prints a result: JSON for programs, lines for people. */
export function print(json: boolean | undefined, value: unknown, lines: () => readonly string[]): void {
  process.stdout.write(
    json === true
      ? `${visibleJson(JSON.stringify(value, null, 2))}\n`
      : `${visible(withOwnCommand(lines().join("\n")))}\n`,
  );
}

/** Runs a command. An error is printed as one line to standard error and sets the exit code. */
export async function guarded(json: boolean | undefined, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    const exitCode = getExitCode(error);
    const message = reasonOf(error);
    process.stderr.write(
      json === true
        ? `${JSON.stringify({ error: { message, exitCode } })}\n`
        : `signalbox: ${visible(withOwnCommand(message))}\n`,
    );
    process.exitCode = exitCode;
  }
}
