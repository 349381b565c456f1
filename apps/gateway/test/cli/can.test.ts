import { expect, it } from "vitest";
import { OWNED } from "../support/feishu-talk.ts";
import { demoConfig, exampleConfig, LI, openWorld, TOKEN, ZHANG } from "../support/harness.ts";
import { json } from "../support/raw-requests.ts";

const OC = "oc_00000000000000000000000000000001";

async function asking(tools: object = { allow: ["read", "exec", "message"] }) {
  const world = await openWorld();
  world.configure(
    exampleConfig({
      access: { ...OWNED, dm: "pairing", groups: { mode: "allowlist", allow: [`feishu:${OC}`] } },
      agents: { defaults: { model: "anthropic/claude-sonnet-4-6" }, list: [{ id: "coder", tools }] },
    }),
  );
  return async (...args: string[]) => {
    const { code, out, err } = await world.command(args);
    return { code, text: `${out}${err}`, stdout: out };
  };
}

it("says whether somebody may use a tool, and by which rule", async () => {
  const run = await asking();
  const owner = await run("can", `feishu:${ZHANG}`, "message");
  expect(owner.code).toBe(0);
  expect(owner.text).toContain("as owner (owner)");
  expect(owner.text).toMatch(/^allow message, to message_elsewhere, at first \(agent_allow\)/m);
  expect(owner.text).toMatch(
    /^ask {3}message, to message_elsewhere, after untrusted content \(taint_message_elsewhere\)/m,
  );

  const guest = await run("can", `feishu:${LI}`, "exec", "--in", `feishu:${OC}`);
  expect(guest.code).not.toBe(0);
  expect(guest.text).toContain("as guest (group_mention)");
  expect(guest.text).toMatch(/^deny {2}exec, at first \(role_allow:guest\)/m);

  const stranger = await run("can", `feishu:${LI}`, "read", "--json");
  expect(JSON.parse(stranger.stdout)).toMatchObject({ admission: { kind: "pair" }, uses: [] });

  const wrong = await run("can", `feishu:${ZHANG}`, "exce");
  expect(wrong.text).toContain("There is no tool exce. Did you mean exec?");
  const nobody = await run("can", "nobody", "exec");
  expect(nobody.text).toContain("Write nobody as channel:id");
  expect([wrong.code, nobody.code]).toEqual([64, 64]);
  expect(owner.text).toContain("has seen content from web, so it needs approval to");
});

it("knows who holds a token of the gateway, as /whoami names them", async () => {
  const world = await openWorld();
  world.configure(demoConfig({ access: { dm: "pairing" } }));
  const started = await world.start();
  const { token } = JSON.parse((await world.command(["tokens", "add", "alice", "--json"])).out);
  const whoami = async (bearer: string): Promise<string> => {
    const answer = await fetch(`${started.url}/v1/chat/completions`, {
      method: "POST",
      headers: { ...json, authorization: `Bearer ${bearer}` },
      body: JSON.stringify({ model: "main", user: "u", messages: [{ role: "user", content: "/whoami" }] }),
    });
    return /You are (\S+),/.exec(await answer.text())?.[1] ?? "";
  };
  const [owner, alice] = [await whoami(TOKEN), await whoami(token)];
  expect([owner, alice]).toEqual(["api:token", "api:token:alice"]);
  expect((await world.command(["can", owner, "read"])).out).toContain("as owner (token)");
  expect((await world.command(["can", alice, "read"])).out).toContain("as member (token)");
  const guess = await world.command(["can", "api:alice", "read"]);
  expect([guess.code, guess.out]).toEqual([64, ""]);
  expect(guess.err).toContain("Write api:token for the gateway's own, api:token:<name> for one with a name");
  expect((await world.command(["tokens", "revoke", "alice"])).code).toBe(0);
  expect((await world.command(["can", alice, "read"])).out).toContain(
    `main does not answer ${alice} (token_revoked)`,
  );
});

it("doctor shows that nobody untrusted reaches what acts, and names who does where it is configured so", async () => {
  const sound = await (await asking())("doctor");
  expect(sound.text).toMatch(/^ok {6}policy: guests can neither run commands/m);
  const open = await (await asking({ allow: ["exec"], roles: { guest: { allow: ["exec"] } } }))("doctor");
  expect(open.code).not.toBe(0);
  expect(open.text).toMatch(
    /^error {3}policy: reached unasked: guest of coder in a direct conversation: exec/m,
  );
});
