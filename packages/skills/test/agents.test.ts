import { chmodSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, it } from "vitest";
import { createSkills } from "../src/index.ts";
import type { SkillsOptions } from "../src/options.ts";
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

  it("allows a skill whose requirements are met", async () => {
    const { skills } = of(files, {
      env: { KEY: "k" },
      platform: "darwin",
      which: (bin) => ["gh", "jq", "grep"].includes(bin),
      hasConfig: (key) => key === "tools.web",
    });
    expect((await skills.forAgent()).excluded).toEqual([]);
  });

  it("checks programs and platform of the target, and the environment of the host", async () => {
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

  it("checks the target's own environment and the settings of the skill", async () => {
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

  it("does not take an inherited property for a variable that is set", async () => {
    const { skills } = of({ "a/SKILL.md": requiring("{ env: [toString] }") });
    expect((await skills.forAgent()).skills).toEqual([]);
  });

  it("finds executable programs in the PATH", async () => {
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

  it("excludes a skill that the configuration disables, even if it is always in use", async () => {
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

  it("contains the variables of the skills' settings, and each key under the skill's primaryEnv", async () => {
    const { skills } = of(files, { entries });
    const agent = await skills.forAgent();
    expect(agent.excluded).toEqual([]);
    expect(agent.environment()).toEqual({ GEMINI_API_KEY: "of pictures", SIZE: "1k", UNITS: "m" });
    expect(JSON.stringify([agent, await agent.catalogue(), agent.commands()])).not.toContain("of pictures");
  });

  it("contains nothing of a skill that the agent cannot use", async () => {
    const { skills } = of({ ...files, "pictures/SKILL.md": keyed("{ bins: [no-such] }") }, { entries });
    expect((await skills.forAgent()).environment()).toEqual({ UNITS: "m" });
    expect((await skills.forAgent({ deny: ["plain"] })).environment()).toEqual({});
  });

  it.each(["PATH", "LD_PRELOAD", "NODE_OPTIONS", "HTTPS_PROXY", "lower", "A=B"])(
    "ignores the primaryEnv %s, with a warning",
    async (name) => {
      const text = skill(`description: d\nmetadata: { openclaw: { primaryEnv: "${name}" } }`);
      const { skills } = of({ "a/SKILL.md": text }, { entries: { a: { apiKey: "secret" } } });
      const agent = await skills.forAgent();
      expect(agent.problems).toMatchObject([{ code: "bad_frontmatter", severity: "warning" }]);
      expect(agent.skills).toHaveLength(1);
      expect(agent.environment()).toEqual({});
    },
  );
});

it("uses the first of several primaryEnv names that can hold a key", async () => {
  const text = skill("description: d\nmetadata: { openclaw: { primaryEnv: [API_URL, API_KEY, OTHER_KEY] } }");
  const { skills } = of({ "a/SKILL.md": text }, { entries: { a: { apiKey: "secret" } } });
  const agent = await skills.forAgent();
  expect(agent.environment()).toEqual({ API_KEY: "secret" });
  expect(agent.problems.map(({ message }) => message)).toEqual([
    'primaryEnv "API_URL" is ignored: API_KEY is used.',
    'primaryEnv "OTHER_KEY" is ignored: API_KEY is used.',
  ]);
});

describe("an agent's list", () => {
  const files = { "a/SKILL.md": skill("name: Web Search\ndescription: d"), "b/SKILL.md": "# b" };

  it("allows only the skills that it names, and reports unknown names", async () => {
    const { skills } = of(files);
    const agent = await skills.forAgent({ allow: ["Web Search", "nope"], deny: ["gone"] });
    expect(agent.skills.map(({ id }) => id)).toEqual(["web-search"]);
    expect(agent.excluded).toMatchObject([{ skill: { id: "b" }, reasons: [{ requirement: "allowed" }] }]);
    expect(agent.unknown).toEqual(["nope", "gone"]);
    expect(await skills.check({ allow: ["nope"] })).toMatchObject({ ok: false, unknown: ["nope"] });
  });

  it("allows nothing if it is empty, and everything if it is absent", async () => {
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

  it("gives deny precedence over allow", async () => {
    const { skills } = of(files);
    expect(
      (await skills.forAgent({ allow: ["b", "web-search"], deny: ["web-search"] })).skills.map(
        ({ id }) => id,
      ),
    ).toEqual(["b"]);
  });
});
