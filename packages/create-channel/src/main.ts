#!/usr/bin/env node
import { relative, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ScaffoldError, scaffold } from "./scaffold.ts";

const usage = `Creates a package for a new Signalbox channel.

  npm create @signalbox/channel <folder> -- [--id <id>] [--package <name>]

  --id       the channel's id, the key under channels in the configuration (default: the folder's name)
  --package  name of the npm package (default: signalbox-channel-<id>)
`;

const exitUsage = 64;

function main(args: readonly string[]): number {
  let parsed: ReturnType<typeof read>;
  try {
    parsed = read(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return exitUsage;
  }
  const { values, positionals } = parsed;
  const [directory, ...more] = positionals;
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  if (directory === undefined || more.length > 0) {
    process.stderr.write(usage);
    return exitUsage;
  }
  try {
    const files = scaffold({
      directory,
      id: values.id,
      packageName: values.package,
    });
    const place = relative(process.cwd(), resolve(directory)) || ".";
    process.stdout.write(
      `${files.length} files in ${place}. Now:\n\n  cd ${place}\n  npm install\n  npm run build\n  npm test\n`,
    );
    return 0;
  } catch (error) {
    if (!(error instanceof ScaffoldError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return exitUsage;
  }
}

function read(args: readonly string[]) {
  return parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { id: { type: "string" }, package: { type: "string" }, help: { type: "boolean", short: "h" } },
  });
}

process.exitCode = main(process.argv.slice(2));
