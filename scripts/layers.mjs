// Checks the layers: a package imports only from rows below its own. Prints each offence; used by `npm test`.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Rows from top to bottom. Packages of one row do not import each other. */
const ROWS = [
  { name: "composition", members: ["gateway", "console", "create-channel"] },
  {
    name: "capabilities",
    members: ["llm-providers", "prompt", "tools", "memory", "skills"],
    prefixes: ["channel-"],
  },
  { name: "foundations", members: ["store", "config", "routing", "channel", "client"] },
  { name: "core", members: ["agent-core"] },
];
/** Only tests may import it, whatever their row, and what replays scenarios, which loads it when it is asked to. */
const TESTS_ONLY = "testkit";
const REPLAY = /^apps\/gateway\/src\/replay\//;

/** @typedef {{ name: string, folder: string, manifest: Record<string, unknown>, files: { path: string, text: string, test: boolean }[] }} Member */

/**
 * @param {Member[]} members
 * @returns {string[]} one line an offence
 */
export function checkLayers(members) {
  const offences = [];
  for (const member of members) {
    const own = row(member.name);
    if (own === undefined && member.name !== TESTS_ONLY) {
      offences.push(`${member.folder}: belongs to no row; add it to scripts/layers.mjs`);
      continue;
    }
    for (const file of member.files) {
      for (const target of imported(file.text)) {
        if (target === member.name) continue;
        const place = `${member.folder}/${file.path}: imports @signalbox/${target}`;
        if (file.test) continue;
        if (target === TESTS_ONLY && REPLAY.test(`${member.folder}/${file.path}`)) continue;
        if (target === TESTS_ONLY) offences.push(`${place}, which is for tests only`);
        else if (member.name === TESTS_ONLY) offences.push(`${place}, but stand-ins stand alone`);
        else if (row(target) === undefined) offences.push(`${place}, which is in no row`);
        else if (row(target) === own) offences.push(`${place}, sideways within ${ROWS[own]?.name}`);
        else if (row(target) < own)
          offences.push(`${place}, upward from ${ROWS[own]?.name} to ${ROWS[row(target)]?.name}`);
      }
    }
    for (const dependency of Object.keys(member.manifest["dependencies"] ?? {})) {
      if (
        dependency === `@signalbox/${TESTS_ONLY}` &&
        member.manifest["private"] !== true &&
        member.name !== "gateway"
      ) {
        offences.push(`${member.folder}/package.json: depends on ${dependency} at run time`);
      }
    }
  }
  return offences;
}

function row(name) {
  const index = ROWS.findIndex(
    (one) => one.members.includes(name) || (one.prefixes ?? []).some((prefix) => name.startsWith(prefix)),
  );
  return index < 0 ? undefined : index;
}

function imported(text) {
  const found = new Set();
  for (const match of text.matchAll(/(?:from|import)\s*\(?\s*["']@signalbox\/([a-z0-9-]+)/g))
    found.add(match[1]);
  return found;
}

/** Reads every workspace member with its sources. */
export function readMembers(root) {
  return ["packages", "apps"].flatMap((parent) =>
    readdirSync(join(root, parent))
      .filter((name) =>
        statSync(join(root, parent, name, "package.json"), { throwIfNoEntry: false })?.isFile(),
      )
      .map((name) => {
        const folder = `${parent}/${name}`;
        const files = [];
        for (const part of ["src", "test", "bench"]) collect(join(root, folder), part, part !== "src", files);
        return {
          name,
          folder,
          manifest: JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")),
          files,
        };
      }),
  );
}

function collect(base, path, test, into) {
  const found = statSync(join(base, path), { throwIfNoEntry: false });
  if (found?.isDirectory())
    for (const name of readdirSync(join(base, path))) collect(base, `${path}/${name}`, test, into);
  else if (found?.isFile() && /\.tsx?$/.test(path)) {
    into.push({
      path,
      text: readFileSync(join(base, path), "utf8"),
      test: test || /\.test\.tsx?$/.test(path),
    });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const offences = checkLayers(readMembers(fileURLToPath(new URL("..", import.meta.url))));
  for (const offence of offences) console.error(offence);
  console.log(
    offences.length === 0 ? "layers: every import goes down" : `layers: ${offences.length} offences`,
  );
  process.exitCode = offences.length === 0 ? 0 : 1;
}
