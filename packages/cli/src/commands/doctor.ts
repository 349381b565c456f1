import { existsSync } from "node:fs";
import { formatProblem } from "@signalbox/config";
import { folderFault, GatewayError, type Home, locateHome, openVault, readConfig } from "@signalbox/home";
import { openStore, readHomeHolder } from "@signalbox/store";
import type { CommonOptions } from "../common-options.ts";
import { messageOf } from "../errors.ts";
import type { GatewayHost } from "../host.ts";
import { print } from "../output.ts";

interface Finding {
  readonly part: string;
  readonly state: "ok" | "warning" | "error";
  readonly detail: string;
}

/** `signalbox doctor`: looks at everything a gateway needs and says what is missing; exit code 1 when it would not work. */
export async function doctor(options: CommonOptions, host: GatewayHost): Promise<void> {
  const home = locateHome(options.home, process.env);
  const findings: Finding[] = [
    { part: "node", state: "ok", detail: `Node.js ${process.versions.node}` },
    await look("home", async () => {
      const fault = folderFault(home.dir);
      if (fault !== undefined) throw new Error(`the home ${home.dir} ${fault}`);
      return existsSync(home.dir) ? holderOf(home) : `${home.dir}, made at the first start`;
    }),
    await look("token", async () =>
      existsSync(home.tokenFile)
        ? `kept in ${home.tokenFile}`
        : "set in the configuration, or made at the first start",
    ),
    await look("database", () => database(home)),
    ...(await undelivered(home)),
    ...(await configuration(home, host)),
  ];
  print(options.json, findings, () =>
    findings.map(({ part, state, detail }) => `${state.padEnd(7)} ${part}: ${detail}`),
  );
  if (findings.some((finding) => finding.state === "error"))
    throw new GatewayError("failure", "Something needs mending.");
}

async function look(part: string, see: () => Promise<string>): Promise<Finding> {
  try {
    return { part, state: "ok", detail: await see() };
  } catch (error) {
    return { part, state: "error", detail: messageOf(error) };
  }
}

function holderOf(home: Home): string {
  const holder = readHomeHolder(home.dir);
  if (holder === undefined) return `${home.dir}, no gateway runs on it`;
  return holder === "unknown"
    ? `${home.dir}, held by a gateway`
    : `${home.dir}, held by process ${holder.pid}`;
}

async function database(home: Home): Promise<string> {
  if (!existsSync(home.databaseFile)) return "made at the first start";
  const store = await openStore({ path: home.databaseFile, access: "read" });
  try {
    const { ok, problems } = await store.admin.integrity();
    if (!ok) throw new Error(`${home.databaseFile} is damaged: ${problems.join("; ")}`);
    const { version, fileBytes } = await store.admin.file();
    return `${home.databaseFile}, version ${version}, ${fileBytes} bytes, sound`;
  } finally {
    await store.close();
  }
}

/** Replies that somebody has to look at. */
async function undelivered(home: Home): Promise<Finding[]> {
  if (!existsSync(home.databaseFile)) return [];
  const store = await openStore({ path: home.databaseFile, access: "read" }).catch(() => undefined);
  // What is wrong with the database is said of the database.
  if (store === undefined) return [];
  const { dead, expired, uncertain } = (await store.maintenance.stats().finally(() => store.close())).outbox;
  const count = dead + expired + uncertain;
  if (count === 0) return [];
  const detail = `${count} replies were given up: \`signalbox outbox list\` shows them`;
  return [{ part: "outbox", state: "warning", detail }];
}

/** Searches for something, as a run would, so that it is known to work. */
async function memoryOf(home: Home, agent: string, host: GatewayHost): Promise<string> {
  if (!existsSync(home.memoryIndex(agent))) return "made at the first message";
  const { describeStatus, withMemory } = await import("./memory.ts");
  return withMemory({ home: home.dir, agent }, host, async (memory) => {
    const { mode } = await memory.search("doctor", { reader: "all", limit: 1 });
    const status = await memory.status();
    const now = status.vectors === undefined || mode.kind !== "words" ? "" : `; now by words: ${mode.reason}`;
    return `${describeStatus(status)}${now}`;
  });
}

function changedSkills(agent: string, names: readonly string[]): Finding[] {
  if (names.length === 0) return [];
  const detail = `new or changed, and not used until an owner approves: ${names.join(", ")}; \`signalbox skills changes\` shows them`;
  return [{ part: `skills of ${agent}`, state: "warning", detail }];
}

async function configuration(home: Home, host: GatewayHost): Promise<Finding[]> {
  try {
    const loaded = readConfig(home, process.env);
    const vault = openVault(loaded, process.env);
    const prepared = await host.prepare({ home, loaded, env: process.env }, vault, "silent");
    const findings = prepared.problems.map((problem): Finding => {
      return { part: "configuration", state: problem.severity, detail: formatProblem(problem) };
    });
    if (prepared.isDemo)
      findings.push({
        part: "models",
        state: "warning",
        detail: "no key is set: the offline demo model answers",
      });
    if (loaded.config.memory.enabled && existsSync(home.databaseFile))
      for (const id of prepared.agentIds)
        findings.push(await look(`memory of ${id}`, () => memoryOf(home, id, host)));
    for (const id of prepared.agentIds) findings.push(...changedSkills(id, await prepared.changedSkills(id)));
    findings.push(await look("policy", async () => prepared.describeReach()));
    findings.push(await look("exec", () => prepared.describeExec()));
    return findings;
  } catch (error) {
    return [{ part: "configuration", state: "error", detail: messageOf(error) }];
  }
}
