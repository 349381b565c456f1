import { expect, it } from "vitest";
import { toChinese } from "./health-chinese.ts";

it("translates findings and keeps their values", () => {
  expect(
    toChinese({
      part: "channel feishu/main",
      state: "warning",
      detail: "down: the secret is wrong",
      remedy: "Check channels.feishu.accounts.main and the log.",
    }),
  ).toEqual({
    part: "渠道 feishu/main",
    state: "warning",
    detail: "已断开：the secret is wrong",
    remedy: "请检查 channels.feishu.accounts.main 和日志。",
  });
  expect(toChinese({ part: "disk", state: "ok", detail: "0.4 GB free" })).toEqual({
    part: "磁盘",
    state: "ok",
    detail: "剩余 0.4 GB",
  });
  expect(toChinese({ part: "agent a$1", state: "ok", detail: "uses x/$&" })).toMatchObject({
    part: "智能体 a$1",
    detail: "使用 x/$&",
  });
});

it("keeps texts that it does not know", () => {
  const finding = { part: "node", state: "error", detail: "EACCES: permission denied" } as const;
  expect(toChinese(finding)).toEqual({ ...finding, part: "Node.js" });
});
