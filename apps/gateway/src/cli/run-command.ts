import { spawn } from "node:child_process";

export type Command = readonly [program: string, ...parameters: string[]];

/** A command's exit code and output. */
interface Answer {
  readonly code: number;
  readonly output: string;
  /** Error output, or the error itself. */
  readonly said: string;
}

/** Runs commands until one fails, and returns the output of the failed command. */
export async function firstFailure(commands: readonly Command[]): Promise<string | undefined> {
  for (const command of commands) {
    const { code, said } = await run(command);
    if (code !== 0) return `\`${command.join(" ")}\` failed${quoted(said)}`;
  }
  return undefined;
}

/** Runs a command to its end. Resolves with code 1 if it cannot be started. */
export function run([program, ...parameters]: Command): Promise<Answer> {
  return new Promise((resolve) => {
    const child = spawn(program, parameters, { stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    child.once("error", (error) => resolve({ code: 1, output, said: error.message }));
    child.once("close", (code) => resolve({ code: code ?? 1, output, said: said.trim() }));
  });
}

/** Returns the error output of a command in parentheses, if there is any. */
export function quoted(said: string): string {
  return said === "" ? "" : ` ("${said}")`;
}
