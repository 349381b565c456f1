import { chmodSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSkills, type SkillsOptions } from "../src/index.ts";
import { folder, skill } from "./folders.ts";

function of(files: Record<string, string>, options: Partial<SkillsOptions> = {}) {
  const dir = folder(files);
  const skills = createSkills({
    sources: [{ kind: "bundled", dir }],
    env: {},
    platform: "linux",
    which: () => false,
    maxAgeMs: 0,
    ...options,
  });
  return { dir, skills };
}

const requiring = (requires: string) =>
  skill(`description: d\nmetadata: { signalbox: { requires: ${requires} } }`);

describe("eligibility", () => {
  const files = {
    "all/SKILL.md": requiring(
      "{ bins: [gh, jq], anyBins: [rg, grep], env: [KEY], config: [tools.web], os: [darwin] }",
    ),
    "none/SKILL.md": skill("description: d"),
    "always/SKILL.md": skill(
      "description: d\nmetadata: { openclaw: { always: true, os: [darwin], requires: { bins: [x] } } }",
    ),
  };

  it("explains each requirement that is not met", async () => {
    const { skills } = of(files, { env: { KEY: "" } });
    const agent = await skills.forAgent();
    expect(agent.skills.map(({ id }) => id)).toEqual(["always", "none"]);
    expect(agent.excluded.map(({ skill }) => skill.id)).toEqual(["all"]);
    expect(agent.excluded[0]?.reasons).toEqual([
      { requirement: "os", missing: ["darwin"], message: "It is for darwin, and this is linux." },
      { requirement: "bins", missing: ["gh", "jq"], message: "gh, jq are not on the path." },
      { requirement: "anyBins", missing: ["rg", "grep"], message: "None of rg, grep is on the path." },
      {
        requirement: "env",
        missing: ["KEY"],
        message: "Set KEY in the gateway's environment.",
      },
      { requirement: "config", missing: ["tools.web"], message: "Set tools.web in the configuration." },
    ]);
  });

  it("is given where all are met", async () => {
    const { skills } = of(files, {
      env: { KEY: "k" },
      platform: "darwin",
      which: (bin) => ["gh", "jq", "grep"].includes(bin),
      hasConfig: (key) => key === "tools.web",
    });
    expect((await skills.forAgent()).excluded).toEqual([]);
  });

  it("asks the target for programs and platform, the gateway for the rest", async () => {
    const { skills } = of(files, { env: { KEY: "k" }, hasConfig: () => true });
    const target = {
      platforms: ["darwin"],
      hasBin: (bin: string) => bin !== "rg",
      note: "Commands run on <studio>.",
    };
    expect((await skills.forAgent({ target })).excluded).toEqual([]);
    expect((await (await skills.forAgent({ target })).catalogue()).text).toMatch(
      /<\/available_skills>\nCommands run on &lt;studio&gt;\.$/,
    );
    const here = of(files, {
      platform: "darwin",
      which: () => true,
      env: { KEY: "k" },
      hasConfig: () => true,
    }).skills;
    const bare = { platforms: ["linux"], hasBin: () => false };
    expect(
      (await here.forAgent({ target: bare })).excluded[0]?.reasons.map(({ requirement }) => requirement),
    ).toEqual(["os", "bins", "anyBins"]);
  });

  it("asks a target with an environment of its own for variables, and the skill's entry", async () => {
    const sandbox = { name: "the sandbox", platforms: ["linux"], hasBin: () => false, env: { HOME: "/tmp" } };
    const ofTarget = {
      "gh/SKILL.md": requiring("{ bins: [gh] }"),
      "key/SKILL.md": requiring("{ env: [KEY] }"),
      "home/SKILL.md": requiring("{ env: [HOME] }"),
    };
    const gateway = { env: { KEY: "of the gateway" }, which: () => true };
    const agent = await of(ofTarget, gateway).skills.forAgent({ target: sandbox });
    expect(agent.skills.map(({ id }) => id)).toEqual(["home"]);
    expect(agent.excluded.flatMap(({ reasons }) => reasons.map(({ message }) => message))).toEqual([
      "gh is not in the sandbox.",
      "Set KEY for it in the configuration (skills.entries.key.env).",
    ]);
    const entries = { key: { env: { KEY: "of the operator" } } };
    const given = await of(ofTarget, { ...gateway, entries }).skills.forAgent({ target: sandbox });
    expect(given.skills.map(({ id }) => id)).toEqual(["home", "key"]);
  });

  it("does not take a property of every object for a variable that is set", async () => {
    const { skills } = of({ "a/SKILL.md": requiring("{ env: [toString] }") });
    expect((await skills.forAgent()).skills).toEqual([]);
  });

  it("looks along the path for programs that may be run", async () => {
    const bin = folder({ tool: "#!/bin/sh\n", "no-program": "text" });
    chmodSync(join(bin, "tool"), 0o755);
    chmodSync(join(bin, "no-program"), 0o644);
    const dir = folder({
      "a/SKILL.md": requiring("{ bins: [tool] }"),
      "b/SKILL.md": requiring("{ bins: [no-program] }"),
      "c/SKILL.md": requiring(`{ bins: ["${join(bin, "tool")}"] }`),
      "d/SKILL.md": requiring('{ bins: [".."] }'),
      "e/SKILL.md": requiring(`{ bins: ["../${basename(bin)}/tool"] }`),
    });
    const skills = createSkills({ sources: [{ kind: "bundled", dir }], env: { PATH: `/nowhere:${bin}` } });
    expect((await skills.forAgent()).skills.map(({ id }) => id)).toEqual(["a"]);
  });

  it("is taken away by the configuration, also from what is always eligible", async () => {
    const { skills } = of(files, { entries: { Always: { enabled: false }, none: { enabled: true } } });
    const always = (await skills.forAgent()).excluded.find(({ skill }) => skill.id === "always");
    expect(always?.reasons).toMatchObject([{ requirement: "enabled" }]);
  });
});

describe("the environment of an agent's commands", () => {
  const keyed = (requires: string) =>
    skill(`description: d\nmetadata: { openclaw: { primaryEnv: GEMINI_API_KEY, requires: ${requires} } }`);
  const files = { "pictures/SKILL.md": keyed("{ env: [GEMINI_API_KEY] }"), "plain/SKILL.md": "# plain" };
  const entries = {
    Pictures: { apiKey: "of pictures", env: { SIZE: "1k" } },
    plain: { env: { UNITS: "m" } },
  };

  it("is what the entries of its skills set, and their keys under the names that these have for them", async () => {
    const { skills } = of(files, { entries });
    const agent = await skills.forAgent();
    expect(agent.excluded).toEqual([]);
    expect(agent.environment()).toEqual({ GEMINI_API_KEY: "of pictures", SIZE: "1k", UNITS: "m" });
    expect(JSON.stringify([agent, await agent.catalogue(), agent.commands()])).not.toContain("of pictures");
  });

  it("has nothing of a skill that the agent cannot use", async () => {
    const { skills } = of({ ...files, "pictures/SKILL.md": keyed("{ bins: [no-such] }") }, { entries });
    expect((await skills.forAgent()).environment()).toEqual({ UNITS: "m" });
    expect((await skills.forAgent({ deny: ["plain"] })).environment()).toEqual({});
  });

  it.each(["PATH", "LD_PRELOAD", "NODE_OPTIONS", "HTTPS_PROXY", "lower", "A=B"])(
    "a skill cannot call %s its key",
    async (name) => {
      const text = skill(`description: d\nmetadata: { openclaw: { primaryEnv: "${name}" } }`);
      const { skills } = of({ "a/SKILL.md": text }, { entries: { a: { apiKey: "secret" } } });
      const agent = await skills.forAgent();
      expect(agent.problems).toMatchObject([{ code: "bad-frontmatter", severity: "error" }]);
      expect(agent.environment()).toEqual({});
    },
  );
});

describe("an agent's list", () => {
  const files = { "a/SKILL.md": skill("name: Web Search\ndescription: d"), "b/SKILL.md": "# b" };

  it("allows only what it names, by id or name, and reports names it does not know", async () => {
    const { skills } = of(files);
    const agent = await skills.forAgent({ allow: ["Web Search", "nope"], deny: ["gone"] });
    expect(agent.skills.map(({ id }) => id)).toEqual(["web-search"]);
    expect(agent.excluded).toMatchObject([{ skill: { id: "b" }, reasons: [{ requirement: "allowed" }] }]);
    expect(agent.unknown).toEqual(["nope", "gone"]);
    expect(await skills.check({ allow: ["nope"] })).toMatchObject({ ok: false, unknown: ["nope"] });
  });

  it("allows nothing when it is empty and everything when it is absent", async () => {
    const { skills } = of(files);
    expect((await skills.forAgent({ allow: [] })).skills).toEqual([]);
    expect(await (await skills.forAgent({ allow: [] })).catalogue()).toEqual({
      text: "",
      included: [],
      omitted: [],
      version: "",
    });
    expect((await skills.forAgent()).skills).toHaveLength(2);
  });

  it("denies before it allows", async () => {
    const { skills } = of(files);
    expect(
      (await skills.forAgent({ allow: ["b", "web-search"], deny: ["web-search"] })).skills.map(
        ({ id }) => id,
      ),
    ).toEqual(["b"]);
  });
});
