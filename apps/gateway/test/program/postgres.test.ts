import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { ClusterState } from "@signalbox/protocol";
import { textMessage } from "@signalbox/testkit/feishu";
import { type PostgresServer, startPostgres } from "@signalbox/testkit/postgres";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually, exampleConfig, openWorld, TOKEN, type World, ZHANG } from "../support/harness.ts";

const started = await startPostgres();
const server: PostgresServer | undefined = typeof started === "string" ? undefined : started;
if (typeof started === "string") console.log(`skipped: ${started}`);
afterAll(() => server?.stop());

async function openPostgresWorld(): Promise<World> {
  const world = await openWorld();
  world.configure(exampleConfig({ store: { url: server?.url() } }));
  return world;
}

async function run(world: World, args: readonly string[]) {
  const child = world.run(args);
  const { code } = await child.exited;
  return { code, out: child.stdout(), err: child.stderr() };
}

/** Expects that the gateway of a home took over from the other node, and that it reports that everywhere. */
async function expectSuccessor(world: World, home: string): Promise<void> {
  const status = await run(world, ["status", "--home", home, "--json"]);
  const { url, cluster } = JSON.parse(status.out);
  const { nodes, seats } = ClusterState.parse(cluster);
  expect(cluster.shared).toBe(true);
  const own = nodes.find(({ self }) => self);
  expect(own).toMatchObject({ state: "up", fencedWrites: 0 });
  expect(nodes.find(({ self }) => !self)).toMatchObject({ state: "lost", configuration: own?.configuration });
  expect(own?.takeovers).toBeGreaterThan(0);
  expect(seats).toContainEqual(
    expect.objectContaining({ kind: "agent", name: "coder", node: own?.id, expired: false }),
  );
  const text = await run(world, ["status", "--home", home]);
  expect(text.out).toMatch(
    /^node +[\w-]+: up \(this one\), .*agent coder for \d+ (?:s|min).*, [1-9]\d* takeovers/m,
  );
  expect(text.out).toMatch(/^node +[\w-]+: lost, /m);
  const metrics = await (
    await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } })
  ).text();
  expect(metrics).toMatch(/^signalbox_takeovers_total\{kind="agent"\} 1$/m);
  expect(metrics).toMatch(/^signalbox_nodes\{state="lost"\} 1$/m);
  expect(metrics).toMatch(/^signalbox_account_up\{channel="feishu",account="main"\} 1$/m);
  const doctor = await run(world, ["doctor", "--home", home, "--json"]);
  expect(doctor.out).toMatch(/"part": "nodes"/);
  expect(doctor.out).toMatch(/did not renew its lease/);
  expect(doctor.out).toMatch(/"part": "autovacuum"/);
}

describe.skipIf(server === undefined)("a gateway with its database in PostgreSQL", () => {
  it("is reported by doctor if the server cannot be reached", async () => {
    const world = await openWorld();
    world.configure(exampleConfig({ store: { url: "postgres://signalbox@127.0.0.1:1/none" } }));
    const { code, out } = await run(world, ["doctor"]);
    expect(code).not.toBe(0);
    expect(out).toMatch(/^error +database: The database server cannot be reached.*\n +Check `store.url`/m);
  });

  it("continues with the conversations of a file after `migrate`", async () => {
    const world = await openWorld();
    const own = await startPostgres();
    if (typeof own === "string") throw new Error(own);
    onTestFinished(() => own.stop());
    const url = own.url();
    world.configure(exampleConfig());
    world.script([{ text: "one" }, { text: "two" }]);
    const onFile = await world.startChild();
    await onFile.post(textMessage("你好\0", { senderId: ZHANG, messageId: "om_1" }));
    await eventually(() => world.feishu.sent.length === 1, "the first reply is out");
    const held = await run(world, ["migrate", "--to", url]);
    expect(held.err).toContain("is in use by process");
    await onFile.end("SIGTERM");
    const before = await run(world, ["sessions", "list", "--json"]);

    const migrated = await run(world, ["migrate", "--to", url, "--json"]);
    expect(migrated.err).toBe("");
    expect(JSON.parse(migrated.out).rows).toMatchObject({
      inbox: 1,
      outbox: 1,
      message: 2,
      run: 1,
      session: 1,
    });
    const again = await run(world, ["migrate", "--to", url]);
    expect(again.err).toContain("was moved to PostgreSQL");
    const refused = await run(world, ["start"]);
    expect(refused.code).not.toBe(0);
    expect(refused.err).toContain("was moved to PostgreSQL. Set `store.url`");

    world.configure(exampleConfig({ store: { url } }));
    expect(JSON.parse((await run(world, ["sessions", "list", "--json"])).out)).toEqual(
      JSON.parse(before.out),
    );
    expect((await run(world, ["audit", "verify"])).code).toBe(0);
    const onServer = await world.startChild();
    for (const id of ["1", "2"])
      await onServer.post(textMessage(id, { senderId: ZHANG, messageId: `om_${id}` }));
    await eventually(() => world.feishu.sent.length === 2, "the second reply is out");
    await onServer.end("SIGTERM");
    expect(JSON.stringify(world.anthropic.requests.at(-1))).toContain("one");
    expect(JSON.parse((await run(world, ["sessions", "list", "--json"])).out)).toMatchObject([
      { messageCount: 4 },
    ]);
  });

  it("answers each message once, although its gateway is killed and another one continues", async () => {
    const world = await openPostgresWorld();
    const before = await run(world, ["doctor", "--json"]);
    expect(before.out).toContain("tables are created at the first start");
    let isHanging = true;
    let asked = 0;
    world.script(async (_body, index) => {
      asked = index + 1;
      if (index === 1 && isHanging) await new Promise(() => {});
      return { text: index === 0 ? "one" : "two" };
    });
    const first = await world.startChild();
    await first.post(textMessage("1", { senderId: ZHANG, messageId: "om_1" }));
    await eventually(() => world.feishu.sent.length === 1, "the first reply is out");
    await first.post(textMessage("2", { senderId: ZHANG, messageId: "om_2" }));
    await eventually(() => asked === 2, "the second run has begun");

    const otherHome = join(world.dir, "other");
    mkdirSync(otherHome);
    copyFileSync(world.home.configFile, join(otherHome, "signalbox.yaml"));
    const second = await world.startChild(["--home", otherHome]);
    await first.end("SIGKILL");
    isHanging = false;
    await eventually(() => world.feishu.sent.length === 2, "the second reply is out");
    await second.post(textMessage("2", { senderId: ZHANG, messageId: "om_2" }));
    await expectSuccessor(world, otherHome);
    await second.end("SIGTERM");
    expect(world.feishu.sent).toHaveLength(2);
    expect(existsSync(world.home.databaseFile)).toBe(false);

    const { out: sessions } = await run(world, ["sessions", "list", "--json"]);
    expect(JSON.parse(sessions)).toMatchObject([{ messageCount: 4 }]);
    const { out: report } = await run(world, ["doctor", "--json"]);
    expect(report).toMatch(/PostgreSQL \d+[^"]*clock differs by/);
    for (const command of [
      ["backup", join(world.dir, "b")],
      ["maintenance", "vacuum"],
      ["restore", world.dir],
    ]) {
      const { code, err } = await run(world, command);
      expect(code).not.toBe(0);
      expect(err).toMatch(/PostgreSQL|`store.url`/);
    }
  });
});
