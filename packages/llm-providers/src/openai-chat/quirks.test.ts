import { expect, test } from "vitest";
import { chatDialects, dialectOf } from "./quirks.ts";

test.each([
  ["https://api.openai.com/v1", "openai"],
  ["https://us.api.openai.com/v1", "openai"],
  ["https://api.deepseek.com", "deepseek"],
  ["https://api.moonshot.cn/v1", "kimi"],
  ["https://api.minimaxi.com/v1", "minimax"],
  ["https://dashscope-intl.aliyuncs.com/compatible-mode/v1", "qwen"],
  ["https://openrouter.ai/api/v1", "openrouter"],
  ["https://api.groq.com/openai/v1", "groq"],
  ["http://localhost:11434/v1", "ollama"],
  ["http://192.168.1.9:1234/v1", "lmstudio"],
  ["http://127.0.0.1:8000/v1", "vllm"],
  ["https://notopenai.com/v1", "compatible"],
  ["https://api.openai.com.example.org/v1", "compatible"],
  ["not a url", "compatible"],
])("%s speaks %s", (url, dialect) => {
  expect(dialectOf(url)).toBe(dialect);
  expect(chatDialects).toHaveProperty(dialect);
});
