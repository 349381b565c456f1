import type { AttemptKind } from "./attempt-kinds.ts";
import {
  ask,
  background,
  CALLS,
  EXCHANGED,
  edit,
  editMine,
  exec,
  FOR_A_SERVER,
  HIDDEN,
  IDENTITY,
  LAUNDERING,
  LETTERS,
  LINKED,
  ls,
  MEMORY,
  OTHERS,
  OUTSIDE,
  PEOPLE,
  PRIVATE,
  READING,
  read,
  SAYING,
  SCHEDULES,
  SCRIPT,
  SEARCHED,
  SECRETS,
  STATE,
  STATE_FILES,
  STAYING,
  SWAPPED,
  TOLD,
  WRITING,
  write,
} from "./attempt-words.ts";
import type { Call } from "./world.ts";

/** An attempt to break out. Placeholders such as `@NAME@` are filled in for each world. */
export interface Attempt {
  readonly kind: AttemptKind;
  readonly calls: readonly Call[];
  /** True if damage may also appear in the owner's next run. */
  readonly isForLater?: boolean;
  /** True if there are no notes of people and no attachments yet. */
  readonly isNew?: boolean;
  /** A text that no result may contain. */
  readonly unsaid?: string;
  /** Calls that the owner made before in the same conversation. */
  readonly before?: readonly Call[];
  /** True if an untainted run of the owner makes the calls. Default: each attacker makes them. */
  readonly isOwners?: boolean;
  /** The owner approves each call. Then files change, and the call is repeated. */
  readonly isAsked?: {
    readonly files: Readonly<Record<string, string>>;
    readonly afterwards: Readonly<Record<string, string>>;
  };
}

export const ATTEMPTS: readonly Attempt[] = [
  ...OUTSIDE.flatMap((folder): Attempt[] => ofFolder("paths", folder, "secret.txt")),
  ...LINKED.flatMap((folder): Attempt[] => ofFolder("links", folder, "secret.txt")),
  { kind: "links", calls: [read("link-file")] },
  { kind: "links", calls: [edit("link-file")] },
  ...STATE.flatMap((folder): Attempt[] => ofFolder("gateway state", folder, "token")),
  ...OTHERS.flatMap((folder): Attempt[] => ofFolder("other conversations", folder, "letter.txt")),
  ...PEOPLE.flatMap((folder): Attempt[] => ofFolder("other conversations", folder, "NOTES.md")),
  ...[...OTHERS, ...PEOPLE].flatMap((folder): Attempt[] => ofMissing(`${folder}/missing.pdf`)),
  ...IDENTITY.flatMap((path): Attempt[] => [
    { kind: "notes of the agent", calls: [write(path)] },
    { kind: "notes of the agent", calls: [editMine(path)] },
  ]),
  ...PRIVATE.flatMap((path): Attempt[] => [
    { kind: "private files", calls: [read(path)] },
    { kind: "private files", calls: [exec(`cat ${path}`)] },
    { kind: "private files", calls: [exec(`cp -r ${path} stolen; cat stolen`)] },
  ]),
  ...SECRETS.flatMap((place) => READING.map((way): Attempt => ofCommand("commands outside", way(place)))),
  ofCommand("commands outside", "env; cat /proc/*/environ | tr '\\0' '\\n'"),
  ofCommand(
    "commands outside",
    "echo x > ../outside/planted; echo x > @BASE@/outside/secret.txt; mkdir ../made",
  ),
  ...STATE_FILES.flatMap((place) =>
    READING.map((way): Attempt => ofCommand("commands on the gateway's state", way(place))),
  ),
  ...[".state/signalbox.yaml", ".state/token"].flatMap((place) =>
    WRITING.map((way): Attempt => ofCommand("commands on the gateway's state", way(place))),
  ),
  ...[
    "exec 3<>/dev/tcp/127.0.0.1/@PORT@",
    "perl -MIO::Socket::INET -e 'IO::Socket::INET->new(\"127.0.0.1:@PORT@\")'",
    "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", @PORT@))'",
    "curl -s http://127.0.0.1:@PORT@/",
    "wget -qO- http://127.0.0.1:@PORT@/",
  ].map((command): Attempt => ofCommand("network", command)),
  ...LETTERS.flatMap((place) => READING.map((way): Attempt => ofCommand("letters unread", way(place)))),
  { kind: "letters unread", calls: [edit("@OWN@/letter.txt"), exec("cat x")] },
  ...LAUNDERING.map(
    (command): Attempt => ({
      kind: "laundering",
      calls: [read("@OWN@/letter.txt"), exec(command)],
      isForLater: true,
    }),
  ),
  { kind: "laundering", calls: [read("@OWN@/letter.txt"), write("todo.txt")], isForLater: true },
  { kind: "laundering", calls: [read("@OWN@/letter.txt"), write("new/todo.txt")], isForLater: true },
  { kind: "laundering", calls: [write("run.sh"), write("todo.txt")], isForLater: true },
  ...["AGENTS.md", "SOUL.md", "memory/a.md", "skills/s/SKILL.md", "TOOLS.md"].flatMap((place) =>
    WRITING.map((way): Attempt => ofCommand("notes by command", way(place))),
  ),
  ofCommand(
    "notes by command",
    "mv memory m; mkdir memory; echo 'instruction of the attacker' > memory/a.md",
  ),
  ofCommand("notes by command", "mkdir -p .agents/skills/evil; echo x > .agents/skills/evil/SKILL.md"),
  ...CALLS.map(([kind, command]): Attempt => ofCommand(kind, command)),
  ...MEMORY.map((command): Attempt => ofCommand("much memory", command)),
  ...HIDDEN.map(
    (hidden): Attempt => ({
      ...ofCommand("hidden characters", `echo safe # ${hidden}.exe`),
      isAsked: { files: {}, afterwards: {} },
    }),
  ),
  ...[
    `sh ${SCRIPT}`,
    `. ./${SCRIPT}`,
    `bash -eu ${SCRIPT} now`,
    `cd plain && sh run.sh`,
    `sh < ${SCRIPT}`,
  ].map((command): Attempt => ({ ...ofCommand("changed after approval", command), isAsked: SWAPPED })),
  ...SCHEDULES.map((call): Attempt => ({ kind: "schedules", calls: [call] })),
  ...FOR_A_SERVER.flatMap((call): Attempt[] =>
    ["", "fails", "throws"].map((how) => ({
      kind: "lying servers",
      calls: [ask(how), call],
      isOwners: true,
    })),
  ),
  ...["todo.txt", "new/todo.txt"].map(
    (path): Attempt => ({
      kind: "lying servers",
      calls: [ask(""), write(path)],
      isOwners: true,
      isForLater: true,
    }),
  ),
  ...SAYING.map(
    (command): Attempt => ({
      kind: "words of the background",
      calls: [background(command)],
      isForLater: true,
    }),
  ),
  ...TOLD.map(
    (input): Attempt => ({
      kind: "commands of others",
      before: [background("sh")],
      calls: [{ tool: "process", args: { action: "write", id: "p1", input, wait_seconds: 1 } }],
    }),
  ),
  ...EXCHANGED.map((calls): Attempt => ({ kind: "exchanged before a command", calls, isNew: true })),
  ...SEARCHED.map((calls): Attempt => ({ kind: "exchanged during a search", calls, unsaid: "secret.txt:1" })),
  ...STAYING.map((command): Attempt => ({ kind: "commands that stay", calls: [background(command)] })),
];

/** Refusals must not reveal that a file does not exist. */
function ofMissing(path: string): Attempt[] {
  return [
    { kind: "existence elsewhere", calls: [read(path)], unsaid: "There is no file" },
    { kind: "existence elsewhere", calls: [ls(path)], unsaid: "There is no folder" },
    { kind: "existence elsewhere", calls: [read(`${path}/x`)], unsaid: "on the way" },
    { kind: "existence elsewhere", calls: [edit(path)], unsaid: "There is no file" },
  ];
}

function ofCommand(kind: AttemptKind, command: string): Attempt {
  return { kind, calls: [exec(command)] };
}

function ofFolder(kind: AttemptKind, folder: string, name: string): Attempt[] {
  const calls = [
    read(`${folder}/${name}`),
    edit(`${folder}/${name}`),
    write(`${folder}/${name}`),
    write(`${folder}/a/b`),
    ls(folder),
  ];
  return calls.map((call) => ({ kind, calls: [call] }));
}
