import { copyFileSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { textMessage } from "@signalbox/testkit/feishu";
import { type PostgresServer, startPostgres } from "@signalbox/testkit/postgres";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { eventually, exampleConfig, openWorld, type World, ZHANG } from "../support/harness.ts";

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
      ["import", "openclaw", world.dir],
    ]) {
      const { code, err } = await run(world, command);
      expect(code).not.toBe(0);
      expect(err).toMatch(/PostgreSQL|`store.url`/);
    }
  });
});
