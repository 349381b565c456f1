import { vi } from "vitest";
import type { GatewayHost } from "../../src/cli/host.ts";
import { runProgram } from "../../src/cli/program.ts";

/** What a command wrote, and how it ended. */
export interface Ended {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** Runs one command line in this process. */
export async function runCommand(host: GatewayHost, ...words: readonly string[]): Promise<Ended> {
  const written = { out: "", err: "" };
  const into = (stream: "out" | "err") => (text: string | Uint8Array) => {
    written[stream] += String(text);
    return true;
  };
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation(into("out")),
    vi.spyOn(process.stderr, "write").mockImplementation(into("err")),
  ];
  const before = process.exitCode;
  process.exitCode = 0;
  try {
    await runProgram(["node", "signalbox", ...words], host);
    return { ...written, code: Number(process.exitCode) };
  } finally {
    for (const spy of spies) spy.mockRestore();
    process.exitCode = before;
  }
}
