import { openStore } from "@signalbox/store";
import { expect, it, onTestFinished } from "vitest";
import { type ControlRequest, createControl } from "./control.ts";

const SESSION = { agentId: "coder", sessionKey: "s" };

async function twoGateways() {
  const store = await openStore({ path: ":memory:" });
  onTestFinished(() => store.close());
  const failed: unknown[] = [];
  const hinted: string[] = [];
  store.hints.listen((topic) => hinted.push(topic));
  const open = () =>
    createControl({
      kv: store.kv,
      hints: store.hints,
      now: Date.now,
      onFailure: (_, error) => failed.push(error),
    });
  return { one: open(), two: open(), failed, hinted };
}

it("executes requests in order on the gateway that runs the agent, and returns the results", async () => {
  const { one, two, hinted } = await twoGateways();
  const done: unknown[] = [];
  const ids = [await one.send({ ...SESSION, body: 1 }), await one.send({ ...SESSION, body: 2 })];
  const elsewhere = await one.send({ ...SESSION, agentId: "other", body: 3 });
  expect(hinted).toEqual(["coder", "coder", "other"]);
  const run = async ({ body }: ControlRequest) => {
    done.push(body);
    return { done: body };
  };
  const isHere = ({ agentId }: ControlRequest) => agentId === "coder";
  await Promise.all([two.execute(isHere, run), two.execute(isHere, run)]);
  expect(done).toEqual([1, 2]);
  const results = await Promise.all(ids.map((id) => one.wait(id)));
  expect(results).toEqual([{ result: { done: 1 } }, { result: { done: 2 } }]);
  expect(await one.wait(elsewhere, 0)).toBeUndefined();
});

it("repeats a request that could not be executed, and gives it up after several failures", async () => {
  const { one, two, failed } = await twoGateways();
  const later = await one.send({ ...SESSION, body: "later" });
  const broken = await one.send({ ...SESSION, body: "broken" });
  let times = 0;
  const run = async ({ body }: ControlRequest) => {
    if (body === "broken") throw new Error("broken");
    times += 1;
    return times < 3 ? undefined : true;
  };
  for (let look = 0; look < 6; look++) await two.execute(() => true, run);
  expect(await one.wait(later, 0)).toEqual({ result: true });
  expect(await one.wait(broken, 0)).toEqual({ result: null });
  expect(failed).toHaveLength(5);
});
