/** The command line as it was built, in one file. */
const PROGRAM = new URL("../../dist/signalbox-program.js", import.meta.url);

/** How a command of the command line ended, and everything it wrote. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/**
 * Runs a command that ends by itself in this process, whose modules are loaded: as a process of its own each would
 * load them again. What it knows of its process is its own as long as it runs, so only one can run at a time.
 */
export function runCommand(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Ended> {
  const ended = last.then(() => inItsOwnProcess(args, env));
  last = ended.catch(() => {});
  return ended;
}

let last: Promise<unknown> = Promise.resolve();

async function inItsOwnProcess(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<Ended> {
  const { env: envBefore, exitCode: codeBefore } = process;
  const out = capture(process.stdout);
  const err = capture(process.stderr);
  process.env = { ...env };
  process.exitCode = 0;
  try {
    const { runSignalbox }: typeof import("../../dist/run-signalbox.js") = await import(PROGRAM.href);
    await runSignalbox([process.execPath, "signalbox", ...args]);
    return { code: Number(process.exitCode), out: out.text(), err: err.text() };
  } finally {
    process.env = envBefore;
    process.exitCode = codeBefore;
    out.end();
    err.end();
  }
}

/** Keeps what is written to a stream, which gets nothing of it. */
function capture(stream: NodeJS.WriteStream): { readonly text: () => string; end(): void } {
  const { write } = stream;
  const listeners = stream.listeners("error");
  let text = "";
  stream.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    text += typeof chunk === "string" ? chunk : Buffer.from(chunk).toString();
    for (const done of rest) if (typeof done === "function") done();
    return true;
  };
  return {
    text: () => text,
    end() {
      stream.write = write;
      for (const listener of stream.rawListeners("error"))
        if (!listeners.includes(listener)) stream.off("error", listener as () => void);
    },
  };
}
