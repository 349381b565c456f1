import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { hostWith } from "./host.ts";
import { runCommand } from "./run.ts";

const isHere = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

async function completion(shell: string): Promise<string> {
  return (await runCommand(hostWith(), "completion", shell)).out;
}

it.each(["bash", "zsh", "fish"])("%s knows every command", async (shell) => {
  const text = await completion(shell);
  for (const word of ["start", "doctor", "completion", "rollback", "rename"]) expect(text).toContain(word);
});

it("refuses a shell it does not know", async () => {
  expect((await runCommand(hostWith(), "completion", "csh")).code).toBe(64);
});

it("bash completes commands, commands of commands, and options", async ({ skip }) => {
  if (!isHere("bash")) return skip("there is no bash here");
  const script = await completion("bash");
  const complete = (...words: string[]) => {
    const typed = words.map((word) => `'${word}'`).join(" ");
    const ask = `COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; _signalbox; printf '%s ' "\${COMPREPLY[@]}"`;
    return spawnSync("bash", ["-c", `${script}\n${ask}`], { encoding: "utf8" }).stdout.trim();
  };
  expect(complete("signalbox", "doc")).toBe("doctor");
  expect(complete("signalbox", "config", "ro")).toBe("rollback");
  expect(complete("signalbox", "--home", "sessions", "re")).toBe("rename reset");
  expect(complete("signalbox", "why", "--det")).toBe("--details");
});
