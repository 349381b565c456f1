import type { Performance } from "./performance.ts";
import type { Expectation } from "./scenario.ts";

/** Compares a performance with the scenario's expectation. Returns one line for each difference. */
export function differences(performance: Performance, expected: Expectation): string[] {
  const found: string[] = [];
  const compare = (what: string, actual: unknown, wanted: unknown): void => {
    if (wanted !== undefined && JSON.stringify(actual) !== JSON.stringify(wanted)) {
      found.push(`${what}: ${JSON.stringify(actual)} instead of ${JSON.stringify(wanted)}`);
    }
  };
  const contains = (what: string, text: string, wanted: readonly string[] | undefined): void => {
    for (const one of wanted ?? [])
      if (!text.includes(one)) found.push(`${what}: does not contain ${JSON.stringify(one)}`);
  };
  const pairs = <A, W>(
    what: string,
    actual: readonly A[],
    wanted: readonly W[] | undefined,
    each: (a: A, w: W, at: string) => void,
  ): void => {
    if (wanted === undefined) return;
    compare(`number of ${what}`, actual.length, wanted.length);
    for (const [index, one] of wanted.entries()) {
      const counterpart = actual[index];
      if (counterpart !== undefined) each(counterpart, one, `${what}[${index}]`);
    }
  };

  for (const problem of performance.problems) found.push(`configuration: ${problem}`);
  compare(
    "answers",
    performance.events.map((event) => event.status),
    expected.answers,
  );
  pairs("messages", performance.messages, expected.messages, (actual, wanted, at) => {
    compare(`${at}.state`, actual.state, wanted.state);
    compare(`${at}.rule`, actual.rule, wanted.rule);
    compare(`${at}.agent`, actual.agent, wanted.agent);
    compare(`${at}.sessionKey`, actual.sessionKey, wanted.sessionKey);
    const routing = actual.trace.find((entry) => entry.stage === "admit")?.summary ?? "";
    if (wanted.matchedBy !== undefined && !routing.includes(` by ${wanted.matchedBy},`)) {
      found.push(`${at}.matchedBy: ${JSON.stringify(routing)} instead of ${wanted.matchedBy}`);
    }
  });
  pairs("requests", performance.requests, expected.requests, (actual, wanted, at) => {
    compare(`${at}.status`, actual.status, 200);
    compare(`${at}.tools`, toolNames(actual.body), wanted.tools);
    contains(at, actual.text, wanted.contains);
  });
  pairs("tools", performance.tools, expected.tools, (actual, wanted, at) => {
    compare(at, { name: actual.name, isError: actual.isError }, wanted);
  });
  pairs("sent", performance.sent, expected.sent, (actual, wanted, at) => {
    const { channel, method, path } = actual;
    compare(
      at,
      { channel, method, path },
      { channel: wanted.channel, method: wanted.method, path: wanted.path },
    );
    contains(at, actual.body, wanted.contains);
  });
  for (const [name, start] of Object.entries(expected.files ?? {})) {
    const text = performance.files[name];
    if (text?.startsWith(start) !== true)
      found.push(`files.${name}: ${text === undefined ? "is not there" : "does not start as expected"}`);
  }
  return found;
}

function toolNames(body: unknown): string[] {
  const tools = body !== null && typeof body === "object" && "tools" in body ? body.tools : undefined;
  if (!Array.isArray(tools)) return [];
  return tools.map((tool: unknown) =>
    tool !== null && typeof tool === "object" && "name" in tool ? String(tool.name) : "?",
  );
}
