/**
 * The rows of packages, from top to bottom. A package imports only from rows below its own, and packages of one row do
 * not import each other. A name that ends with `-` stands for all packages with that prefix.
 */
const ROWS = [
  { name: "composition", members: ["gateway", "console", "docs", "create-channel"] },
  { name: "home", members: ["home"] },
  {
    name: "capabilities",
    members: [
      "attachments",
      "channel-",
      "delivery",
      "llm-providers",
      "mcp",
      "memory",
      "prompt",
      "runs",
      "server",
      "skills",
      "telemetry",
      "tools",
    ],
  },
  {
    name: "foundations",
    members: [
      "budgets",
      "channel",
      "client",
      "config",
      "lanes",
      "phrases",
      "protocol",
      "redaction",
      "routing",
    ],
  },
  { name: "store", members: ["store", "store-postgres"] },
  { name: "core", members: ["agent-core"] },
];

/** Fake servers of vendors. Only tests and the replay command may use them, and the latter loads them on demand. */
const TESTKIT = "testkit";

/** Files that replay scenarios. */
const REPLAY = ["^apps/gateway/src/(replay-host|cli/(host|commands/replay(-records)?))\\.ts$"];

/** Imports within a row that are allowed. */
const WITHIN_A_ROW = [
  { from: "client", to: "protocol" },
  { from: "store-postgres", to: "store" },
  // The command reference is generated from the program.
  { from: "docs", to: "gateway" },
];

/**
 * Packages that open a store. All others import only `@signalbox/store/types`, `/errors` and `@signalbox/store/audit`,
 * which load no SQLite.
 */
const STORE_USERS = ["gateway", "home", "store", "store-postgres"];

/** The stages in `apps/gateway/src/pipeline`, a folder or a file each, in the order in which a message passes them. */
export const STAGES = ["receive", "admit", "accept", "queue", "prepare", "run", "conclude", "deliver"];

/**
 * The folders of `apps/gateway/src` from top to bottom, as in the diagram of docs/architecture.md. A folder imports
 * only from itself and from rows below its own.
 */
export const FOLDERS = [
  ["cli"],
  ["import"],
  ["api"],
  ["maintenance"],
  ["pipeline"],
  ["chat-commands"],
  ["agent"],
  ["triggers"],
  ["messages"],
  ["configure"],
  ["command-syntax", "hooks"],
];

const SOURCES = "^(packages|apps)/([^/]+)/src/";
const TESTS = ["\\.test\\.tsx?$", "^(packages|apps)/[^/]+/(test|bench)/"];

/**
 * Returns the rules for dependency-cruiser.
 *
 * @param {{ members: string[], stages: string[], folders?: string[][] }} house the folders under packages/ and apps/,
 * the stages, and the rows of the gateway's folders
 */
export function layerRules({ members, stages, folders = [] }) {
  return [
    {
      name: "no-circles",
      comment: "No file imports itself by way of others, types included.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "by-name",
      comment: "Another package is imported by its name, never by a path into its folder.",
      severity: "error",
      from: { path: "^(packages|apps)/([^/]+)/" },
      to: { path: "^(packages|apps)/[^/]+/(src|test|bench)/", pathNot: "^$1/$2/" },
    },
    {
      name: "testkit-for-tests",
      comment: "Fake servers are for tests and for replaying scenarios.",
      severity: "error",
      from: {
        path: SOURCES,
        pathNot: [...TESTS, packagePath(TESTKIT), ...REPLAY],
      },
      to: { path: packagePath(TESTKIT) },
    },
    {
      name: "store-without-sqlite",
      comment: "Only packages that open a store import it; others import @signalbox/store/types.",
      severity: "error",
      from: {
        path: SOURCES,
        pathNot: [...TESTS, ...STORE_USERS.map((member) => `^(packages|apps)/${member}/`)],
      },
      to: {
        path: packagePath("store"),
        pathNot: "(^@signalbox/store|^packages/store/(src|dist))/(types|audit|errors)(/|\\.|$)",
      },
    },
    ...members.flatMap((member) => rulesOfMember(member, members)),
    ...folders.slice(1).map((row, index) => ({
      name: `folder-${row.join("-")}`,
      comment: `What is imported here is above ${row.join(", ")} in the gateway.`,
      severity: "error",
      from: { path: folderPath(row), pathNot: TESTS },
      to: { path: folderPath(folders.slice(0, index + 1).flat()) },
    })),
    ...folders
      .filter((row) => row.length > 1)
      .flatMap((row) =>
        row.map((folder) => ({
          name: `folder-${folder}-sideways`,
          comment: `Folders of one row (${row.join(", ")}) do not import each other.`,
          severity: "error",
          from: { path: folderPath([folder]), pathNot: TESTS },
          to: { path: folderPath(row.filter((other) => other !== folder)) },
        })),
      ),
    ...stages.slice(0, -1).map((stage, index) => ({
      name: `stage-${stage}`,
      comment: `On the message pipeline, ${stage} comes before what is imported here.`,
      severity: "error",
      from: { path: stagePath([stage]), pathNot: TESTS },
      to: { path: stagePath(stages.slice(index + 1)) },
    })),
  ];
}

function rulesOfMember(member, members) {
  const others = members.filter((other) => other !== member);
  const sources = { path: `^(packages|apps)/${member}/src/`, pathNot: TESTS };
  const rule = (name, comment, targets) =>
    targets.length === 0
      ? []
      : [{ name, comment, severity: "error", from: sources, to: { path: targets.map(packagePath) } }];

  if (member === TESTKIT) return rule("testkit-alone", "Fake servers depend on nothing of ours.", others);

  const row = rowOf(member);
  const above = others.filter((other) => other !== TESTKIT && rowOf(other) < row);
  const beside = others.filter((other) => other !== TESTKIT && rowOf(other) === row);
  const isAllowed = (other) => WITHIN_A_ROW.some(({ from, to }) => from === member && to === other);
  return [
    ...rule(`${member}-upward`, `${member} is in the row of ${ROWS[row].name}.`, above),
    ...rule(
      `${member}-sideways`,
      `Packages of one row (${ROWS[row].name}) do not import each other.`,
      beside.filter((other) => !isAllowed(other)),
    ),
  ];
}

function rowOf(member) {
  const row = ROWS.findIndex(({ members }) =>
    members.some((name) => (name.endsWith("-") ? member.startsWith(name) : member === name)),
  );
  if (row < 0) throw new Error(`${member} belongs to no row: add it to ROWS in scripts/layer-rules.mjs.`);
  return row;
}

/** Returns a pattern for the target of a package import: its folder if it is built, otherwise its name. */
function packagePath(member) {
  return `^(packages|apps)/${member}/|^@signalbox/${member}(/|$)`;
}

function folderPath(folders) {
  return `^apps/gateway/src/(${folders.join("|")})/`;
}

/** Returns a pattern for the folder or file of a stage, with or without its number. */
function stagePath(stages) {
  return `^apps/gateway/src/pipeline/[0-9-]*(${stages.join("|")})(/|\\.ts$)`;
}
