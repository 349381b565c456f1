import { describe, expect, it } from "vitest";
import { getUploadBase } from "./config.ts";
import { checkFileUrl, checkStreamUrl } from "./hosts.ts";

const API = "https://api.dingtalk.com";

describe("the URL of a connection", () => {
  it.each([
    [API, "wss://wss-open-connection.dingtalk.com:443/connect"],
    ["https://api.dingtalk.io", "wss://wss-open-connection.dingtalk.io/connect"],
    ["https://api.ding.example.org", "wss://stream.ding.example.org/connect"],
    ["http://127.0.0.1:4000", "ws://127.0.0.1:5000/connect"],
    ["https://proxy.example/dingtalk", "wss://wss-open-connection.dingtalk.com/connect"],
  ])("of the API at %s may be %s", (base, url) => {
    expect(checkStreamUrl(url, base).href).toBe(new URL(url).href);
  });

  it.each([
    [API, "ws://wss-open-connection.dingtalk.com/connect"],
    [API, "wss://dingtalk.com.evil.test/connect"],
    [API, "wss://evildingtalk.com/connect"],
    ["https://example.org", "wss://evil.org/connect"],
    ["http://127.0.0.1:4000", "ws://10.0.0.1:5000/connect"],
    ["http://127.0.0.1:4000", "ws://1.0.0.1/connect"],
  ])("of the API at %s may not be %s", (base, url) => {
    expect(() => checkStreamUrl(url, base)).toThrow("does not belong to DingTalk");
  });
});

describe("the URL of a file", () => {
  it.each([
    ["https://down.dingtalk.com/media/a?sign=1", "https://down.dingtalk.com/media/a?sign=1"],
    [
      "http://wukong-file.oss-cn-zhangjiakou.aliyuncs.com/a",
      "https://wukong-file.oss-cn-zhangjiakou.aliyuncs.com/a",
    ],
    ["https://api.dingtalk.com/a", "https://api.dingtalk.com/a"],
  ])("may be %s", (url, expected) => {
    expect(checkFileUrl(url, API).href).toBe(expected);
  });

  it.each([
    "",
    "file:///etc/passwd",
    "https://evil.test/?.aliyuncs.com",
    "https://aliyuncs.com.evil.test/a",
    "https://down.dingtalk.com:8443/a",
    "http://127.0.0.1/a",
  ])("may not be %j", (url) => {
    expect(() => checkFileUrl(url, API)).toThrow("not on a host of DingTalk");
  });
});

it("uploads under the host of DingTalk's older API, in the same region", () => {
  const base = (apiBaseUrl: string) => getUploadBase({ clientId: "a", clientSecret: "b", apiBaseUrl });
  expect(base(API)).toBe("https://oapi.dingtalk.com");
  expect(base("https://api.dingtalk.io")).toBe("https://oapi.dingtalk.io");
  expect(base("http://127.0.0.1:4000")).toBe("http://127.0.0.1:4000");
});
