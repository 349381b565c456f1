import type { Command } from "commander";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

/** A command with its possible arguments. */
interface Completed {
  /** The command without the program's name. */
  readonly words: string;
  readonly description: string;
  /** Words that may follow: commands or options. */
  readonly next: readonly { readonly word: string; readonly description: string }[];
}

/** Generates shell completion for every command and option of the program. */
export function completionFor(shell: Shell, program: Command): string {
  const commands = completedIn(program, []);
  if (shell === "bash") return bash(commands);
  return shell === "zsh" ? zsh(commands) : fish(commands);
}

function completedIn(command: Command, path: readonly string[]): Completed[] {
  const words = [
    ...command.commands.map((each) => ({ word: each.name(), description: each.description() })),
    ...command.options.flatMap(({ long, description }) => (long ? [{ word: long, description }] : [])),
  ];
  return [
    { words: path.join(" "), description: command.description(), next: words },
    ...command.commands.flatMap((each) => completedIn(each, [...path, each.name()])),
  ];
}

/** Generates the Bash script, which ignores options and their values when it looks for the command. */
function bash(commands: readonly Completed[]): string {
  const cases = commands.map(
    ({ words, next }) =>
      `    ${quoted(words)}) COMPREPLY=($(compgen -W ${quoted(next.map(({ word }) => word).join(" "))} -- "$word")) ;;`,
  );
  return `_signalbox() {
  local word="\${COMP_WORDS[COMP_CWORD]}" typed="" each
  for each in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [[ $each == -* ]] || typed="\${typed:+$typed }$each"
  done
  case "$typed" in
${cases.join("\n")}
    *) COMPREPLY=($(compgen -f -- "$word")) ;;
  esac
}
complete -o default -F _signalbox signalbox
`;
}

function zsh(commands: readonly Completed[]): string {
  const cases = commands.map(({ words, next }) => {
    const entries = next.map(({ word, description }) =>
      quoted(`${word.replaceAll(":", "\\:")}:${description}`),
    );
    return `    ${quoted(words)}) entries=(${entries.join(" ")}) ;;`;
  });
  return `#compdef signalbox
_signalbox() {
  local -a entries
  local typed="" each
  for each in "\${words[@]:1:$((CURRENT-2))}"; do
    [[ $each == -* ]] || typed="\${typed:+$typed }$each"
  done
  case "$typed" in
${cases.join("\n")}
    *) _files; return ;;
  esac
  _describe 'signalbox' entries
}
compdef _signalbox signalbox
`;
}

function fish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ words, next }) =>
    next.map(({ word, description }) => {
      const what = word.startsWith("--") ? `-l ${word.slice(2)}` : `-f -a ${word}`;
      return `complete -c signalbox -n ${quoted(`__signalbox_typed ${quoted(words)}`)} ${what} -d ${quoted(description)}`;
    }),
  );
  return `function __signalbox_typed
  set -l typed
  for each in (commandline -opc)[2..]
    string match -q -- '-*' $each; or set -a typed $each
  end
  test "$typed" = "$argv"
end
${lines.join("\n")}
`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
