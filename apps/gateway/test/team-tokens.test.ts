import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { demoConfig, openWorld } from "./harness.ts";
import { ask, json } from "./raw-requests.ts";

describe("a team's tokens", () => {
  it("are made, listed and revoked by hand, and speak for members and owners", async () => {
    const world = await openWorld();
    world.configure(demoConfig());
    const started = await world.start();
    const { url } = started;
    const run = async (...args: string[]) => {
      const child = world.run(args);
      const { code } = await child.exited;
      return { code, out: child.stdout(), err: child.stderr() };
    };
    const added = await run("tokens", "add", "alice", "--json");
    const { token, role } = JSON.parse(added.out);
    expect([role, token]).toEqual(["member", expect.stringMatching(/^sbt_[\w-]{43}$/)]);
    expect((await run("tokens", "add", "alice")).code).toBe(1);
    expect((await run("tokens", "add", "owner")).code).toBe(64);
    const alice = { authorization: `Bearer ${token}` };
    const chat = {
      method: "POST",
      headers: { ...json, ...alice },
      body: JSON.stringify({ model: "main", user: "u", messages: [{ role: "user", content: "/whoami" }] }),
    };
    expect((await ask(url, "/v1/chat/completions", chat)).text).toContain("member");
    expect((await ask(url, "/api/me", { headers: alice })).text).toContain('"name":"alice"');
    expect((await ask(url, "/api/status", { headers: alice })).status).toBe(403);
    const listed = await run("tokens", "list");
    expect(listed.out).toMatch(/^alice {2}member {2}since .* last used /);
    expect(listed.out).not.toContain(token);
    for (const name of readdirSync(world.home.dir).filter((file) => file.startsWith("signalbox.db")))
      expect(readFileSync(join(world.home.dir, name), "latin1")).not.toContain(token);
    expect((await run("tokens", "revoke", "alice")).code).toBe(0);
    expect((await ask(url, "/api/me", { headers: alice })).status).toBe(401);
    const audited = await run("audit", "list", "--kind", "token");
    expect(audited.out).toMatch(
      /token added: alice {2}by command line {2}role=member\n.*token revoked: alice/,
    );
  });

  it.each(["aaaaaaaaaaaaaaaaaaaa", "0123456789abcdef", "password12345678"])(
    "do not help where the gateway's own can be guessed: %s",
    async (token) => {
      const world = await openWorld();
      world.configure(demoConfig({ gateway: { port: 0, auth: { token } } }));
      await expect(world.start()).rejects.toThrow(/gateway.auth.token can be guessed.*openssl rand/);
      world.configure(demoConfig({ hooks: { build: { secret: token } } }));
      const { problems, url } = await world.start();
      expect(problems.join()).toMatch(/hooks.build.secret: can be guessed/);
      const call = { method: "POST", headers: { ...json, authorization: `Bearer ${token}` }, body: "{}" };
      expect((await ask(url, "/hooks/build", call)).status).toBe(401);
    },
  );

  it("are told of by config check as by the start where the environment's can be guessed", async () => {
    const world = await openWorld();
    world.configure(demoConfig({ gateway: { port: 0 } }));
    const check = world.run(["config", "check"], { SIGNALBOX_TOKEN: "password12345678" });
    expect(await check.exited).toMatchObject({ code: 78 });
    expect(check.stdout()).toMatch(/gateway.auth.token: SIGNALBOX_TOKEN can be guessed/);
  });
});
